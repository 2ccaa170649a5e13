/*
 * events.h - an outcome of the core → the event that the user sees, in words too.
 */
#ifndef REDLOCK_CLIENT_EVENTS_H
#define REDLOCK_CLIENT_EVENTS_H

#include "client.h"
#include "redlock/recipes.h"

redlock_code code_of(enum cause cause);
/* Puts what the masters said about the lease into client->votes, until they are filled again. */
void event_fill_votes(redlock *client, const redlock_lease *lease);
/* The votes and the text of the event belong to the client, until it fills the next event. */
void event_fill(redlock *client, const redlock_lease *lease, const struct outcome *outcome,
                redlock_event *event);
/* Of a name that more than one may have: how many do, as far as the masters told that. */
struct sharers {
    const char *readers; /* said if the number of readers is not known */
    unsigned reading, permits, permits_out;
};
/* Says in words who has a name, by client->votes; the text is the client's, as that of an event. */
void event_tell_look(redlock *client, const struct sharers *sharers, redlock_look_result *result);
/* Says in words how it went; the text belongs to the client, as that of an event does. */
void event_tell_passage(redlock *client, const struct task *party, redlock_barrier_result *passage);
/* Logs once that our list is refused: leases are no longer renewed, and no event tells why. */
void event_log_refusal(redlock *client);
/* The trouble of each master that has any; the text of `cause` where no master has. */
void event_readiness(redlock *client, enum cause cause, char *text, size_t size);

#endif
