#include "logical.h"

#include "engine.h"
#include "mutant.h"

/* A quorum of masters has come so far by their walls: one that runs wild, or has not been
 * heard of, does not count. */
static usec wall_of_quorum(const struct engine *e)
{
    usec walls[MASTERS_MAX];
    for (unsigned i = 0; i < e->config.masters; i++) {
        const struct master *master = &e->masters[i];
        walls[i] = master->met ? e->now + master->offset : 0;
    }
    return quorum_reached(walls, e->config.masters);
}

/* How far a clock may be ahead of the walls: no further than the clock of a master begins that
 * has restarted and forgotten (hello.lua), so that no fence is ever above that. */
static usec furthest_ahead(const struct engine *e)
{
    usec ttl = MS(e->max_ttl_ms), skew = MS(e->config.skew_ms);
    usec lease = ttl + quorum_drift(ttl, e->config.drift_ppm);
    return CLOCK_WINDOW + (lease > skew ? lease : skew);
}

static unsigned masters_at(const struct engine *e, usec clock)
{
    unsigned at = 0;
    for (unsigned i = 0; i < e->config.masters; i++)
        at += e->masters[i].clock >= clock;
    return at;
}

bool logical_believes(const struct engine *e, usec clock)
{
    if (MUTANT(CLOCKS_CARRY) && clock <= e->clock + furthest_ahead(e))
        return true;
    return clock <= wall_of_quorum(e) + furthest_ahead(e) ||
           masters_at(e, clock) >= (e->config.masters > 1 ? 2 : 1);
}

bool logical_hear(struct engine *e, unsigned master, usec clock)
{
    e->masters[master].clock = clock;
    if (!logical_believes(e, clock))
        return false;
    if (clock > e->clock && e->now >= e->masters[master].abstains_until)
        e->clock = clock;
    return true;
}

usec logical_propose(struct engine *e)
{
    usec reached = wall_of_quorum(e);
    e->clock = e->clock + 1 > reached ? e->clock + 1 : reached;
    return e->clock;
}
