#include "engine.h"
#include "lease_parts.h"
#include "mutant.h"

#define FEW_LONG MS(100) /* the rest would have been handed over by then */

usec minority_look_at(const struct round *round)
{
    usec patience = round->life / 4 < FEW_LONG ? round->life / 4 : FEW_LONG;
    return round->few_since ? round->few_since + patience : NEVER;
}

/* It can be had of the others. */
static bool may_stand_aside(const struct engine *e, uint16_t aside)
{
    unsigned others = 0;
    for (unsigned i = 0; i < e->config.masters; i++)
        others += !(aside & BIT(i)) && master_may_grant(e, &e->masters[i]);
    return others >= e->quorum;
}

void minority_comes_back(const struct engine *e, struct round *round)
{
    if (e->now >= round->aside_until || !may_stand_aside(e, round->aside))
        round->aside = 0;
}

static bool somebody_is_ahead(const struct engine *e, const struct round *round)
{
    bool ahead = false;
    for (unsigned i = 0; i < lease_masters(e); i++)
        ahead |= round->ballots[i].ahead && round->ballots[i].said == SAID_GRANTED;
    return ahead && !MUTANT(NO_YIELD);
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

/* By then who has the rest has renewed, and tried to heal, or is gone. */
static usec holder_renews_by(const struct engine *e, const struct round *round)
{
    int64_t longest = 0;
    for (unsigned i = 0; i < lease_masters(e); i++) {
        const struct ballot *ballot = &round->ballots[i];
        int64_t left = ballot->remaining_ms < 0 ? e->max_ttl_ms : ballot->remaining_ms;
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
    if (!may_stand_aside(e, ours))
        return;
    round->aside = ours;
    round->aside_until = holder_renews_by(e, round);
    waiting_yield(e, lease);
}

void minority_weigh(struct engine *e, struct lease *lease)
{
    if (somebody_is_ahead(e, lease->round))
        waiting_yield(e, lease);
    else if (is_kept_by_another(e, lease->round))
        stand_aside(e, lease);
}
