#include "logical.h"

#include "engine.h"

#define ESTIMATE MS(1000) /* so well do we know the masters' walls, at the least */

/* A quorum of masters has come so far by their walls: one that runs wild, or has not
 * been heard of, does not count. */
static usec wall_of_quorum(const struct engine *e)
{
    usec walls[MASTERS_MAX];
    for (unsigned i = 0; i < e->config.masters; i++)
        walls[i] = e->masters[i].met ? e->now + e->masters[i].offset : 0;
    return quorum_reached(walls, e->config.masters);
}

/* The same by their logical clocks too. */
static usec reached_by_quorum(const struct engine *e)
{
    usec clocks[MASTERS_MAX];
    for (unsigned i = 0; i < e->config.masters; i++)
        clocks[i] = e->masters[i].clock;
    usec wall = wall_of_quorum(e), clock = quorum_reached(clocks, e->config.masters);
    return wall > clock ? wall : clock;
}

/* An honest clock is ahead of the others by a window after a proposal, by its
 * quarantine and a window after a restart. */
static usec furthest_ahead(const struct engine *e)
{
    usec ttl = MS(e->max_ttl_ms);
    return 2 * CLOCK_WINDOW + ttl + quorum_drift(ttl, e->config.drift_ppm) +
           2 * MS(e->config.skew_ms);
}

bool logical_hear(struct engine *e, unsigned master, usec clock)
{
    e->masters[master].clock = clock;
    if (clock > reached_by_quorum(e) + furthest_ahead(e))
        return false;
    if (clock > e->clock && e->now >= e->masters[master].abstains_until)
        e->clock = clock;
    return true;
}

/* A proposal beyond the window would be cut by each master at another number, and then
 * every acquire takes a second round: that is what one master far ahead, in its quarantine,
 * would lead to. */
usec logical_propose(struct engine *e)
{
    usec reached = reached_by_quorum(e), proposal = e->clock + 1;
    usec most = wall_of_quorum(e) + CLOCK_WINDOW - ESTIMATE;
    if (proposal < reached)
        proposal = reached;
    if (proposal > most)
        proposal = most;
    if (proposal > e->clock)
        e->clock = proposal;
    return proposal;
}
