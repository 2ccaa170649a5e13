#include "engine.h"
#include "lease_parts.h"
#include "line.h"
#include "mutant.h"

/* Others may wait elsewhere, so it goes back to the masters after so many handovers in
 * memory, but not before so long: holders of microseconds keep nobody waiting.  In any case
 * after HANDED_LAST, or some round trips: nobody waits for a row of long holds.  Unless the next
 * one is known to be first on the masters too. */
#define HANDED_MOST      100
#define HANDED_FIRST     MS(10)
#define HANDED_LAST      MS(50)
#define HANDED_TRIPS     4
#define HANDED_MOST_LAST MS(500)

/* Whoever came later than that after a place was drawn has no right to it: others may have
 * drawn theirs in between.  It draws one of its own. */
#define SHARES_PLACE MS(50)

/* So that nobody who comes later elsewhere is served before it. */
static bool needs_place(const struct engine *e, const struct lease *lease)
{
    return e->now > lease->round->line->drawn_at + SHARES_PLACE;
}

bool passing_enter(struct engine *e, struct lease *lease)
{
    if (!line_enter(e, lease))
        return false;
    if (waiting_is_first(lease) || needs_place(e, lease))
        return true;
    claim_forget(e, lease->claim); /* it has asked for nothing yet */
    claim_let_go(lease);
    lease->state = LEASE_WAITING;
    lease->wake_at = lease_wait_until(lease);
    return true;
}

/* It asks for a ticket, and may be granted the name at once. */
static bool is_asking(const struct lease *lease)
{
    return lease->claim && lease->state == LEASE_ACQUIRING && lease->round->kind == REQUEST_GRANT &&
           !lease->round->decided;
}

/* The place is the one that the masters know, or are being asked for. */
static bool shares_place(const struct lease *from, const struct lease *to)
{
    const struct round *round = from->round;
    usec drawn_at = round->ticket ? round->drawn_at : round->asked_at;
    return to->asked_at <= drawn_at + SHARES_PLACE || MUTANT(PLACE_FOR_EVER);
}

/* What is granted to who asks lasts for his own ttl.  What was asked before the lease was
 * is no fence for it: holders that it knows of may have come in between. */
static bool can_pass_place(const struct lease *from, const struct lease *to)
{
    if (to->terms.fence || to->claim || !shares_place(from, to))
        return false;
    if (from->state == LEASE_WAITING)
        return waiting_is_queued(from);
    return is_asking(from) && from->terms.ttl == to->terms.ttl;
}

/* Who stands behind takes over the place on the masters, tokens and all. */
static void pass_place(struct engine *e, struct lease *from, struct lease *to)
{
    to->state = from->state;
    to->rounds++;
    round_copy(to->round, from->round, lease_masters(e));
    to->round->ticket = from->round->ticket;
    to->round->drawn_at = from->round->drawn_at;
    to->round->aside = from->round->aside;
    to->round->aside_until = from->round->aside_until;
    to->round->outranked = from->round->outranked;
    to->round->outranked_until = from->round->outranked_until;
    to->claim = from->claim;
    to->claim->lease = to;
    from->claim = NULL;
    to->wake_at = from->wake_at;
    waiting_wake_by(to, lease_wait_until(to));
    lease_schedule(e, to);
}

/* Without the token that stands there. */
static void pass_ticket(const struct lease *from, struct lease *to)
{
    if (to->round->ticket || to->claim || !shares_place(from, to))
        return;
    to->round->ticket = from->round->ticket;
    to->round->drawn_at = from->round->drawn_at;
}

void passing_leave(struct engine *e, struct lease *lease)
{
    if (!lease->round || !lease->round->line)
        return;
    struct lease *next = lease->round->behind;
    bool was_first = waiting_is_first(lease);
    line_leave(e, lease);
    if (!next || e->closing || e->misconfigured)
        return;
    if (was_first && can_pass_place(lease, next)) {
        pass_place(e, lease, next);
        return;
    }
    if (lease->state == LEASE_WAITING)
        pass_ticket(lease, next);
    if (was_first) {
        next->wake_at = e->now;
        lease_schedule(e, next);
    }
}

/* Where the masters are far away each way by them costs so much that more must go before it. */
static usec handed_at_most(const struct engine *e)
{
    usec trips[MASTERS_MAX];
    for (unsigned i = 0; i < lease_masters(e); i++)
        trips[i] = e->masters[i].round_trip;
    usec far = HANDED_TRIPS * quorum_reached(trips, lease_masters(e));
    return far < HANDED_LAST ? HANDED_LAST : far < HANDED_MOST_LAST ? far : HANDED_MOST_LAST;
}

static bool was_handed_enough(const struct engine *e, const struct claim *claim)
{
    usec handed_for = e->now - claim->taken_at;
    if (handed_for >= handed_at_most(e) && !MUTANT(HANDED_ON_AND_ON))
        return true;
    return claim->handed >= HANDED_MOST && handed_for >= HANDED_FIRST;
}

/* The next in line can have this very claim: no fence of its own, and enough left. */
static bool can_take_over(const struct engine *e, const struct lease *holder,
                          const struct lease *next)
{
    usec end = claim_valid_until(e, holder->claim);
    return (next->state == LEASE_WAITING || is_asking(next)) && !next->terms.fence &&
           !holder->claim->foreign && e->now < end - next->terms.margin;
}

/* With the question under way, if there is one: what is said to it counts. */
static void give_claim(struct engine *e, struct lease *holder, struct lease *next)
{
    next->claim = holder->claim;
    next->claim->lease = next;
    holder->claim = NULL;
    if (holder->round) {
        round_copy(next->round, holder->round, lease_masters(e));
        engine_give_round(e, holder->round);
        holder->round = NULL;
    } else {
        round_begin(next->round, lease_masters(e), REQUEST_RENEW, 0, 0);
        next->round->decided = true;
    }
    acquiring_take_over(e, next, holder->wake_at);
}

bool passing_hand_over(struct engine *e, struct lease *holder)
{
    struct line *line = e->closing ? NULL : line_of(e, holder->claim->names);
    struct lease *next = line ? line->first : NULL;
    if (!next || !can_take_over(e, holder, next) ||
        (was_handed_enough(e, holder->claim) && !waiting_is_next(e, next)))
        return false;
    struct lease *behind = next->round->behind;
    if (next->claim && !(behind && can_pass_place(next, behind))) {
        claim_abandon(e, next->claim, 0);
        claim_let_go(next);
    }
    passing_leave(e, next);
    e->counters.released++;
    e->counters.handed_here++;
    give_claim(e, holder, next);
    holder->valid_until = 0;
    holder->extending = false;
    holder->untold &= (uint16_t)~WHILE_HELD;
    lease_end(e, holder, OUTCOME_RELEASED, CAUSE_NONE);
    return true;
}
