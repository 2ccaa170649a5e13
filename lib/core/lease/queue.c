#include "lease/further.h"
#include "lease/lease_parts.h"
#include "lease/local_queue.h"
#include "masters/subscription.h"
#include "masters/logical.h"

#define EAGER_LEAST   MS(5) /* a minority was given: is the rest, too? */
#define EAGER_MOST    MS(10)
#define EXPIRED       MS(2) /* the masters expire keys no more exactly than that */
#define EARLY_FREE    4
#define EARLY_SLOWEST 9 /* doublings: longer than between two refreshes that are not early */
#define AGAIN         MS(100)

/* A silent master may hear us all the same, and hand over without our hearing of it: no place is
 * prolonged there. */
static void ask_master(struct engine *e, struct lease *lease, unsigned master)
{
    struct ballot *ballot = &lease->attempt->round->ballots[master];
    if (ballot->state == BALLOT_ASKED || minority_avoids(lease->attempt) & BIT(master) ||
        master_is_silent(e, &e->masters[master]))
        return;
    ballot->again = false;
    if (master_may_grant(e, &e->masters[master]))
        lease_ask(e, lease, master, false);
    else if (ballot->vote != VOTE_GRANTED)
        lease_vote_unasked(e, lease, master);
}

/* A refresh that is not early makes up for all early ones; where one comes each 50 to 100 ms, for
 * one of them.  Otherwise a single master that says again and again that its holder is about to end
 * would have all masters asked 70 times a second. */
static void count_refresh(const struct engine *e, struct queue_place *place, usec often,
                          bool looks_often)
{
    unsigned forgiven = looks_often && place->early ? 1 : place->early;
    bool is_early = place->refreshed_at && e->now < place->refreshed_at + often / 2;
    place->early = is_early ? place->early + 1 : place->early - forgiven;
    place->refreshed_at = e->now;
}

/* Without the masters where another library holds the names, and where we are the next waiter, no
 * quorum is left.  That library hands over to nobody, and its clients try again and again. */
static bool is_held_by_another_library(const struct engine *e, const struct round *round)
{
    unsigned foreign = 0;
    for (unsigned i = 0; i < lease_masters(e); i++) {
        const struct ballot *ballot = &round->ballots[i];
        foreign += ballot->vote == VOTE_HELD && ballot->foreign && !ballot->position;
    }
    return foreign > lease_masters(e) - e->quorum;
}

/* Each refresh doubles as a try, and finds what a lost push would have told. */
static void refresh(struct engine *e, struct lease *lease)
{
    usec often = lease->attempt->place.life / 3, least = often - often / 8;
    bool looks_often = is_held_by_another_library(e, lease->attempt->round) && often > AGAIN;
    if (looks_often) {
        often = AGAIN;
        least = AGAIN / 2;
    }
    count_refresh(e, &lease->attempt->place, often, looks_often);
    lease->wake_at = e->now + engine_jitter(e, least, often);
    if (minority_look_at(lease->attempt) > e->now)
        lease_wake_by(lease, minority_look_at(lease->attempt));
    minority_comes_back(e, lease->attempt);
    subscription_keep(e);
    for (unsigned i = 0; i < lease_masters(e); i++)
        ask_master(e, lease, i);
}

/* `same`: for a mutant, the claim whose token is used again; else NULL. */
static void enqueue(struct engine *e, struct lease *lease, const struct claim *same)
{
    struct attempt *attempt = lease->attempt;
    if (!lease_make_room(e, lease) || !claim_new(e, &lease->claim, attempt->names, NULL, 0)) {
        lease->wake_at = e->now + AGAIN;
        return;
    }
    if (same)
        claim_copy_token(e, lease->claim, same);
    else
        claim_fresh_token(e, lease->claim);
    claim_enqueue(e, lease->claim);
    attempt_open(attempt, lease_masters(e), REQUEST_QUEUE, engine_next_round(e), 0);
    attempt->place.life = queue_life(lease);
    lease_become(lease, LEASE_QUEUED);
    refresh(e, lease);
}

/* The first of the local queue is enqueued, or asks for a ticket.  It does so only when its own
 * timer fires: many leases may become the first at once, and each needs random bytes. */
static void contend(struct engine *e, struct lease *lease)
{
    if (!lease->attempt->place.ticket)
        acquiring_again(e, lease);
    else if (minority_reaches_quorum(e, 0))
        enqueue(e, lease, NULL);
    else
        minority_stay_away(e, lease);
}

/* ---- what the masters say --------------------------------------------------------- */

/* Grants, and the rest of a holder's time, are a master's word, which it may repeat for ever.  So
 * after a few early refreshes in vain each pause is twice as long, until a refresh is not early. */
static usec pause_of_place(const struct queue_place *place)
{
    unsigned in_vain = place->early < EARLY_FREE ? 0 : place->early - EARLY_FREE;
    return EXPIRED << (in_vain < EARLY_SLOWEST ? in_vain : EARLY_SLOWEST);
}

static void refresh_by(struct lease *lease, usec at)
{
    usec earliest = lease->attempt->place.refreshed_at + pause_of_place(&lease->attempt->place);
    lease_wake_by(lease, at > earliest ? at : earliest);
}

static void note_grant(struct engine *e, struct lease *lease, unsigned master, usec clock)
{
    struct attempt *attempt = lease->attempt;
    struct ballot *ballot = &attempt->round->ballots[master];
    if (ballot->vote != VOTE_GRANTED) {
        refresh_by(lease, e->now + engine_jitter(e, EAGER_LEAST, EAGER_MOST));
        attempt->place.minority_since = e->now;
        attempt->place.withdrawn = 0; /* the holder may have gone */
    }
    ballot->vote = VOTE_GRANTED;
    ballot->ahead = false;
    ballot->clock = clock;
    ballot->text = TEXT_NONE;
}

/* The refresh is due when a quorum of masters is rid of the holder, unless it renews.  Where
 * another library holds the names it is due when the first master is rid: the tries of that library
 * take free masters one by one. */
static void await_expiry(struct engine *e, struct lease *lease)
{
    usec left[MASTERS_MAX];
    unsigned ours = 0;
    for (unsigned i = 0; i < lease_masters(e); i++) {
        const struct ballot *ballot = &lease->attempt->round->ballots[i];
        bool next = ballot->vote == VOTE_HELD && ballot->position == 0;
        bool is_ours = ballot->vote == VOTE_GRANTED || lease->attempt->place.withdrawn & BIT(i);
        left[i] = is_ours                             ? 0
                  : next && ballot->remaining_ms >= 0 ? -MS(ballot->remaining_ms)
                                                      : -TTL_MS_MOST * 1000;
        ours += is_ours;
    }
    bool is_foreign = is_held_by_another_library(e, lease->attempt->round);
    unsigned rank = is_foreign ? ours + 1 : e->quorum;
    refresh_by(lease, e->now - quorum_ranked(left, lease_masters(e), rank) + EXPIRED);
}

/* The master handed over after the last refresh that it answered, or its answer would have said so.
 * The promise is dated from that refresh, however long the push was on its way.  A push may
 * overtake the answer to the first refresh, on another connection: then that answer is awaited.
 * Both must come from one process: another one at that address may have forgotten the present
 * holder, abstain without our knowing, and remember our place from its predecessor. */
static void take_handover(struct engine *e, struct lease *lease, unsigned master, usec clock)
{
    struct ballot *ballot = &lease->attempt->round->ballots[master];
    usec from = ballot->refreshed_at;
    bool is_old = clock <= ballot->clock;
    if (is_old || !subscription_is_to_same_process(e, master) ||
        !master_may_grant(e, &e->masters[master]))
        return;
    if (!logical_hear(e, master, clock) && lease->terms.fence)
        return;
    if (!from) {
        ballot->pushed = clock; /* saves a refresh */
        return;
    }
    fencing_notice(e, lease, master);
    claim_note_promise(e, lease->claim, master, from, lease->attempt->place.life, lease->terms.ttl);
    ballot->state = BALLOT_CLOSED;
    note_grant(e, lease, master, clock);
    e->counters.pushes++;
}

static void take_early_push(struct engine *e, struct lease *lease, unsigned master)
{
    struct ballot *ballot = &lease->attempt->round->ballots[master];
    usec clock = ballot->pushed;
    ballot->pushed = 0;
    if (clock)
        take_handover(e, lease, master, clock);
}

/* Refreshes become frequent when another library is known to be the holder. */
static void look_often(struct engine *e, struct lease *lease, struct ballot *ballot, bool foreign)
{
    bool knew = is_held_by_another_library(e, lease->attempt->round);
    ballot->foreign = foreign;
    if (!knew && is_held_by_another_library(e, lease->attempt->round))
        lease_wake_by(lease, e->now + engine_jitter(e, AGAIN / 2, AGAIN));
}

/* A refresh that was carried out before the grant says nothing about now. */
static void hear_queued(struct engine *e, struct lease *lease, unsigned master,
                        const struct reply *reply)
{
    struct ballot *ballot = &lease->attempt->round->ballots[master];
    logical_hear(e, master, reply->clock); /* believed or not: here it only tells what came first */
    if (reply->clock < ballot->clock)      /* a later grant is not given up for this */
        return;
    ballot->vote = VOTE_HELD;
    ballot->text = TEXT_NONE; /* the answer does not name the holder */
    ballot->clock = reply->clock;
    ballot->refreshed_at = reply->tag.sent_at;
    ballot->remaining_ms = reply->queue.remaining_ms;
    ballot->position = reply->queue.position;
    look_often(e, lease, ballot, reply->queue.foreign);
    permits_note_told(e, lease, master, &reply->queue.slots);
    lease->claim->at[master].promise = 0; /* already over: the answer only says so */
    take_early_push(e, lease, master);
    await_expiry(e, lease);
}

void queue_hear(struct engine *e, struct lease *lease, unsigned master, const struct reply *reply)
{
    struct ballot *ballot = &lease->attempt->round->ballots[master];
    bool is_last = reply->tag.sent_at == ballot->asked_at; /* no later request was sent */
    if (is_last)
        ballot->state = BALLOT_CLOSED;
    switch (reply->answer) {
    case ANSWER_YES:
    case ANSWER_AHEAD:
        if (!logical_hear(e, master, reply->clock) && lease->terms.fence) {
            ballot->vote = VOTE_REFUSED;
            break;
        }
        ballot->refreshed_at = 0;
        e->counters.found += ballot->vote != VOTE_GRANTED;
        note_grant(e, lease, master, reply->clock);
        ballot->ahead = reply->answer == ANSWER_AHEAD;
        if (!ballot->ahead)
            lease->attempt->ahead_alone &= (uint16_t)~BIT(master);
        break;
    case ANSWER_QUEUED:
        hear_queued(e, lease, master, reply);
        break;
    default: /* the master keeps what it gave; no later push can be dated */
        ballot->refreshed_at = 0;
        if (ballot->vote != VOTE_GRANTED)
            recording_take(e, lease, master, reply);
    }
}

void queue_forget_process(struct lease *lease, unsigned master)
{
    if (!lease_is_queued(lease))
        return;
    lease->attempt->round->ballots[master].refreshed_at = 0;
    lease->attempt->round->ballots[master].pushed = 0;
}

/* ---- weighing ------------------------------------------------------------------------ */

/* A grant whose time is over does not count, though no master took it back. */
static void forget_what_is_over(const struct engine *e, struct lease *lease)
{
    for (unsigned i = 0; i < lease_masters(e); i++) {
        struct ballot *ballot = &lease->attempt->round->ballots[i];
        if (ballot->vote == VOTE_GRANTED && lease->claim->at[i].promise <= e->now)
            ballot->vote = VOTE_NOTHING;
    }
}

static void weigh_minority(struct engine *e, struct lease *lease)
{
    minority_weigh(e, lease);
}

void queue_weigh(struct engine *e, struct lease *lease)
{
    forget_what_is_over(e, lease);
    unsigned has = round_yes(lease->attempt->round, lease_masters(e));
    if (!has)
        lease->attempt->place.minority_since = 0;
    if (has >= e->quorum) {
        lease_become(lease, LEASE_GATHERING);
        acquiring_weigh(e, lease);
    } else {
        weigh_minority(e, lease);
    }
}

void queue_push(struct engine *e, unsigned master, const struct push *push)
{
    struct claim *claim = claim_enqueued(e, push->token);
    struct lease *lease = claim ? lease_of_claim(claim) : NULL;
    if (!lease || !lease_is_queued(lease))
        return;
    if (!push->clock) {
        permits_hint(e, lease, push->free_slot);
        return;
    }
    take_handover(e, lease, master, push->clock ? push->clock : NEVER);
    if (lease->state == LEASE_QUEUED)
        queue_weigh(e, lease);
    else
        acquiring_weigh(e, lease);
    lease_schedule(e, lease);
}

/* ---- time ------------------------------------------------------------------------------- */

/* A waiter that no quorum has refused yet tries once more. */
static void end_wait(struct engine *e, struct lease *lease)
{
    if (lease->attempt->place.ticket || !place_is_first(lease))
        acquiring_end_wait(e, lease);
    else
        acquiring_again(e, lease);
}

static bool end_wait_if_over(struct engine *e, struct lease *lease)
{
    bool is_over = e->now >= lease_wait_until(lease);
    if (is_over)
        end_wait(e, lease);
    return is_over;
}

/* A minority is of no use while no quorum is within reach.  This is tested when time has passed,
 * not with each answer: after a stop of the process, more answers may be there to be read. */
static bool give_back_if_cut_off(struct engine *e, struct lease *lease)
{
    bool has_some = round_yes(lease->attempt->round, lease_masters(e));
    bool is_cut_off = has_some && !minority_reaches_quorum(e, 0);
    if (is_cut_off)
        minority_stay_away(e, lease);
    return is_cut_off;
}

void queue_wake_outside(struct engine *e, struct lease *lease)
{
    if (e->now < lease->wake_at)
        return;
    if (lease->place == PLACE_STRANDED) {
        acquiring_cancel(e, lease, e->misconfigured);
        return;
    }
    if (permits_take_try(lease)) {
        acquiring_again(e, lease);
        return;
    }
    if (end_wait_if_over(e, lease))
        return;
    if (place_is_first(lease)) {
        contend(e, lease);
    } else {
        lease_become(lease, LEASE_BEHIND);
        lease->wake_at = lease_wait_until(lease);
    }
    lease_wake_by(lease, lease_wait_until(lease));
}

void queue_wake(struct engine *e, struct lease *lease)
{
    if (give_back_if_cut_off(e, lease)) {
        queue_wake_outside(e, lease);
        return;
    }
    if (e->now < lease->wake_at || end_wait_if_over(e, lease))
        return;
    if (masters_may_grant(e)) /* if they are silent for a moment, it stays enqueued */
        refresh(e, lease);
    else
        minority_stay_away(e, lease);
    lease_wake_by(lease, lease_wait_until(lease));
}

void lease_look_again(struct engine *e, struct lease *lease, unsigned master)
{
    if (lease->state != LEASE_QUEUED)
        return;
    ask_master(e, lease, master);
    lease_schedule(e, lease);
}

void queue_master_up(struct engine *e, struct lease *lease)
{
    bool stays_away = lease->state == LEASE_PAUSING && place_is_first(lease);
    if (!stays_away || !lease->attempt->place.ticket ||
        e->now < lease->attempt->yielded_at + YIELD_PAUSE_LAST)
        return;
    lease_wake_by(lease, e->now + engine_jitter(e, 0, EAGER_LEAST));
    lease_schedule(e, lease);
}
