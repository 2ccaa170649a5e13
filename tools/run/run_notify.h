/*
 * run_notify.h - the messages of `redlock run` to a service manager (notify.h).
 *
 * `run` is ready when it holds the lock.  `elect` is ready when it stands in the queue: a hot
 * standby may wait for weeks.  A unit that starts for weeks counts as failed, and delays the units
 * after it.
 */
#ifndef REDLOCK_TOOLS_RUN_NOTIFY_H
#define REDLOCK_TOOLS_RUN_NOTIFY_H

#include "run.h"

/* The lease was asked for. */
void run_notify_asking(struct run *run);

/* It is waited for, and this is how things stand: a callback of waiting.h. */
void run_notify_waiting(void *data, const redlock_look_result *result, const char *how);

/* It is held, and the command runs. */
void run_notify_holding(struct run *run, const redlock_event *event);

/* All comes to its end, unless it is to stand again. */
void run_notify_ending(struct run *run, const char *why);

#endif
