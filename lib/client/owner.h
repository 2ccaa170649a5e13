/*
 * owner.h - whose a lease is, and whether it is on its way.
 */
#ifndef REDLOCK_CLIENT_OWNER_H
#define REDLOCK_CLIENT_OWNER_H

#include "redlock.h"

/* A lease that has moved is another client's. */
redlock *client_of_lease(const redlock_lease *lease);
/* The name of a lease that is held exclusively, on one name and as no permit; without the prefix,
 * and its `length`.  NULL of others. */
const char *name_of_lease(const redlock_lease *lease, size_t *length);
/* It is on its way to another client, and takes no calls but a release. */
bool client_moves_lease(const redlock_lease *lease);

#endif
