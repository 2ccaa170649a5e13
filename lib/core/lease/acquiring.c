#include "lease/lease_parts.h"
#include "lease/local_queue.h"
#include "masters/agreement.h"
#include "ground/histogram.h"

#define RETRY_FIRST    MS(10)
#define RETRY_LAST     MS(200)
#define COMPLETE_AFTER MS(50) /* for a lease that was won before all masters were connected */

static void begin_round(struct engine *e, struct lease *lease)
{
    if (lease->attempt->queue)
        lease->attempt->queue->drawn_at = e->now;
    lease_ask_those_up(e, lease);
}

static void acquire_round(struct engine *e, struct lease *lease)
{
    lease_become(lease, lease->attached ? LEASE_ATTACHING : LEASE_ASKING);
    lease->rounds++;
    e->counters.rounds++;
    const struct names *names = lease->attempt->names;
    bool needs_script = names_any_shared(names) || names->slot; /* no plain command takes it so */
    bool needs_clock = lease->terms.fence || lease->attempt->wait; /* for a fence or a ticket */
    enum request_kind kind = lease->attached               ? REQUEST_RENEW
                             : needs_clock || needs_script ? REQUEST_GRANT
                                                           : REQUEST_ACQUIRE;
    lease_open_round(e, lease, kind);
    begin_round(e, lease);
    acquiring_weigh(e, lease);
}

void lease_admit(struct engine *e, struct lease *lease)
{
    ASSERT(lease->state == LEASE_ASKING && !lease_round(lease)->begun);
    lease_round(lease)->give_up = e->now + lease_connect_time(e, lease);
    lease_await_masters(e, lease);
    begin_round(e, lease);
    engine_list(e, &e->busy, lease);
    lease_schedule(e, lease);
}

void lease_acquire(struct engine *e, struct lease *lease)
{
    if (!lease->asked_at) /* else it waits on: see lease_go_over() */
        lease->asked_at = e->now;
    e->counters.acquires++;
    if (e->closing || e->misconfigured) {
        lease_end(e, lease, OUTCOME_NOT_ACQUIRED, e->closing ? CAUSE_CLOSED : e->misconfigured);
        return;
    }
    engine_list(e, &e->busy, lease);
    if (lease->attempt->wait && !place_enter(e, lease)) {
        lease_end(e, lease, OUTCOME_NOT_ACQUIRED, CAUSE_MEMORY);
        return;
    }
    if (lease->claim) {
        if (!lease->attached)
            claim_fresh_token(e, lease->claim);
        acquire_round(e, lease);
    }
    lease_schedule(e, lease);
}

static bool may_wait(const struct engine *e, const struct lease *lease, usec until)
{
    return !e->closing && !e->misconfigured && !lease->attached && e->now < until;
}

/* Words that are to come may let the next promises count. */
static usec tries_until(const struct engine *e, const struct lease *lease)
{
    usec wait = lease_wait_until(lease), words = lease->asked_at + lease_connect_time(e, lease);
    const struct round *round = lease_round(lease);
    bool lacks_words = lease->failing == CAUSE_UNAVAILABLE && round && round->uncounted;
    return lacks_words && words > wait ? words : wait;
}

static bool plan_retry(struct engine *e, struct lease *lease)
{
    usec until = tries_until(e, lease);
    if (!may_wait(e, lease, until))
        return false;
    usec longest = RETRY_FIRST << (lease->rounds < 6 ? lease->rounds : 5);
    if (longest > RETRY_LAST)
        longest = RETRY_LAST;
    bool has_ticket = lease->attempt->place.ticket != 0,
         is_drawn = lease_round(lease) && lease_round(lease)->kind == REQUEST_GRANT;
    if (has_ticket) /* enqueued at once, unless it was, and gained nothing */
        lease->wake_at = e->now + (is_drawn ? 0 : minority_pause(e, lease));
    else
        lease->wake_at = e->now + engine_jitter(e, longest / 2, longest);
    if (lease->wake_at > until)
        lease->wake_at = until;
    return true;
}

static void acquiring_end(struct engine *e, struct lease *lease, enum cause cause)
{
    place_leave(e, lease);
    lease_end(e, lease, OUTCOME_NOT_ACQUIRED, cause);
}

/* The round is over, and what it took is being released: another try later, or none. */
static void end_round(struct engine *e, struct lease *lease)
{
    claim_let_go(&lease->claim);
    lease_become(lease, LEASE_PAUSING);
    lease->wake_at = e->now;
    if (permits_tries_next(lease) || plan_retry(e, lease))
        return;
    acquiring_end(e, lease,
                  e->closing         ? CAUSE_CLOSED
                  : e->misconfigured ? e->misconfigured
                                     : (enum cause)lease->failing);
}

void acquiring_again(struct engine *e, struct lease *lease)
{
    if (!lease_make_room(e, lease) ||
        !claim_new(e, &lease->claim, lease->attempt->names, NULL, 0)) {
        acquiring_end(e, lease, CAUSE_MEMORY);
        return;
    }
    claim_fresh_token(e, lease->claim);
    acquire_round(e, lease);
}

static void fail_round(struct engine *e, struct lease *lease, enum cause cause)
{
    lease->attempt->unfounded |= lease->attempt->fence != 0;
    bool waits = cause == CAUSE_HELD && may_wait(e, lease, lease_wait_until(lease));
    if (waits && !lease->attempt->place.ticket) {
        lease->attempt->place.ticket = place_ticket(e, lease->attempt->round);
        lease->attempt->place.drawn_at = lease->attempt->round->asked_at;
    }
    bool goes_on = cause == CAUSE_HELD && (permits_choose(e, lease) || waits);
    lease_become(lease, LEASE_FAILING);
    struct round *round = lease_round(lease); /* none: it was handed over, and in vain */
    if (round)
        round_close(round, lease_masters(e));
    if (round && lease->attempt->wait)
        place_note_answers(e, lease->attempt);
    lease->failing = (uint8_t)cause;
    if (lease->attached) {
        claim_forget(e, lease->claim);
    } else {
        if (round && cause == CAUSE_HELD && !goes_on)
            inspecting_ask_for_holder(e, lease);
        claim_abandon(e, lease->claim, 0);
    }
    if (!round || round_undecided(round, lease_masters(e)) == 0)
        end_round(e, lease);
}

/* It never began: too much was asked before. */
static bool was_throttled(const struct engine *e, const struct lease *lease)
{
    return lease->place == PLACE_THROTTLED && masters_may_grant(e);
}

void acquiring_end_wait(struct engine *e, struct lease *lease)
{
    bool has_room = lease_make_room(e, lease), held = place_find_holder(e, lease);
    enum cause cause = held                                   ? CAUSE_HELD
                       : was_throttled(e, place_asker(lease)) ? CAUSE_OVERLOAD
                                                              : CAUSE_UNAVAILABLE;
    if (has_room && !held)
        place_tell_answers(e, lease);
    place_leave(e, lease);
    if (!has_room ||
        !(lease->claim || claim_new(e, &lease->claim, lease->attempt->names, NULL, 0))) {
        lease_end(e, lease, OUTCOME_NOT_ACQUIRED, CAUSE_MEMORY);
        return;
    }
    for (unsigned i = 0; i < lease_masters(e); i++) /* their earlier votes are outdated */
        if (!master_may_grant(e, &e->masters[i]))
            lease_vote_unasked(e, lease, i);
    lease->attempt->round->uncounted = false;
    fail_round(e, lease, cause);
}

static unsigned how_many_answered(const struct engine *e, const struct lease *lease)
{
    const struct round *round = lease->attempt->round;
    return round_yes(round, lease_masters(e)) + round_count(round, lease_masters(e), VOTE_HELD);
}

/* Of a lease that was given by its token: how many masters have it no more. */
static unsigned how_many_lost_it(const struct engine *e, const struct lease *lease)
{
    const struct round *round = lease->attempt->round;
    return round_count(round, lease_masters(e), VOTE_HELD) +
           round_count(round, lease_masters(e), VOTE_FREE);
}

/* Where its masters lack it, it is gone: it must not be taken there. */
static bool is_gone_if_absent(const struct lease *lease)
{
    return lease->attached && !lease->shadow;
}

/* The lease is not acquired, but only further answers can give the cause: a quorum of answers for
 * held; for gone, enough that the other masters are no quorum. */
static bool cause_may_come(const struct engine *e, const struct lease *lease)
{
    bool is_gone = is_gone_if_absent(lease);
    unsigned told = is_gone ? how_many_lost_it(e, lease) : how_many_answered(e, lease);
    unsigned wanted = is_gone ? lease_masters(e) - e->quorum + 1 : e->quorum;
    return told < wanted &&
           told + round_may_say_yes(lease->attempt->round, lease_masters(e)) >= wanted;
}

static enum cause why_failed(const struct engine *e, const struct lease *lease)
{
    unsigned most = lease_masters(e) - e->quorum;
    if (was_throttled(e, lease))
        return CAUSE_OVERLOAD;
    if (is_gone_if_absent(lease))
        return how_many_lost_it(e, lease) > most ? CAUSE_GONE : CAUSE_UNAVAILABLE;
    unsigned granted = round_yes(lease->attempt->round, lease_masters(e));
    bool not_stored = granted >= e->quorum; /* too few masters to store its fence */
    bool is_known = how_many_answered(e, lease) >= e->quorum && !not_stored;
    return is_known ? CAUSE_HELD : CAUSE_UNAVAILABLE;
}

static void hold_lease(struct engine *e, struct lease *lease, usec max_hold)
{
    engine_list(e, &e->held, lease);
    if (max_hold)
        lease_extra(lease)->hold_until = e->now + max_hold;
    lease->wake_at = holding_renew_when(e, lease);
    lease_add_outcome(e, lease, OUTCOME_ACQUIRED, CAUSE_NONE);
}

/* The masters give a place the names for its life, which leaves little or nothing beyond this
 * lease's margin.  So a renewal comes before ACQUIRED. */
static void confirm(struct engine *e, struct lease *lease)
{
    struct round *round = lease->attempt->round;
    round->kind = REQUEST_RENEW;
    round->number = engine_next_round(e);
    lease_become(lease, LEASE_CONFIRMING);
    for (unsigned i = 0; i < lease_masters(e); i++) {
        bool has = round->ballots[i].vote == VOTE_GRANTED && master_is_up(&e->masters[i]);
        round_vote(round, i, VOTE_NOTHING);
        round->incomplete |= !has;
        if (has)
            lease_ask(e, lease, i, false);
    }
}

/* The lease is renewed to its full ttl while most of what was given is left; a user that releases
 * sooner saves the masters a renewal. */
static usec renew_given(const struct engine *e, const struct lease *lease)
{
    return e->now + (lease->valid_until - lease->terms.margin - e->now) / 8;
}

/* One slow renewal would lose such a lease right after ACQUIRED. */
static bool is_almost_over(const struct engine *e, const struct lease *lease)
{
    return holding_lost_at(lease) - e->now < queue_life(lease) / 4 && lease->terms.renew;
}

static void win_round(struct engine *e, struct lease *lease)
{
    struct round *round = lease->attempt->round;
    bool confirmed = lease->state == LEASE_CONFIRMING;
    bool given = lease->claim->enqueued; /* for a short while only */
    lease->valid_until = fencing_valid_until(e, lease);
    bool may_confirm = given && !confirmed && e->now < lease->valid_until;
    if (holding_is_over(e, lease) || (may_confirm && is_almost_over(e, lease))) {
        lease->valid_until = 0;
        if (may_confirm)
            confirm(e, lease);
        else
            fail_round(e, lease, CAUSE_TOO_SLOW);
        return;
    }
    bool is_further = lease->further;
    if (is_further)
        lease = permits_take_over(e, lease);
    lease_become(lease, LEASE_HELD);
    claim_note_taken(e, lease->claim);
    place_leave(e, lease);
    /* A place may be inherited. */
    lease_set_fence(lease, lease->terms.fence ? lease->attempt->fence : 0);
    round_give_up_connecting(round, lease_masters(e));
    e->counters.handoffs += given;
    if (given)
        histogram_add(&e->counters.queued, e->now - lease->asked_at);
    hold_lease(e, lease, lease->attempt->max_hold);
    if (given && !confirmed)
        lease->wake_at = renew_given(e, lease);
    else if (round->incomplete && lease->wake_at > e->now + COMPLETE_AFTER &&
             lease->wake_at != NEVER)
        lease->wake_at = e->now + COMPLETE_AFTER;
    holding_weigh(e, lease);
    if (is_further)
        lease_schedule(e, lease);
}

void acquiring_take_over(struct engine *e, struct lease *lease, enum lease_state state,
                         usec renew_at)
{
    lease->valid_until = claim_valid_until(e, lease->claim);
    lease->claim->handed += lease->claim->handed < HANDED_COUNT_MAX;
    lease_become(lease, state);
    histogram_add(&e->counters.queued, e->now - lease->asked_at);
    hold_lease(e, lease, lease->attempt->max_hold);
    bool is_short = lease->valid_until < e->now + lease->terms.ttl / 2;
    if (is_short || !lease->terms.renew)
        lease->wake_at = renew_given(e, lease); /* to its full ttl */
    if (renew_at < lease->wake_at)
        lease->wake_at = renew_at;
    lease_schedule(e, lease);
}

/* A quorum has prolonged the lease; with a fence it must be a quorum of its basis. */
static enum verdict weigh_confirmed(const struct engine *e, const struct lease *lease)
{
    bool is_short = e->now >= fencing_valid_until(e, lease) - lease->terms.margin;
    return is_short && fencing_may_be_confirmed(e, lease) ? VERDICT_PENDING : VERDICT_WON;
}

/* A master that is yet to be heard may show that others refuse our list. */
static bool awaits_masters(const struct engine *e, const struct lease *lease)
{
    return agreement_may_turn(e) && round_undecided(lease->attempt->round, lease_masters(e));
}

void acquiring_weigh(struct engine *e, struct lease *lease)
{
    enum verdict verdict = round_verdict(lease->attempt->round, lease_masters(e), e->quorum);
    if (verdict == VERDICT_WON && awaits_masters(e, lease))
        return;
    if (verdict == VERDICT_WON && lease->terms.fence)
        verdict =
            lease->state == LEASE_CONFIRMING ? weigh_confirmed(e, lease) : fencing_weigh(e, lease);
    if (verdict == VERDICT_LOST && (place_ticket_may_come(e, lease->attempt) ||
                                    cause_may_come(e, lease) || agreement_awaits_ends(e)))
        return;
    switch (verdict) {
    case VERDICT_WON:
        win_round(e, lease);
        break;
    case VERDICT_LOST:
        fail_round(e, lease, why_failed(e, lease));
        break;
    case VERDICT_PENDING:
        break;
    }
}

void acquiring_weigh_failed(struct engine *e, struct lease *lease)
{
    if (round_undecided(lease->attempt->round, lease_masters(e)) == 0)
        end_round(e, lease);
}

void acquiring_unsay(struct engine *e, struct lease *lease)
{
    lease->untold = 0;
    lease->valid_until = 0;
    lease_set_fence(lease, 0);
    engine_list(e, &e->busy, lease);
    fail_round(e, lease, CAUSE_TOO_SLOW);
}

void acquiring_cancel(struct engine *e, struct lease *lease, enum cause cause)
{
    lease->untold = 0;
    lease->valid_until = 0;
    lease_set_fence(lease, 0);
    place_leave(e, lease);
    if (lease->claim && lease->attached)
        claim_forget(e, lease->claim);
    else if (lease->claim)
        claim_abandon(e, lease->claim, 0);
    claim_let_go(&lease->claim);
    lease_end(e, lease, OUTCOME_NOT_ACQUIRED, cause);
}
