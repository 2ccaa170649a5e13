/*
 * step.h - an event → the core, with the time, and with random bytes if it may draw a token.
 *
 * The clock is read once for all replies that the link read together, once for calls that are
 * carried out together, and once for deadlines that are due together.  It is read again for each
 * outcome.  So the core's time is never ahead of the clock, and no reply was read after the time by
 * which it is judged.  See rule V14 in doc/design/validity.md.
 */
#ifndef REDLOCK_CLIENT_STEP_H
#define REDLOCK_CLIENT_STEP_H

#include "client.h"

/* Looks at the clock. */
usec client_look(redlock *client);

/* At the time of the last look. */
void client_step(redlock *client, const struct event *event);

#endif
