/*
 * waiters.h - the waiters for a name and its readers, as each master told them to
 * redlock_inspect().
 */
#ifndef REDLOCK_CLIENT_WAITERS_H
#define REDLOCK_CLIENT_WAITERS_H

#include "client.h"

/* Keeps the waiters and the readers that the reply to a PEEK names. */
void waiters_note(redlock *client, const struct event *event);
/* Puts them into the votes.  Only for a lease with `waiters`. */
void waiters_tell(redlock *client, const redlock_lease *lease);
void waiters_free(redlock_lease *lease);

#endif
