/*
 * waiting.h - shows during a wait the holder of the lease and our place in the queue.  A terminal
 * has one line that is rewritten, -v prints a line for each change, and the owner gets a call.
 */
#ifndef REDLOCK_TOOLS_WAITING_H
#define REDLOCK_TOOLS_WAITING_H

#include <ev.h>

#include "session.h"

struct waiting {
    struct session *session;
    redlock_lease *lease;
    redlock_look *question; /* who holds it? NULL: not asked now */
    ev_timer timer;
    int64_t since; /* boot_ms() */
    struct text told;
    bool active;

    struct text holder; /* by the last look */
    int64_t ends;       /* of its lease; boot_ms() */
    int64_t longest_ms; /* that was left of its lease at a look */
    bool renews;

    /* Set before waiting_start(), or NULL: gets what each look found, as "held by a, we are next".
     * Unless the look is REDLOCK_OK the holder is not known. */
    void (*seen)(void *data, const redlock_look_result *result, const char *how);
    void *data;
};

/* Called when the lease was asked for; does nothing if nobody wants to know. */
void waiting_start(struct waiting *waiting, struct session *session, redlock_lease *lease);

/* Called at the outcome, also if waiting_start() was not. */
void waiting_stop(struct waiting *waiting);

#endif
