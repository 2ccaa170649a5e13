/*
 * waiting.h - tells, while a lease is waited for, who holds it and where we stand in
 * line: on a terminal in one line that is rewritten, with -v in a line for each change.
 */
#ifndef REDLOCK_TOOLS_WAITING_H
#define REDLOCK_TOOLS_WAITING_H

#include <ev.h>

#include "session.h"

struct waiting {
    struct session *session;
    redlock_lease *lease;
    redlock_lease *question; /* who holds it? NULL: not asked now */
    ev_timer timer;
    int64_t since; /* boot_ms() */
    struct text told;
    bool active;
};

/* When the lease was asked for; does nothing if nobody would see it. */
void waiting_start(struct waiting *waiting, struct session *session, redlock_lease *lease);

/* When there is an outcome; also if it was never started. */
void waiting_stop(struct waiting *waiting);

#endif
