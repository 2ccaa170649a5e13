#include "lease/lease_parts.h"

#define HANDOVER_MOST MS(100) /* a handover would have given the rest by then */
#define YIELD_BY      MS(5)
#define PAUSE_FIRST   MS(10)   /* after the second time */
#define CALM          MS(1000) /* after that long without yielding, the pauses begin anew */

/* ---- what is of no use is given back ---------------------------------------------- */

/* Gives back what the waiter has, and ends its place: the release of the token is on its way, so
 * the token must never be granted again. */
static void withdraw_waiter(struct engine *e, struct lease *lease)
{
    claim_abandon(e, lease->claim, 0);
    claim_let_go(&lease->claim);
    place_note_answers(e, lease->attempt);
    round_close(lease->attempt->round, lease_masters(e));
    lease_become(lease, LEASE_PAUSING);
}

void minority_stay_away(struct engine *e, struct lease *lease)
{
    if (lease->claim)
        withdraw_waiter(e, lease);
    lease->wake_at = e->now + engine_jitter(e, queue_life(lease) / 16, queue_life(lease) / 8);
    lease_wake_by(lease, lease_wait_until(lease));
}

/* The first time there is no pause.  A waiter that must give back again and again, by whatever
 * masters say, asks ever less often. */
usec minority_pause(struct engine *e, const struct lease *lease)
{
    struct attempt *attempt = lease->attempt;
    if (e->now > attempt->yielded_at + CALM)
        attempt->yields = 0;
    attempt->yielded_at = e->now;
    unsigned before = attempt->yields;
    attempt->yields += attempt->yields < UINT8_MAX;
    if (!before)
        return 0;
    usec longest = before < 6 ? PAUSE_FIRST << (before - 1) : YIELD_PAUSE_LAST;
    return engine_jitter(e, longest / 2, longest < YIELD_PAUSE_LAST ? longest : YIELD_PAUSE_LAST);
}

void minority_yield(struct engine *e, struct lease *lease)
{
    e->counters.yields++;
    withdraw_waiter(e, lease);
    lease->wake_at = e->now + minority_pause(e, lease);
    lease_wake_by(lease, lease_wait_until(lease));
}

/* ---- whether it is of use --------------------------------------------------------- */

usec minority_look_at(const struct attempt *attempt)
{
    usec wait = attempt->place.life / 4 < HANDOVER_MOST ? attempt->place.life / 4 : HANDOVER_MOST;
    return attempt->place.minority_since ? attempt->place.minority_since + wait : NEVER;
}

bool minority_reaches_quorum(const struct engine *e, uint16_t without)
{
    unsigned reached = 0;
    for (unsigned i = 0; i < lease_masters(e); i++)
        reached += !(without & BIT(i)) && master_may_grant(e, &e->masters[i]) &&
                   !master_is_silent(e, &e->masters[i]);
    return reached >= e->quorum;
}

uint16_t minority_avoids(const struct attempt *attempt)
{
    return attempt->place.withdrawn | attempt->place.outranked;
}

void minority_comes_back(const struct engine *e, struct attempt *attempt)
{
    if (e->now >= attempt->place.withdrawn_until)
        attempt->place.withdrawn = 0;
    if (e->now >= attempt->place.outranked_until)
        attempt->place.outranked = 0;
    if (!minority_reaches_quorum(e, minority_avoids(attempt)))
        attempt->place.withdrawn = attempt->place.outranked = 0;
}

/* The masters that gave us the names, and say that another waiter is ahead. */
static uint16_t those_with_others_ahead(const struct engine *e, const struct round *round)
{
    uint16_t ahead = 0;
    for (unsigned i = 0; i < lease_masters(e); i++)
        if (round->ballots[i].ahead && round->ballots[i].vote == VOTE_GRANTED)
            ahead |= BIT(i);
    return ahead;
}

static unsigned how_many(uint16_t masters)
{
    unsigned count = 0;
    for (; masters; masters &= (uint16_t)(masters - 1))
        count++;
    return count;
}

/* No more masters than may be wrong; a single one may always be. */
static bool may_all_be_wrong(const struct engine *e, uint16_t masters)
{
    unsigned spare = e->config.spare > 1 ? e->config.spare : 1;
    return how_many(masters) <= spare;
}

/* The other masters are heard first: they may make up a quorum, or say the same.  But the names are
 * not kept for longer from a waiter that is ahead.  If no more masters than may be wrong say so,
 * keeping these hinders no quorum, and there is time until the rest would have been handed over. */
static bool has_heard_the_others(const struct engine *e, const struct attempt *attempt,
                                 uint16_t ahead)
{
    if (how_many(ahead) <= e->config.spare)
        return e->now >= minority_look_at(attempt);
    return round_undecided(attempt->round, lease_masters(e)) == 0 ||
           e->now >= attempt->place.minority_since + YIELD_BY;
}

/* Masters that say so again and again, while no others do, are left to the waiters there: the
 * masters may lie, or these waiters reach no others. */
static void yield_to(struct engine *e, struct lease *lease, uint16_t ahead)
{
    struct attempt *attempt = lease->attempt;
    bool are_few = may_all_be_wrong(e, ahead);
    uint16_t again = attempt->ahead_alone & ahead;
    if (are_few && again && minority_reaches_quorum(e, minority_avoids(attempt) | again)) {
        attempt->place.outranked |= again;
        attempt->place.outranked_until = e->now + attempt->place.life;
    }
    if (are_few)
        attempt->ahead_alone |= ahead;
    minority_yield(e, lease);
}

/* The master says "held" after the rest would have been handed over to us, or it says that other
 * waiters are ahead of us there.  Another library heals nothing, and its tries may keep a minority
 * until their ttl is over: no waiter makes way for it. */
static bool keeps(const struct attempt *attempt, const struct ballot *ballot)
{
    bool is_sure = ballot->position > 0
                       ? ballot->refreshed_at > attempt->place.minority_since
                       : !ballot->foreign && ballot->refreshed_at >= minority_look_at(attempt);
    return ballot->vote == VOTE_HELD && is_sure && attempt->place.minority_since;
}

/* Without the masters that another one keeps, no quorum is left. */
static bool is_kept_by_another(const struct engine *e, const struct attempt *attempt)
{
    unsigned held = 0;
    for (unsigned i = 0; i < lease_masters(e); i++)
        held += keeps(attempt, &attempt->round->ballots[i]);
    return held > lease_masters(e) - e->quorum;
}

/* By then the holder of the rest has renewed and tried to heal, or is gone: no ttl is longer,
 * whatever a master says. */
static usec holder_renews_by(const struct engine *e, const struct round *round)
{
    int64_t told[MASTERS_MAX];
    unsigned count = 0;
    for (unsigned i = 0; i < lease_masters(e); i++) {
        const struct ballot *ballot = &round->ballots[i];
        bool is_sane = ballot->remaining_ms >= 0 && ballot->remaining_ms < e->max_ttl_ms;
        if (ballot->vote == VOTE_HELD)
            told[count++] = is_sane ? ballot->remaining_ms : e->max_ttl_ms;
    }
    return e->now + MS(quorum_vouched(told, count, e->config.spare));
}

/* Masters that came back without the holder's lease gave the names to a waiter; the holder wants to
 * heal there. */
static void make_way(struct engine *e, struct lease *lease)
{
    struct attempt *attempt = lease->attempt;
    uint16_t ours = 0;
    for (unsigned i = 0; i < lease_masters(e); i++)
        if (attempt->round->ballots[i].vote == VOTE_GRANTED)
            ours |= BIT(i);
    if (!minority_reaches_quorum(e, minority_avoids(attempt) | ours))
        return;
    attempt->place.withdrawn = ours;
    attempt->place.withdrawn_until = holder_renews_by(e, attempt->round);
    minority_yield(e, lease);
}

void minority_weigh(struct engine *e, struct lease *lease)
{
    uint16_t ahead = those_with_others_ahead(e, lease->attempt->round);
    if (ahead && has_heard_the_others(e, lease->attempt, ahead))
        yield_to(e, lease, ahead);
    else if (is_kept_by_another(e, lease->attempt))
        make_way(e, lease);
}
