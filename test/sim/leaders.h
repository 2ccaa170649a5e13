/*
 * leaders.h - what must be true of what leaders announce and observers are told; and the users
 * that do so, beside what else they do with their leases.
 */
#ifndef SIM_LEADERS_H
#define SIM_LEADERS_H

#include "user_lease.h"

/* How much of it a run has. */
void leaders_draw(struct world *world);

/* A user is told of a lease, and may announce. */
void leaders_user_told(struct user_lease *lease, const redlock_event *event);
/* A user may begin to observe, or end that. */
void leaders_user_acts(struct shell *shell);
/* In peace: ends what has been told that nobody announces. */
void leaders_tidy_up(struct shell *shell);
/* Somebody of the client still observes. */
bool leaders_observe(const struct shell *shell);
/* The client is freed, and with it all its observers. */
void leaders_drop(struct shell *shell);

void leaders_announced(struct user_lease *lease);
void leaders_sent(struct shell *shell, const struct message *message,
                  const struct request *request);
void leaders_executed(struct world *world, unsigned master, const struct message *message);

#endif
