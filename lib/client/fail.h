/*
 * fail.h - the sentence for the last call that failed.
 */
#ifndef REDLOCK_CLIENT_FAIL_H
#define REDLOCK_CLIENT_FAIL_H

#include "redlock.h"

/* Keeps the sentence for redlock_last_error(). */
void client_explain(redlock *client, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Likewise, and is `code`: a macro, so that the linter sees that it is no REDLOCK_OK. */
#define client_fail(client, code, ...) (client_explain((client), __VA_ARGS__), (code))

/* Of a struct whose size is not known; see sized.h. */
#define client_fail_size(client, kind, its)                                                        \
    client_fail((client), REDLOCK_E_ARGUMENT, SIZED_COMPLAINT, (kind)->name, (its),                \
                (kind)->sizes[0], (kind)->name)

#endif
