/*
 * stuck.h - with --watchdog `run` waits for all processes of the command, though some cannot be
 * ended.  Then it says once what it waits for.
 */
#ifndef REDLOCK_TOOLS_STUCK_H
#define REDLOCK_TOOLS_STUCK_H

#include "child.h"

struct stuck {
    ev_timer timer;
    const struct child *child;
    int64_t since; /* boot_ms(); 0: nothing is overdue */
};

/* The child runs. */
void stuck_start(struct stuck *stuck, struct ev_loop *loop, const struct child *child);
void stuck_stop(struct stuck *stuck, struct ev_loop *loop);

#endif
