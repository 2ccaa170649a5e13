/*
 * outcomes.h - what must be true of what a user is told of a lease: each once, in order, and in
 * time; the hooks of invariants.h call these.
 */
#ifndef SIM_OUTCOMES_H
#define SIM_OUTCOMES_H

#include "user_lease.h"

/* May this be told now? */
void outcomes_told(const struct user_lease *lease, const redlock_event *event);
/* From now on the user knows it. */
void outcomes_remember(struct user_lease *lease, const redlock_event *event);
/* Now and then: is an outcome overdue? */
void outcomes_due(const struct user_lease *lease);

#endif
