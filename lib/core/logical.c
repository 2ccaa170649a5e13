#include "logical.h"

#include "engine.h"

/* A quorum of masters has come so far, by their walls and by their logical clocks:
 * one that runs wild, or has not been heard of, does not count. */
static usec reached_by_quorum(const struct engine *e)
{
    usec walls[MASTERS_MAX], clocks[MASTERS_MAX];
    for (unsigned i = 0; i < e->config.masters; i++) {
        const struct master *master = &e->masters[i];
        walls[i] = master->met ? e->now + master->offset : 0;
        clocks[i] = master->clock;
    }
    usec wall = quorum_reached(walls, e->config.masters);
    usec clock = quorum_reached(clocks, e->config.masters);
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

usec logical_propose(struct engine *e)
{
    usec reached = reached_by_quorum(e);
    e->clock = e->clock + 1 > reached ? e->clock + 1 : reached;
    return e->clock;
}
