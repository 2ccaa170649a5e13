/*
 * permits.h - what must be true of leases that are one of the permits of a name; the hooks of
 * invariants.h call this.
 */
#ifndef SIM_PERMITS_H
#define SIM_PERMITS_H

#include "user_lease.h"

/* A master has carried out a request. */
void permits_executed(struct world *world, unsigned master, const struct message *message);
/* ACQUIRED was told: from now on the lease is about its slot. */
void permits_acquired(struct user_lease *lease);

#endif
