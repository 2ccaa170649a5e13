/*
 * lease_parts.h - what the files of machine 1 share.  Each file calls only files above it:
 *
 *   states.c      which state may follow which
 *   making.c      a lease is made, and dropped
 *   further.c     the further places of a lease that waits for one of the permits of a name
 *   outcomes.c    the outcomes of a lease, for its user
 *   asking.c      one question to each master, as soon as it may be asked
 *   fencing.c     the fencing token: proposed, stored on a quorum, then shown
 *   permits.c     which slots a lease asks for
 *   recording.c   an answer → ballot
 *   holding.c     renewal, risk; when a lease is woken
 *   inspecting.c  the question for the holder, and its answers
 *   place.c       its ticket; its place in the local queue, and which waiter inherits that
 *   minority.c    grants of too few masters: when they are given back, and the pause after that
 *   acquiring.c   rounds, until the lease is acquired or not
 *   queue.c       enqueued on the masters
 *   releasing.c   the end of a held lease: given back, left to the masters, or lost
 *   changing.c    a held lease that becomes shared, or exclusive
 *   handover.c    a release to the next waiter of this client
 *   moving.c      a held lease goes on as one of another client
 *   machine.c     the table of states; answers; making, dropping and telling a lease
 */
#ifndef REDLOCK_CORE_LEASE_PARTS_H
#define REDLOCK_CORE_LEASE_PARTS_H

#include "ground/sanity.h"
#include "ground/shared.h"
#include "lease/lease.h"
#include "lease/lists.h"
#include "masters/master.h"

#define BIT(n) (uint16_t)(1U << (n))

/* Outcomes that are worth telling only while the lease is held. */
#define WHILE_HELD                                                                                 \
    (BIT(OUTCOME_EXTENDED) | BIT(OUTCOME_NOT_EXTENDED) | BIT(OUTCOME_AT_RISK) |                    \
     BIT(OUTCOME_HEALTHY) | BIT(OUTCOME_CHANGED) | BIT(OUTCOME_NOT_CHANGED))

static inline unsigned lease_masters(const struct engine *engine)
{
    return engine->config.masters;
}

/* states.c */
bool lease_may_become(const struct lease *lease, enum lease_state state);

/* Every change of state goes through here. */
static inline void lease_become(struct lease *lease, enum lease_state state)
{
    ASSERT(lease_may_become(lease, state));
    lease->state = (uint64_t)state;
}

/* Enqueued on the masters, or handed over by a quorum of them. */
static inline bool lease_is_queued(const struct lease *lease)
{
    return lease->state == LEASE_QUEUED || lease->state == LEASE_GATHERING;
}

/* The lease is woken no later than `at`. */
static inline void lease_wake_by(struct lease *lease, usec at)
{
    if (at < lease->wake_at)
        lease->wake_at = at;
}

/* A fence other than 0 only for a lease whose terms have one. */
static inline void lease_set_fence(struct lease *lease, usec fence)
{
    struct lease_extra *extra = lease_extra(lease);
    ASSERT(extra || !fence);
    if (extra)
        extra->fence = fence;
}

/* making.c */
/* See lease_init(); the names are those that the lease asks for. */
bool lease_make(struct engine *engine, struct lease *lease, struct names *names,
                const struct terms *terms, const char *token, size_t token_length);
void lease_unmake(struct engine *engine, struct lease *lease);

/* outcomes.c */
void lease_add_outcome(struct engine *engine, struct lease *lease, enum outcome_kind kind,
                       enum cause cause);
enum cause lease_cause_of(const struct lease *lease, enum outcome_kind kind);
/* No request concerns the lease any more: IDLE, with this last outcome. */
void lease_end(struct engine *engine, struct lease *lease, enum outcome_kind kind,
               enum cause cause);

/* asking.c */
/* For the next question; false when memory is out. */
bool lease_make_room(struct engine *engine, struct lease *lease);
bool lease_may_ask(const struct engine *engine, const struct lease *lease, unsigned master);
void lease_ask(struct engine *engine, struct lease *lease, unsigned master, bool whole);
void lease_await_connection(struct engine *engine, struct lease *lease, unsigned master);
/* Notes why a master is not asked: it abstains, or is not reached. */
void lease_vote_unasked(struct engine *engine, struct lease *lease, unsigned master);
/* Like lease_vote_unasked(), where the yes of that master would not count for a writer. */
void lease_vote_uncounted(struct engine *engine, struct lease *lease, unsigned master);
/* A vote with a text. */
void lease_vote_text(struct engine *engine, struct lease *lease, unsigned master, enum vote vote,
                     const char *text, size_t length);
/* How long an acquire waits for masters that are connecting, or whose words decide. */
usec lease_connect_time(const struct engine *engine, const struct lease *lease);
void lease_open_round(struct engine *engine, struct lease *lease, enum request_kind kind);
/* No request of the round was sent: it looks again which masters there are. */
void lease_await_masters(struct engine *engine, struct lease *lease);
void lease_ask_those_up(struct engine *engine, struct lease *lease);

/* fencing.c */
/* A quorum has granted the names.  WON once a quorum has stored the fence as well. */
enum verdict fencing_weigh(struct engine *engine, struct lease *lease);
/* Validity by the ledger.  Before ACQUIRED of a fenced lease only those masters count that have
 * kept it since its fence was fixed. */
usec fencing_valid_until(const struct engine *engine, const struct lease *lease);
/* Called before and after a master's promise may change: where it is over, or was for a moment,
 * another lease may have had the names since the fence was fixed. */
void fencing_notice(const struct engine *engine, struct lease *lease, unsigned master);
/* A quorum of the fence's basis has kept the lease. */
bool fencing_is_founded(const struct engine *engine, const struct lease *lease);
/* A master of the fence's basis has not yet answered the renewal that confirms. */
bool fencing_may_be_confirmed(const struct engine *engine, const struct lease *lease);
/* A master reported another clock: grants that were doubted may count now. */
void fencing_vouch(const struct engine *engine, struct attempt *attempt);
/* Records a yes to a fenced acquire or to a raise. */
void fencing_record(struct engine *engine, struct lease *lease, unsigned master,
                    const struct reply *reply);

/* permits.c: none of these does anything for a lease that asks for no permit */
/* lease_init() for one of the permits of `name`. */
bool permits_make(struct engine *engine, struct lease *lease, struct names *name,
                  const struct terms *terms);
/* The master refused, and told what it has; this is no vote. */
void permits_note_told(struct engine *engine, struct lease *lease, unsigned master,
                       const struct slots_reply *told);
/* A master has this slot free, with nobody enqueued for it: it may not be any more. */
void permits_hint(struct engine *engine, struct lease *lease, int slot);
/* After a refusal: takes another slot.  True: to try it; false: to wait for it. */
bool permits_choose(struct engine *engine, struct lease *lease);
static inline bool permits_tries_next(const struct lease *lease)
{
    return lease->attempt->permit && lease->attempt->permit->tries_next;
}
/* Like permits_tries_next(), and clears it: the lease is about to try. */
bool permits_take_try(struct lease *lease);
/* A further place has a quorum: what it has is its owner's.  Returns the owner, about to be held.
 */
struct lease *permits_take_over(struct engine *engine, struct lease *place);
/* The lease may have the slot of this claim. */
bool permits_may_have(const struct lease *lease, const struct claim *claim);
/* A holder gives its slot back to the masters: the next try of this client is for that one. */
void permits_note_given_back(struct engine *engine, const struct claim *claim);

/* recording.c */
void recording_take(struct engine *engine, struct lease *lease, unsigned master,
                    const struct reply *reply);

/* holding.c */
usec holding_lost_at(const struct lease *lease);
bool holding_is_over(const struct engine *engine, const struct lease *lease);
/* True if a renewal that is due waits, as masters are behind. */
bool holding_put_off(struct engine *engine, struct lease *lease);
usec holding_renew_when(struct engine *engine, const struct lease *lease);
void holding_renew(struct engine *engine, struct lease *lease);
/* Asks for a renewal, also past max_hold. */
void holding_ask(struct engine *engine, struct lease *lease);
void holding_weigh(struct engine *engine, struct lease *lease);
void holding_put_round_away(struct engine *engine, struct lease *lease);
void lease_schedule(struct engine *engine, struct lease *lease);
/* Closes the ballots that are overdue; true if there were any. */
bool lease_expire(struct engine *engine, struct lease *lease);

/* inspecting.c */
/* Asks for the holder and the rest of its time, only where the lease was refused. */
void inspecting_ask_for_holder(struct engine *engine, struct lease *lease);
/* The answer to a PEEK → ballot. */
void inspecting_record(struct engine *engine, struct lease *lease, unsigned master,
                       const struct reply *reply);
void inspecting_weigh(struct engine *engine, struct lease *lease);

/* stranded.c */
/* Sets a wait aside, with nothing on the masters; false: it ends. */
bool stranded_enter(struct engine *engine, struct lease *lease);

/* place.c */
/* The ticket that the answers of a round make up; 0: too few of them told a clock. */
usec place_ticket(const struct engine *engine, const struct round *round);
/* Answers that are still to come may complete a ticket. */
bool place_ticket_may_come(const struct engine *engine, const struct attempt *attempt);
/* Puts the lease at the end of its local queue, whose first waiter alone asks the masters.  False
 * when memory is out. */
bool place_enter(struct engine *engine, struct lease *lease);
/* Takes the lease out of its local queue, if it is in one; the next waiter inherits its place on
 * the masters. */
void place_leave(struct engine *engine, struct lease *lease);
/* The lease is the first of its local queue, or in none. */
bool place_is_first(const struct lease *lease);
/* The lease that asks the masters, for those behind it too. */
struct lease *place_asker(struct lease *lease);
/* A quorum of masters says that no waiter is ahead of it. */
bool place_is_next(const struct engine *engine, const struct lease *lease);
/* Keeps what the masters said last in the round: another one may be opened. */
void place_note_answers(const struct engine *engine, struct attempt *attempt);
/* By what a quorum of masters said last to the first waiter of its local queue, a holder, or a
 * waiter, is ahead of the lease. */
bool place_find_holder(const struct engine *engine, struct lease *lease);
/* The lease, whose round is over, has the votes of the first waiter of its local queue. */
void place_tell_answers(struct engine *engine, struct lease *lease);
/* The lease asks for a ticket, and may be granted the names at once. */
bool place_is_asked_for(const struct lease *lease);
/* The other lease can inherit its place, and has room for the question under way. */
bool place_prepare_to_pass(struct engine *engine, const struct lease *from, struct lease *to);

/* minority.c */
#define YIELD_PAUSE_LAST MS(200)
/* The life of a place: how long it, and what it is given, lasts without a refresh. */
static inline usec queue_life(const struct lease *lease)
{
    return lease->terms.ttl < MS(3000) ? lease->terms.ttl : MS(3000);
}
/* The pause, enqueued nowhere, after a minority was given back. */
usec minority_pause(struct engine *engine, const struct lease *lease);
/* Gives back what the waiter has; it is enqueued later with the same ticket and a fresh token. */
void minority_yield(struct engine *engine, struct lease *lease);
/* Like minority_yield(), while no quorum is within reach. */
void minority_stay_away(struct engine *engine, struct lease *lease);
/* When the waiter looks whether a holder keeps the rest; NEVER: it has no minority. */
usec minority_look_at(const struct attempt *attempt);
/* Gives a minority back that is of no use, or hinders others. */
void minority_weigh(struct engine *engine, struct lease *lease);
/* A quorum of masters, not counting `without`, may grant and answers: only then can a minority
 * become a quorum. */
bool minority_reaches_quorum(const struct engine *engine, uint16_t without);
/* The masters on which the waiter is not enqueued at present: a bit for each. */
uint16_t minority_avoids(const struct attempt *attempt);
/* Ends avoiding masters where there is no more reason. */
void minority_comes_back(const struct engine *engine, struct attempt *attempt);

/* acquiring.c */
void acquiring_weigh(struct engine *engine, struct lease *lease);
void acquiring_weigh_failed(struct engine *engine, struct lease *lease);
/* Begins one more round, with a fresh token. */
void acquiring_again(struct engine *engine, struct lease *lease);
/* The wait is over: asks for the holder, then NOT_ACQUIRED. */
void acquiring_end_wait(struct engine *engine, struct lease *lease);
void acquiring_cancel(struct engine *engine, struct lease *lease, enum cause cause);
/* Its time was over before ACQUIRED was reported: it counts as not acquired. */
void acquiring_unsay(struct engine *engine, struct lease *lease);
/* The lease takes over a claim of another lease of this client, which would have renewed it at
 * `renew_at` (NEVER: no renewal was planned, or one is under way).  `state`: HELD, or RENEWING with
 * that question. */
void acquiring_take_over(struct engine *engine, struct lease *lease, enum lease_state state,
                         usec renew_at);

/* queue.c */
void queue_hear(struct engine *engine, struct lease *lease, unsigned master,
                const struct reply *reply);
void queue_weigh(struct engine *engine, struct lease *lease);
void queue_wake(struct engine *engine, struct lease *lease);
/* For a waiter that is not enqueued on the masters. */
void queue_wake_outside(struct engine *engine, struct lease *lease);
/* A quorum may be within reach again. */
void queue_master_up(struct engine *engine, struct lease *lease);

/* releasing.c */
void releasing_begin(struct engine *engine, struct lease *lease);
void releasing_weigh(struct engine *engine, struct lease *lease);
/* For a lease given by its token that was asked for nothing yet. */
void releasing_by_token(struct engine *engine, struct lease *lease);
/* Releases a lost lease without delay. */
void releasing_end_lost(struct engine *engine, struct lease *lease);
void releasing_give_up(struct engine *engine, struct lease *lease);
/* Its user wants nobody else to have the names before at_least is over. */
static inline bool releasing_is_early(const struct engine *engine, const struct lease *lease)
{
    return engine->now < lease_keep_until(lease);
}
/* It is released, and the masters are asked to keep it for the rest of that time. */
static inline bool releasing_is_leaving(const struct lease *lease)
{
    return lease->state == LEASE_RELEASING && lease_round(lease) &&
           lease_round(lease)->kind == REQUEST_RENEW;
}
/* Asks the masters to keep a lease that is held, and makes it RELEASING.  False when memory is
 * out. */
bool releasing_ask_to_keep(struct engine *engine, struct lease *lease);
/* The claim is owed to no master: it ends with its ttl. */
void releasing_leave(struct engine *engine, struct lease *lease);
/* Called before anything else is done with a lease, however late we are: past its time it is lost,
 * and never comes back. */
void releasing_notice_loss(struct engine *engine, struct lease *lease);
/* Takes validity from the ledger; it shrinks when a master says that the lease is gone. */
void releasing_follow_the_ledger(struct engine *engine, struct lease *lease);

/* changing.c */
void changing_downgrade(struct engine *engine, struct lease *lease);
void changing_upgrade(struct engine *engine, struct lease *lease);
/* The answers to an upgrade. */
void changing_weigh(struct engine *engine, struct lease *lease);

/* handover.c */
/* The holder releases: hands its claim to the next waiter of this client, without the masters.
 * False if it may not. */
bool handover_give(struct engine *engine, struct lease *holder);

#endif
