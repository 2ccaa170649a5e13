/*
 * period.h - what must be true of leases with at_least: nobody else has their names within that
 * time after ACQUIRED, also if they were released sooner; the hooks of invariants.h call these.
 */
#ifndef SIM_PERIOD_H
#define SIM_PERIOD_H

#include "user_lease.h"

/* ACQUIRED or CHANGED is told: the names may be kept for a former holder. */
void period_begins(struct user_lease *lease);
void period_is_kept(const struct user_lease *lease);
/* RELEASED is told, LOST, or the lease is freed: the masters keep what they have. */
void period_released(struct user_lease *lease, const redlock_event *event);
void period_let_go(struct user_lease *lease);

#endif
