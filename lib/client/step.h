/*
 * step.h - an event → the core, with the time, and with random bytes if it may draw a token.
 *
 * The clock is looked at once for all replies that were read together (by the link), once for the
 * calls that are carried out together, once for the deadlines that are due together, and afresh for
 * each outcome that is told.  So the core's time is never ahead of the clock, and no reply was read
 * after the look by which it is judged; see rule V14 in doc/design/validity.md.
 */
#ifndef REDLOCK_CLIENT_STEP_H
#define REDLOCK_CLIENT_STEP_H

#include "client.h"

/* Looks at the clock. */
usec client_look(redlock *client);

/* At the time of the last look. */
void client_step(redlock *client, const struct event *event);

#endif
