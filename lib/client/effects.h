/*
 * effects.h - an effect of the core → links, notification connections, queues.
 */
#ifndef REDLOCK_CLIENT_EFFECTS_H
#define REDLOCK_CLIENT_EFFECTS_H

#include "client.h"

/* The core's sink; `client` is a redlock. */
void effects_emit(void *client, const struct effect *effect);

#endif
