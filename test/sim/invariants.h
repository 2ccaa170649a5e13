/*
 * invariants.h - what must be true: each rule is a function of its own.
 *
 * The simulator calls the hooks where something happens; each hook calls the rules that it concerns
 * (rules.h).  A file for each idea:
 *
 *   exclusion.c   one holder of each name          order.c     waiting in turn
 *   validity.c    how long a lease is held         fences.c    fencing tokens
 *   outcomes.c    what a user hears, and when      tokens.c    tokens: fresh, and given back
 *   grants.c      what masters grant and keep      orphans.c   keys that outlive their lease
 *   period.c      nobody else for a while after ACQUIRED
 *   accounts.c    how many requests there are      client_rules.c  what else a user is owed
 *
 * To add a rule, add the function, call it from the hook, and state it here:
 *
 * - exclusion: at no moment of true time do two leases count themselves valid, each by its own
 *   arithmetic on its own clock. A lost lease counts until the validity that LOST reported has
 *   passed, unless it was released.
 * - backing: a writer's validity ends before the promises of a quorum of masters to it alone.
 * - validity: ACQUIRED comes with more than the margin left, and less than the ttl asked for.
 * - resurrection: validity that has passed does not come back.
 * - extension: EXTENDED means at least a ttl from the call.
 * - punctuality: LOST comes a margin before the end, unless the process was not running.
 * - once: each outcome comes once, in an order that makes sense, and none after the end.
 * - token: a token belongs to one round of one claim. A detached lease is neither released nor
 *   renewed.
 * - rollback: no new try while part of the former round may be left and no release is on its
 *   way.
 * - orphan: in peace, no key outlives its lease by more than 2.5 s.
 * - quarantine, terms: a master that must abstain grants and heals nothing.
 * - healing: nothing is healed after the lease has ended, or after its token was given back.
 * - waiting, progress: an acquire is answered when its wait is over; the run reaches peace.
 * - closing: a client that closes comes to an end. It owes nothing, except to a minority that
 *   is down.
 * - options: the given options count, by the simulator's own reading of redlock.h.
 * - words: an outcome's text, numbers and votes fit its kind. It names each master without a
 *   vote, and why.
 * - batching: one write for each link and turn of the loop. Releases go together, and first.
 * - notify, loop: the core knows where notifications are. A coming outcome keeps the loop
 *   alive.
 * - fair: where nothing goes wrong, leases of other clients that asked 200 ms later or more do
 *   not pass a waiter on a quorum for more than a second.
 * - flood: no client sends a master more than 150 requests a second for each lease.
 * - fence: a fence is above each one that was reported on that name before. Where masters lose
 *   single keys, "before" is before the first request of this acquire. A quorum of masters has
 *   granted the token at or below the fence, and kept it since.
 * - stored: when a fence is reported, a quorum of masters has stored it for the token that is
 *   there.
 * - clock: no request leaves an honest logical clock where a restarted master would not begin
 *   above it.
 * - period: after RELEASED nobody else has the name within at_least, by the clock of its
 *   holder.
 * - announced, observed, term: a master says only what the token that has the name announced.
 *   That is taken back when the user lets go, downgrades or closes. A quorum has said what an
 *   observer hears. An observer hears nothing that was said before that.
 * - barrier, latch: what redlock/recipes.h promises of these.
 * - wish, unheard, asked, taken: what doc/design/asking.md promises (wishes.h).
 * - order: a request that can set a token is carried out before the token's release, or not at
 *   all.
 * - turn: a master gives a name to no lease past a living waiter that was enqueued on a quorum
 *   before the ticket of that lease was first asked for.
 * - strict: a client in strict order hands nothing over in memory. Each of its waiters draws
 *   its own ticket.
 * - slot: a lease has one of the slots that it knows of.
 * - accounts, leak: requests in flight and leases are counted right; all memory is given back.
 * - bytes: a link writes what was asked, and passes on what was said (bytes/peer.h).
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
/* The client reports an outcome to the user. */
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
