/*
 * user.h - people who use leases in every way the header allows, at any moment.
 */
#ifndef SIM_USER_H
#define SIM_USER_H

#include "client_shell.h"

/* One call, or a few; plans the next, if told so. */
void user_acts(struct shell *shell, bool goes_on);
/* Their callback. */
void user_told(struct user_lease *lease, const struct outcome *outcome);
/* In peace: a lease on every name, which must come. */
bool user_probes(struct shell *shell);

#endif
