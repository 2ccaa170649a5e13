/*
 * user.h - users that use leases in every way the header allows, at any moment.
 */
#ifndef SIM_USER_H
#define SIM_USER_H

#include "user_lease.h"

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

#endif
