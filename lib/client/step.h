/*
 * step.h - an event → the core, with the time, and with random bytes if it may draw a token.
 */
#ifndef REDLOCK_CLIENT_STEP_H
#define REDLOCK_CLIENT_STEP_H

#include "client.h"

void client_step(redlock *client, const struct event *event);

#endif
