#include "masters/logical.h"

#include "ground/quorum.h"
#include "ground/sanity.h"
#include "ground/shared.h"

/* The masters' wall: the wall clock of an honest master, or between those of two.  A wild clock
 * does not count.  Nor does that of a master that is not connected, or two masters that were wrong
 * one after the other would count as two. */
usec logical_wall(const struct engine *e)
{
    unsigned rank = e->quorum - e->config.spare, least = e->config.spare + 1;
    usec walls[MASTERS_MAX];
    for (unsigned i = 0; i < e->config.masters; i++) {
        const struct master *master = &e->masters[i];
        walls[i] = master->heard ? e->now + master->offset : 0;
    }
    return quorum_ranked(walls, e->config.masters, rank > least ? rank : least);
}

/* How far a clock may be ahead of the walls.  A master that has restarted and forgotten begins with
 * such a clock (hello.lua), so no fence is ever above that beginning. */
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
    unsigned liars = e->config.spare > 1 ? e->config.spare : e->config.masters > 1;
    return clock <= logical_wall(e) + furthest_ahead(e) || masters_at(e, clock) > liars;
}

/* Our clock follows a clock that an honest master has told: if it followed a liar's, the grants of
 * the other masters would not be equal. */
static usec vouched_for(const struct engine *e, usec clock)
{
    usec told[MASTERS_MAX];
    for (unsigned i = 0; i < e->config.masters; i++)
        told[i] = e->masters[i].clock;
    usec vouched = quorum_vouched(told, e->config.masters, e->config.spare);
    return clock < vouched ? clock : vouched;
}

bool logical_hear(struct engine *e, unsigned master, usec clock)
{
    ASSERT(master < e->config.masters && clock >= 0);
    e->masters[master].clock = clock;
    if (!logical_believes(e, clock))
        return false;
    usec vouched = clock > e->clock ? vouched_for(e, clock) : 0;
    if (vouched > e->clock && e->now >= e->masters[master].abstains_until)
        e->clock = vouched;
    ASSERT(e->clock >= 0);
    return true;
}

usec logical_propose(struct engine *e)
{
    usec reached = logical_wall(e);
    usec proposal = e->clock + 1 > reached ? e->clock + 1 : reached;
    ASSERT(proposal > e->clock);
    e->clock = proposal;
    return proposal;
}
