/*
 * lease_parts.h - what the files of machine 1 share.
 *
 *   lease.c      life, timers, telling
 *   asking.c     one question to each master, as soon as it may be put
 *   acquiring.c  rounds until it is had, or not
 *   waiting.c    in line on the masters
 *   minority.c   what becomes of what it was given there, as long as it is too little
 *   passing.c    in line in memory; what those who wait hand on to each other
 *   fencing.c    its fencing token: proposed, stored on a quorum, then shown
 *   holding.c    renewal, risk, loss
 *   releasing.c  giving back
 *   hearing.c    an answer → ledger and ballot
 */
#ifndef REDLOCK_CORE_LEASE_PARTS_H
#define REDLOCK_CORE_LEASE_PARTS_H

#include "engine.h"
#include "lease.h"

#define BIT(n) (uint16_t)(1U << (n))

/* Outcomes that are only worth telling while the lease is held. */
#define WHILE_HELD                                                                                 \
    (BIT(OUTCOME_EXTENDED) | BIT(OUTCOME_NOT_EXTENDED) | BIT(OUTCOME_AT_RISK) |                    \
     BIT(OUTCOME_HEALTHY))

static inline unsigned lease_masters(const struct engine *engine)
{
    return engine->config.masters;
}

/* lease.c */
void lease_add_outcome(struct engine *engine, struct lease *lease, enum outcome_kind kind,
                       enum cause cause);
void lease_schedule(struct engine *engine, struct lease *lease);
/* Nothing concerns the masters any more: IDLE, with this last outcome. */
void lease_end(struct engine *engine, struct lease *lease, enum outcome_kind kind,
               enum cause cause);
/* Does what the ballots of the open round call for. */
void lease_weigh(struct engine *engine, struct lease *lease);

/* asking.c */
bool lease_may_ask(const struct engine *engine, const struct lease *lease, unsigned master);
void lease_ask(struct engine *engine, struct lease *lease, unsigned master, bool whole);
void lease_hope(struct engine *engine, struct lease *lease, unsigned master);
/* Why it is not: it abstains, or is not there. */
void lease_cannot_ask(struct engine *engine, struct lease *lease, unsigned master);
void lease_open_round(struct engine *engine, struct lease *lease, enum request_kind kind);
void lease_ask_those_up(struct engine *engine, struct lease *lease);

/* acquiring.c */
void acquiring_weigh(struct engine *engine, struct lease *lease);
void acquiring_again(struct engine *engine, struct lease *lease);
void acquiring_failed(struct engine *engine, struct lease *lease, enum cause cause);
/* Won, but over before anybody was told: it was never had. */
void acquiring_unsay(struct engine *engine, struct lease *lease);
void acquiring_cancel(struct engine *engine, struct lease *lease, enum cause cause);

/* The wait is over: who has it?  And then NOT_ACQUIRED. */
void acquiring_over(struct engine *engine, struct lease *lease);
/* It has been given a claim that was held by another lease of this client, which would
 * have renewed it at `renew_at`; NEVER: it did not mean to, or has just asked for it. */
void acquiring_take_over(struct engine *engine, struct lease *lease, usec renew_at);

/* waiting.c */
/* The ticket that the answers of a round add up to; 0: too few told their clock. */
usec waiting_ticket(const struct engine *engine, const struct round *round);
/* Answers that are still to come may make one. */
bool waiting_for_ticket(const struct engine *engine, const struct round *round);
/* The first of its line, or in none. */
bool waiting_is_first(const struct lease *lease);
/* On the masters. */
bool waiting_is_queued(const struct lease *lease);
/* A quorum of masters says that nobody who waits for it came before. */
bool waiting_is_next(const struct engine *engine, const struct lease *lease);
/* Not later than `at`. */
void waiting_wake_by(struct lease *lease, usec at);
/* How long to stand nowhere after having given back what was of no use. */
usec waiting_pause(struct engine *engine, const struct lease *lease);
/* Gives back what it has, and stands in line anew, where it stood, with a fresh token. */
void waiting_yield(struct engine *engine, struct lease *lease);
/* WAITING: gives back what others could use, and stands nowhere, while it reaches no quorum. */
void waiting_look_around(struct engine *engine, struct lease *lease);
/* A quorum may be within reach again. */
void waiting_master_up(struct engine *engine, struct lease *lease);
void waiting_hear(struct engine *engine, struct lease *lease, unsigned master,
                  const struct reply *reply);
void waiting_weigh(struct engine *engine, struct lease *lease);
void waiting_wake(struct engine *engine, struct lease *lease);

/* minority.c */
/* When it looks whether a holder keeps the rest; NEVER: it has nothing. */
usec minority_look_at(const struct round *round);
/* Gives back what is of no use to it, or hinders others. */
void minority_weigh(struct engine *engine, struct lease *lease);
/* A quorum of masters may grant and answers, without those: only then can anything come of
 * what some of them give. */
bool minority_reaches_quorum(const struct engine *engine, uint16_t without);
/* The same, but those may be silent for a moment: it stands on while it has been given nothing. */
bool minority_is_connected(const struct engine *engine);
/* The masters on which it does not stand at present: a bit for each. */
uint16_t minority_avoids(const struct round *round);
/* Stands in line everywhere again, where there is no more reason not to. */
void minority_comes_back(const struct engine *engine, struct round *round);

/* passing.c */
/* Goes to the end of its line here; only the first of it asks the masters.  False when
 * memory is out. */
bool passing_enter(struct engine *engine, struct lease *lease);
/* Leaves it, if it stands in one; who is behind takes its place. */
void passing_leave(struct engine *engine, struct lease *lease);
/* The holder gives it back: the next of this client may have it without the masters. */
bool passing_hand_over(struct engine *engine, struct lease *holder);

/* fencing.c */
/* A quorum has granted it.  WON once the fence is stored on a quorum as well. */
enum verdict fencing_weigh(struct engine *engine, struct lease *lease);
/* As the ledger has it; that of a fenced lease which is not told yet, of the masters alone that
 * have kept it since its fence was fixed. */
usec fencing_valid_until(const struct engine *engine, const struct lease *lease);
/* Called whenever the master's promise may have changed, before and after: where it is over, or
 * was for a moment, others may have had the lease since the fence was fixed. */
void fencing_notice(const struct engine *engine, struct lease *lease, unsigned master);
/* A master that counts for the fence has not yet answered the renewal that confirms. */
bool fencing_may_be_confirmed(const struct engine *engine, const struct lease *lease);
/* Another clock was told: grants that were doubted may count now. */
void fencing_vouch(const struct engine *engine, struct round *round);
/* A yes to a fenced acquire, or to a raise. */
void fencing_record(struct engine *engine, struct lease *lease, unsigned master,
                    const struct reply *reply);

/* holding.c */
usec holding_lost_at(const struct lease *lease);
bool holding_is_over(const struct engine *engine, const struct lease *lease);
usec holding_renew_when(struct engine *engine, const struct lease *lease);
void holding_renew(struct engine *engine, struct lease *lease);
void holding_weigh(struct engine *engine, struct lease *lease);
void holding_put_round_away(struct engine *engine, struct lease *lease);
void holding_notice_the_end(struct engine *engine, struct lease *lease);
void holding_follow_the_ledger(struct engine *engine, struct lease *lease);

/* releasing.c */
void releasing_begin(struct engine *engine, struct lease *lease);
void releasing_weigh(struct engine *engine, struct lease *lease);

/* hearing.c */
void lease_record(struct engine *engine, struct lease *lease, unsigned master,
                  const struct reply *reply);

#endif
