/*
 * queues.h - leases with calls to carry out, and leases with outcomes to tell.
 */
#ifndef REDLOCK_CLIENT_QUEUES_H
#define REDLOCK_CLIENT_QUEUES_H

#include "client.h"

/* Both do nothing if the lease is in that queue already. */
void queue_asked(redlock *client, redlock_lease *lease);
void queue_untold(redlock *client, redlock_lease *lease);

/* The next lease with an outcome to tell that was not dropped; NULL if there is none. */
redlock_lease *queues_take_untold(redlock *client);

/* Frees a lease that the core has dropped: now, or when the queue of the untold gets to it. */
void queues_drop(redlock_lease *lease);

/* Frees every lease, and drops it in the core. */
void queues_free(redlock *client);

#endif
