/*
 * relist.h - a client that is left for another one.
 */
#ifndef REDLOCK_CLIENT_RELIST_H
#define REDLOCK_CLIENT_RELIST_H

#include "client.h"

/* The client is freed: it goes to no other one, and the leases of those that go to it stay. */
void relist_forget(redlock *client);

#endif
