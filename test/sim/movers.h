/*
 * movers.h - users that move leases between the two clients of their process: profile change.
 *
 * In these runs a third list lies between the other two: it may meet both.  Its clients are there
 * from the beginning.  Clients are in pairs: both are of one process, with one clock, which sleeps
 * and is killed as one.  Each of them may close, or be freed, and begin again.
 *
 * - A move ends with MOVED, NOT_MOVED, LOST or RELEASED, once, and in time.  If a client is freed
 *   it ends with nothing.
 * - At MOVED the lease is valid by the former list, and by the other one.  From then on the rules
 *   of any lease hold of it by the other list (exclusion, backing, change).
 * - token: a client asks nothing about what has moved away from it.  It releases only tokens of
 *   leases that are its own.
 * - announced: when MOVED is reported the other client says what the lease announces.  The former
 *   one has not taken it back.
 * - healing: nothing is healed after the lease has ended, also where it did not move.
 * - once, term: an observer that goes over to the other client hears what any observer may hear.
 * - orphan: a lease leaves nothing on the masters of its list.  Others keep it for its ttl.
 */
#ifndef SIM_MOVERS_H
#define SIM_MOVERS_H

#include "user_lease.h"

/* ---- movers.c: the runs, and the users ---- */

/* Another second list, and the list between. */
void movers_draw_lists(struct world *world);
void movers_draw_clients(struct world *world);
/* Which clients are of one process. */
void movers_pair(struct world *world);
uint32_t movers_process(const struct shell *shell);
/* The list of the client that starts now. */
const struct list_kind *movers_choose(const struct shell *shell);
/* True: they did something. */
bool movers_act(struct shell *shell);
/* HAPPENS_SLEEP: its process is stopped for a while. */
void movers_sleep(struct shell *shell, usec how_long);
/* Before what other users do in this callback. */
void movers_told(struct user_lease *lease, const redlock_event *event);

/* ---- movers_rules.c ---- */

/* Whose it is; a shadow is of the lease that moves.  NULL: nobody's any more. */
struct user_lease *movers_lease_of(redlock_lease *handle);
/* By our own reading of redlock.h. */
bool movers_may(const struct user_lease *lease, const struct shell *to);
void movers_begun(struct user_lease *lease, struct shell *to);
/* MOVED comes: from now on the lease is one of the other client. */
void movers_moved(struct user_lease *lease);
/* From now on the user knows it. */
void movers_remember(struct user_lease *lease, const redlock_event *event);
/* Its user has let it go. */
void movers_dropped(struct user_lease *lease);
/* The client is about to be freed. */
void movers_client_goes(struct shell *shell);
/* Of which client the event has the votes. */
struct shell *movers_voters(const struct user_lease *lease, const redlock_event *event);
/* A client sends a request about a token that was asked to move. */
void movers_sent(struct shell *shell, uint32_t token, enum request_kind kind);
/* Such a token was healed. */
void movers_healed(struct world *world, unsigned master, uint32_t token);
/* A lease can move when the other client has had its turn, which comes at once. */
bool movers_waits(struct shell *shell);
/* Now and then: is a move overdue? */
void movers_due(const struct user_lease *lease);

#endif
