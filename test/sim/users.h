/*
 * users.h - users of leases.
 */
#ifndef SIM_USERS_H
#define SIM_USERS_H

#include "user_lease.h"

/* ---- user.c: in every way the header allows, at any moment ---- */

/* Takes over, or releases, what another user has detached. */
void user_uses_token(struct shell *shell);
/* One call, or a few; plans the next, if told so. */
void user_acts(struct shell *shell, bool goes_on);
/* Their callback. */
void user_told(struct user_lease *lease, const redlock_event *event);
/* redlock_close(). */
void user_closes(struct shell *shell, usec timeout);
/* In peace: a lease on every name, which must come. */
bool user_probes(struct shell *shell);

/* ---- crowd.c: many who want the same name, and hoarders of a hundred leases ---- */

/* Draws how much each client wants in this run. */
void crowd_draw(struct world *world);
/* One look at what this client has and wants; true if it asked for anything. */
void crowd_acts(struct shell *shell);
/* Their callback; false: it is not theirs. */
bool crowd_told(struct user_lease *lease, const redlock_event *event);

#endif
