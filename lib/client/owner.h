/*
 * owner.h - whose a lease is.
 */
#ifndef REDLOCK_CLIENT_OWNER_H
#define REDLOCK_CLIENT_OWNER_H

#include "redlock.h"

/* A lease that has moved is another client's. */
redlock *client_of_lease(const redlock_lease *lease);

#endif
