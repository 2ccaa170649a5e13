/*
 * waiting.h - tells, during a wait for a lease, who holds it and our place in the queue: on a
 * terminal in one line that is rewritten, with -v in a line for each change, and to its owner.
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

    /* Set before waiting_start(), or NULL: wants to hear how things stand, as "held by a, we are
     * next".  Of a look that is not REDLOCK_OK nobody knows. */
    void (*seen)(void *data, const redlock_look_result *result, const char *how);
    void *data;
};

/* Called when the lease was asked for; does nothing if nobody would be told. */
void waiting_start(struct waiting *waiting, struct session *session, redlock_lease *lease);

/* Called at the outcome, also if waiting_start() was not. */
void waiting_stop(struct waiting *waiting);

#endif
