/*
 * fail.h - the sentence for the last call that failed.
 */
#ifndef REDLOCK_CLIENT_FAIL_H
#define REDLOCK_CLIENT_FAIL_H

#include "redlock.h"

/* Returns `code`, and keeps the sentence for redlock_last_error(). */
redlock_code client_fail(redlock *client, redlock_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
