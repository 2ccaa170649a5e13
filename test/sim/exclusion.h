/*
 * exclusion.h - what must be true of holders: one of each name at a time, other libraries' too; the
 * hooks of invariants.h call these.
 */
#ifndef SIM_EXCLUSION_H
#define SIM_EXCLUSION_H

#include "user_lease.h"

/* ACQUIRED is told: is there another holder? */
void exclusion_acquired(const struct user_lease *lease);
/* Likewise, of a client of the published algorithm that has just got its lock. */
void exclusion_foreigner(struct world *world, unsigned foreigner);

/* They want one name both, and not both as readers. */
bool exclude_each_other(const struct user_lease *a, const struct user_lease *b);

#endif
