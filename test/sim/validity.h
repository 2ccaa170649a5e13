/*
 * validity.h - what must be true of the time for which a lease is held; the hooks of invariants.h
 * call these.
 */
#ifndef SIM_VALIDITY_H
#define SIM_VALIDITY_H

#include "user_lease.h"

/* The core was stepped: when does the lease end now? */
void validity_looked_at(struct user_lease *lease, usec now);
/* These are told. */
void validity_acquired(struct user_lease *lease);
/* A master keeps its names for it, but not alone any more; or all is exclusive now. */
void validity_shared(struct user_lease *lease);
void validity_extended(struct user_lease *lease);
void validity_lost(struct user_lease *lease, const redlock_event *event);

#endif
