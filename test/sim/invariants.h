/*
 * invariants.h - what must be true, each rule a function of its own.
 *
 * The hooks are called by the simulator where something happens; each hands it to
 * the rules that it concerns (rules.h).  These are in a file for each idea:
 *
 *   exclusion.c   one holder of each name          order.c     waiting in turn
 *   validity.c    how long a lease is held         fences.c    fencing tokens
 *   outcomes.c    what a user is told, and when    tokens.c    tokens: fresh, and given back
 *   grants.c      what masters grant and keep      orphans.c   keys that outlive their lease
 *   period.c      nobody else for a while after ACQUIRED
 *   accounts.c    how many requests there are      client_rules.c  what else a user is owed
 *
 * To add a rule, add the function, call it from the hook, and name it in doc/verification.md.
 */
#ifndef SIM_INVARIANTS_H
#define SIM_INVARIANTS_H

#include "user_lease.h"

/* A client's core was stepped, or asked for an outcome. */
void check_step(struct shell *shell);
/* The pump has come to rest. */
void check_idle(struct shell *shell);
/* The core sends a request. */
void check_sent(struct shell *shell, unsigned master, const struct message *message,
                const struct request *request);
/* The client is about to take in a reply. */
void check_heard(struct shell *shell, unsigned master, const struct message *message);
/* A master has carried out a request. */
void check_executed(struct world *world, unsigned master, const struct message *message);
/* The user is told an outcome. */
void check_told(struct user_lease *lease, const redlock_event *event);
/* The handle is about to be freed. */
void check_freed(struct user_lease *lease);
/* A client's process has ended: its leases cannot be released, unless it was closed. */
void check_ended(struct shell *shell);
/* Another client of the published algorithm has the lock. */
void check_foreigner(struct world *world, unsigned foreigner);
/* Now and then: does a lease wait too long? */
void check_waiting(struct world *world);
/* In peace: no key outlives its lease. */
void check_orphans(struct world *world);

#endif
