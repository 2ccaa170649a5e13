/*
 * permits.h - what must be true of leases that are one of the permits of a name; the hooks of
 * invariants.h call this.
 */
#ifndef SIM_PERMITS_H
#define SIM_PERMITS_H

#include "user_lease.h"

/* ACQUIRED was told: from now on the lease is about its slot. */
void permits_acquired(struct user_lease *lease);

#endif
