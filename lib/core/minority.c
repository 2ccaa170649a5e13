#include "engine.h"
#include "lease_parts.h"
#include "mutant.h"

#define FEW_LONG MS(100) /* the rest would have been handed over by then */
#define YIELD_BY MS(5)

usec minority_look_at(const struct round *round)
{
    usec patience = round->life / 4 < FEW_LONG ? round->life / 4 : FEW_LONG;
    return round->few_since ? round->few_since + patience : NEVER;
}

bool minority_reaches_quorum(const struct engine *e, uint16_t without)
{
    unsigned reached = 0;
    for (unsigned i = 0; i < lease_masters(e); i++)
        reached += !(without & BIT(i)) && master_may_grant(e, &e->masters[i]) &&
                   !master_is_silent(e, &e->masters[i]);
    return reached >= e->quorum || (!without && MUTANT(CUT_OFF_STAYS));
}

bool minority_is_connected(const struct engine *e)
{
    unsigned connected = 0;
    for (unsigned i = 0; i < lease_masters(e); i++)
        connected += master_may_grant(e, &e->masters[i]);
    return connected >= e->quorum || MUTANT(CUT_OFF_STAYS);
}

uint16_t minority_avoids(const struct round *round)
{
    return round->aside | round->outranked;
}

void minority_comes_back(const struct engine *e, struct round *round)
{
    if (e->now >= round->aside_until)
        round->aside = 0;
    if (e->now >= round->outranked_until)
        round->outranked = 0;
    if (!minority_reaches_quorum(e, minority_avoids(round)))
        round->aside = round->outranked = 0;
}

/* The masters that gave us what somebody ahead of us waits for. */
static uint16_t those_with_others_ahead(const struct engine *e, const struct round *round)
{
    uint16_t ahead = 0;
    for (unsigned i = 0; i < lease_masters(e) && !MUTANT(NO_YIELD); i++)
        if (round->ballots[i].ahead && round->ballots[i].said == SAID_GRANTED)
            ahead |= BIT(i);
    return ahead;
}

/* The others may make up a quorum, or say the same; but what was given is not kept for longer from
 * somebody who is ahead. */
static bool has_heard_the_others(const struct engine *e, const struct round *round)
{
    return round_undecided(round, lease_masters(e)) == 0 || e->now >= round->few_since + YIELD_BY;
}

/* One that says so again and again, alone, is left to those who stand there: it may lie, or they
 * reach no other. */
static void yield_to(struct engine *e, struct lease *lease, uint16_t ahead)
{
    struct round *round = lease->round;
    bool is_alone = (ahead & (ahead - 1)) == 0;
    if (is_alone && round->ahead_alone & ahead &&
        minority_reaches_quorum(e, minority_avoids(round) | ahead)) {
        round->outranked |= ahead;
        round->outranked_until = e->now + round->life;
    }
    if (is_alone)
        round->ahead_alone |= ahead;
    waiting_yield(e, lease);
}

/* It says so after the rest would have been handed over to us; or that others are ahead of
 * us there, to whom it will be. */
static bool keeps(const struct round *round, const struct ballot *ballot)
{
    bool is_sure = ballot->position > 0 ? ballot->stood_at > round->few_since
                                        : ballot->stood_at >= minority_look_at(round);
    return ballot->said == SAID_HELD && is_sure && round->few_since;
}

/* No quorum can be had of the rest. */
static bool is_kept_by_another(const struct engine *e, const struct round *round)
{
    unsigned held = 0;
    for (unsigned i = 0; i < lease_masters(e); i++)
        held += keeps(round, &round->ballots[i]);
    return held > lease_masters(e) - e->quorum && !MUTANT(NO_YIELD);
}

/* By then the holder of the rest has renewed, and tried to heal, or is gone: no ttl is longer,
 * whatever a master says. */
static usec holder_renews_by(const struct engine *e, const struct round *round)
{
    int64_t longest = 0;
    for (unsigned i = 0; i < lease_masters(e); i++) {
        const struct ballot *ballot = &round->ballots[i];
        bool is_sane = ballot->remaining_ms >= 0 && ballot->remaining_ms < e->max_ttl_ms;
        int64_t left = is_sane ? ballot->remaining_ms : e->max_ttl_ms;
        if (ballot->said == SAID_HELD && left > longest)
            longest = left;
    }
    return e->now + MS(longest);
}

/* A holder wants to heal where masters came back without his lease, and were given to who
 * stands in line. */
static void stand_aside(struct engine *e, struct lease *lease)
{
    struct round *round = lease->round;
    uint16_t ours = 0;
    for (unsigned i = 0; i < lease_masters(e); i++)
        if (round->ballots[i].said == SAID_GRANTED)
            ours |= BIT(i);
    if (!minority_reaches_quorum(e, minority_avoids(round) | ours))
        return;
    round->aside = ours;
    round->aside_until = holder_renews_by(e, round);
    waiting_yield(e, lease);
}

void minority_weigh(struct engine *e, struct lease *lease)
{
    uint16_t ahead = those_with_others_ahead(e, lease->round);
    if (ahead && has_heard_the_others(e, lease->round))
        yield_to(e, lease, ahead);
    else if (is_kept_by_another(e, lease->round))
        stand_aside(e, lease);
}
