#include "lease/further.h"
#include "lease/lease_parts.h"
#include "lease/local_queue.h"

/* A waiter that came later than that after a place was drawn has no right to it, for other clients
 * may have drawn theirs in between.  It draws its own. */
#define SHARES_PLACE MS(50)

/* Where a lease goes on in memory for a shorter time, no place passes others for longer. */
static usec shares_place_for(const struct engine *e)
{
    usec turn = e->config.local_turn;
    return turn && turn < SHARES_PLACE ? turn : SHARES_PLACE;
}

bool place_is_first(const struct lease *lease)
{
    const struct local_queue *queue = lease->attempt->queue;
    return !queue || queue->first == lease || local_queue_is_of_permits(queue);
}

/* ---- what the masters said last ------------------------------------------------------ */

struct lease *place_asker(struct lease *lease)
{
    return place_is_first(lease) ? lease : lease->attempt->queue->first;
}

void place_note_answers(const struct engine *e, struct attempt *attempt)
{
    for (unsigned i = 0; i < lease_masters(e); i++) {
        unsigned vote = attempt->round->ballots[i].vote;
        if (vote == VOTE_HELD || vote == VOTE_GRANTED)
            attempt->place.answering |= BIT(i);
        else if (vote != VOTE_NOTHING)
            attempt->place.answering &= (uint16_t)~BIT(i);
    }
}

/* It votes, and does not hang. */
static bool counts_as_voter(const struct engine *e, unsigned master)
{
    const struct master *it = &e->masters[master];
    return master_may_grant(e, it) && !master_is_silent(e, it);
}

bool place_find_holder(const struct engine *e, struct lease *lease)
{
    struct lease *first = place_asker(lease);
    struct attempt *attempt = first->attempt;
    unsigned answered = 0;
    if (first->claim) /* else they were noted when its last round was over */
        place_note_answers(e, attempt);
    for (unsigned i = 0; i < lease_masters(e); i++)
        answered += attempt->place.answering & BIT(i) && counts_as_voter(e, i);
    return answered >= e->quorum;
}

void place_tell_answers(struct engine *e, struct lease *lease)
{
    const struct lease *first = place_asker(lease);
    struct round *round = lease->attempt->round;
    if (first != lease && lease_round(first))
        round_copy(round, lease_round(first), &e->memory, lease_masters(e));
    for (unsigned i = 0; i < lease_masters(e); i++) {
        bool unheard =
            round->ballots[i].state == BALLOT_ASKED && round->ballots[i].vote == VOTE_NOTHING;
        if (unheard || master_is_silent(e, &e->masters[i]))
            round_vote(round, i, VOTE_TIMEOUT);
    }
}

/* ---- the ticket ------------------------------------------------------------------ */

/* Refusals and grants tell the logical clock, each a new number.  The largest of a quorum is above
 * the ticket of every waiter that was enqueued on a quorum before we asked. */
usec place_ticket(const struct engine *e, const struct round *round)
{
    unsigned told = 0;
    usec ticket = 0;
    for (unsigned i = 0; i < lease_masters(e); i++) {
        usec clock = round->ballots[i].clock;
        told += clock != 0;
        if (clock > ticket)
            ticket = clock;
    }
    return told >= e->quorum ? ticket : 0;
}

bool place_ticket_may_come(const struct engine *e, const struct attempt *attempt)
{
    const struct round *round = attempt->round;
    unsigned may_tell = round_undecided(round, lease_masters(e));
    for (unsigned i = 0; i < lease_masters(e); i++)
        may_tell += round->ballots[i].clock != 0;
    return round->kind == REQUEST_GRANT && attempt->wait && !attempt->place.ticket &&
           !place_ticket(e, round) && may_tell >= e->quorum;
}

/* ---- the place ----------------------------------------------------------------------- */

bool place_is_next(const struct engine *e, const struct lease *lease)
{
    unsigned first = 0;
    for (unsigned i = 0; lease_is_queued(lease) && i < lease_masters(e); i++) {
        const struct ballot *ballot = &lease->attempt->round->ballots[i];
        first += ballot->vote == VOTE_HELD && ballot->refreshed_at && !ballot->position;
    }
    return first >= e->quorum;
}

/* A lease that came late draws a place, so that no later waiter of another client is served before
 * it. */
static bool needs_place(const struct engine *e, const struct lease *lease)
{
    return e->now > lease->attempt->queue->drawn_at + shares_place_for(e);
}

bool place_enter(struct engine *e, struct lease *lease)
{
    if (!local_queue_enter(e, lease))
        return false;
    if (place_is_first(lease) || needs_place(e, lease))
        return true;
    claim_forget(e, lease->claim); /* the claim has asked for nothing yet */
    claim_let_go(&lease->claim);
    attempt_give_room(e, lease->attempt);
    lease_become(lease, LEASE_BEHIND);
    lease->wake_at = lease_wait_until(lease);
    return true;
}

bool place_is_asked_for(const struct lease *lease)
{
    return lease->state == LEASE_ASKING && lease->attempt->round->kind == REQUEST_GRANT;
}

/* The place is the one that the masters know, or are being asked for. */
static bool shares_place(const struct engine *e, const struct lease *from, const struct lease *to)
{
    const struct queue_place *place = &from->attempt->place;
    usec asked_at = lease_round(from) ? lease_round(from)->asked_at : 0;
    usec drawn_at = place->ticket ? place->drawn_at : asked_at;
    return to->asked_at <= drawn_at + shares_place_for(e);
}

/* A grant runs for the ttl of the lease that asked for it.  A fenced lease must send its own
 * request: an older one may predate another holder. */
bool place_prepare_to_pass(struct engine *e, const struct lease *from, struct lease *to)
{
    if (!from->claim || to->terms.fence || to->claim || !shares_place(e, from, to))
        return false;
    bool passes = from->state == LEASE_QUEUED ||
                  (place_is_asked_for(from) && from->terms.ttl == to->terms.ttl);
    return passes && lease_make_room(e, to);
}

/* The next waiter inherits the place on the masters, token and all. */
static void pass_place(struct engine *e, struct lease *from, struct lease *to)
{
    lease_become(to, from->state);
    to->rounds++;
    round_copy(to->attempt->round, from->attempt->round, &e->memory, lease_masters(e));
    to->attempt->place = from->attempt->place;
    claim_pass(&from->claim, &to->claim);
    claim_shorten(e, to->claim, to->terms.ttl);
    to->wake_at = from->wake_at;
    lease_wake_by(to, lease_wait_until(to));
    lease_schedule(e, to);
}

/* The next waiter inherits the ticket, but not the token that is enqueued. */
static void pass_ticket(const struct engine *e, const struct lease *from, struct lease *to)
{
    if (to->attempt->place.ticket || to->claim || !shares_place(e, from, to))
        return;
    to->attempt->place.ticket = from->attempt->place.ticket;
    to->attempt->place.drawn_at = from->attempt->place.drawn_at;
}

static void leave_queue(struct engine *e, struct lease *lease)
{
    struct lease *next = lease->attempt->behind;
    bool was_first = place_is_first(lease);
    bool for_itself = local_queue_is_of_permits(lease->attempt->queue);
    local_queue_leave(e, lease);
    if (!next || e->closing || e->misconfigured || for_itself)
        return;
    if (was_first && place_prepare_to_pass(e, lease, next)) {
        pass_place(e, lease, next);
        return;
    }
    if (lease_is_waiting(lease))
        pass_ticket(e, lease, next);
    if (was_first) {
        next->attempt->place.answering = lease->attempt->place.answering;
        if (next->state == LEASE_BEHIND)
            lease_become(next, LEASE_PAUSING);
        next->wake_at = e->now;
        lease_schedule(e, next);
    }
}

void place_leave(struct engine *e, struct lease *lease)
{
    const struct attempt *attempt = lease->attempt;
    if (!attempt)
        return;
    if (attempt->permit) /* it may wait outside of its queue: see acquiring_unsay() */
        further_withdraw(e, lease);
    if (attempt->queue)
        leave_queue(e, lease);
}

/* The first waiter of a local queue is enqueued for all of it.  It is known to be if a quorum that
 * may grant has answered. */
static bool is_place_known(const struct engine *e, const struct lease *first)
{
    unsigned known = 0;
    for (unsigned i = 0; lease_is_queued(first) && i < lease_masters(e); i++) {
        enum vote vote = (enum vote)first->attempt->round->ballots[i].vote;
        known += (vote == VOTE_HELD || vote == VOTE_GRANTED) && master_may_grant(e, &e->masters[i]);
    }
    return known >= e->quorum;
}

bool place_look(const struct engine *e, const struct lease *lease, unsigned *position,
                usec *expires)
{
    if (!lease_is_waiting(lease) || !lease->attempt->queue)
        return false;
    bool for_itself = local_queue_is_of_permits(lease->attempt->queue);
    const struct lease *first = for_itself ? lease : lease->attempt->queue->first;
    if (!is_place_known(e, first))
        return false;
    const struct round *round = first->attempt->round;
    usec before[MASTERS_MAX], left[MASTERS_MAX];
    unsigned count = 0;
    for (unsigned i = 0; i < lease_masters(e); i++) {
        const struct ballot *ballot = &round->ballots[i];
        if (ballot->vote != VOTE_HELD)
            continue;
        before[count] = ballot->position;
        left[count++] = ballot->remaining_ms;
    }
    int64_t longest = count ? quorum_vouched(left, count, e->config.spare) : -1;
    *position = (for_itself ? 0 : local_queue_position(lease)) +
                (unsigned)quorum_vouched(before, count, e->config.spare);
    *expires = longest < 0 ? NEVER : MS(longest);
    return true;
}
