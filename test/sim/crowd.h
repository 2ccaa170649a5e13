/*
 * crowd.h - users that mostly want the same name: many waiters, short holds, always one more; and
 * hoarders with a hundred leases of their own.
 */
#ifndef SIM_CROWD_H
#define SIM_CROWD_H

#include "user_lease.h"

/* Who wants how much, in this run. */
void crowd_draw(struct world *world);
/* One look at what this client has and wants; true if it asked for anything. */
void crowd_acts(struct shell *shell);
/* Their callback; false: it is not theirs. */
bool crowd_told(struct user_lease *lease, const redlock_event *event);

#endif
