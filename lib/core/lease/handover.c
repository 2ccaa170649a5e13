#include "lease/lease_parts.h"
#include "lease/local_queue.h"

/* Other clients may wait, so the names go back to the masters after HANDED_MOST handovers in
 * memory, but not before HANDED_FIRST: holders of microseconds keep nobody waiting.  They go back
 * in any case after HANDED_LAST, or some round trips, so that nobody waits for a row of long holds.
 * The one exception: the next waiter is known to be first on the masters too.  A user that says how
 * long has said it for all of these cases. */
#define HANDED_MOST      100
#define HANDED_FIRST     MS(10)
#define HANDED_LAST      MS(50)
#define HANDED_TRIPS     4
#define HANDED_MOST_LAST MS(500)

/* Where the masters are far away, a handover by them costs more, so more handovers in memory go
 * before it. */
static usec handed_at_most(const struct engine *e)
{
    usec far = HANDED_TRIPS * master_quorum_trip(e);
    if (e->config.local_turn)
        return e->config.local_turn;
    return far < HANDED_LAST ? HANDED_LAST : far < HANDED_MOST_LAST ? far : HANDED_MOST_LAST;
}

static bool was_handed_enough(const struct engine *e, const struct claim *claim)
{
    usec handed_for = e->now - claim->taken_at;
    if (handed_for >= handed_at_most(e))
        return true;
    bool are_many = claim->handed >= HANDED_MOST && handed_for >= HANDED_FIRST;
    return are_many && !e->config.local_turn;
}

/* The next waiter can have this very claim: it asks for no fence, and enough validity is left. */
static bool can_take_over(const struct engine *e, const struct lease *holder,
                          const struct lease *next)
{
    usec end = claim_valid_until(e, holder->claim);
    return (lease_is_waiting(next) || place_is_asked_for(next)) && next->place != PLACE_STRANDED &&
           !next->terms.fence && !holder->claim->foreign && e->now < end - next->terms.margin;
}

/* Of those that wait for permits each asks for itself, and the first one may be about to have its
 * own. */
static struct lease *next_for_slot(const struct engine *e, const struct lease *holder,
                                   const struct local_queue *queue)
{
    struct lease *next = queue->first;
    while (next && (!can_take_over(e, holder, next) || !permits_may_have(next, holder->claim)))
        next = next->attempt->behind;
    return next;
}

static struct lease *next_waiter(const struct engine *e, const struct lease *holder)
{
    const struct local_queue *queue = local_queue_of(e, holder->claim->names);
    if (!queue)
        return NULL;
    if (local_queue_is_of_permits(queue))
        return was_handed_enough(e, holder->claim) ? NULL : next_for_slot(e, holder, queue);
    bool may = can_take_over(e, holder, queue->first) &&
               (!was_handed_enough(e, holder->claim) || place_is_next(e, queue->first));
    return may ? queue->first : NULL;
}

/* A question of an enqueued lease is asked again for the same life, and its answers count as if the
 * new lease had asked it. */
static void give_question(struct attempt *from, struct attempt *to)
{
    struct round *former = to->round;
    to->round = from->round;
    from->round = former;
    to->renewed_from = from->renewed_from;
    to->place.life = from->place.life;
    to->place.refreshed_at = from->place.refreshed_at;
    to->place.early = from->place.early;
    to->place.minority_since = from->place.minority_since;
}

/* The question under way goes along, if there is one: its answers count for the next lease. */
static void give_claim(struct engine *e, struct lease *holder, struct lease *next)
{
    claim_pass(&holder->claim, &next->claim);
    claim_shorten(e, next->claim, next->terms.ttl);
    if (lease_round(holder))
        give_question(holder->attempt, next->attempt);
    else if (lease_round(next))
        attempt_open(next->attempt, lease_masters(e), REQUEST_RENEW, 0, 0);
    if (holder->attempt)
        attempt_give(e, holder->attempt);
    holder->attempt = NULL;
    acquiring_take_over(e, next, (enum lease_state)holder->state, holder->wake_at);
}

bool handover_give(struct engine *e, struct lease *holder)
{
    /* Where it is shared, or was, the masters hand it over. */
    bool is_shared = names_any_shared(holder->claim->names) || lease_was_changed(holder);
    bool nobody_waits = !e->waiters || e->closing || is_shared;
    struct lease *next = nobody_waits ? NULL : next_waiter(e, holder);
    if (!next)
        return false;
    struct lease *behind = holder->claim->names->slot ? NULL : next->attempt->behind;
    if (next->claim && !(behind && place_prepare_to_pass(e, next, behind))) {
        claim_abandon(e, next->claim, 0);
        claim_let_go(&next->claim);
    }
    place_leave(e, next);
    e->counters.released++;
    e->counters.handed_here++;
    give_claim(e, holder, next);
    holder->extending = false;
    holder->untold &= (uint16_t)~WHILE_HELD;
    lease_end(e, holder, OUTCOME_RELEASED, CAUSE_NONE);
    return true;
}
