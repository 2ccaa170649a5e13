/*
 * A lease may be lost at any moment: it has run out, say.  A late request has another token than
 * the owner.
 */
#include "world.h"

bool master_is_of(const struct world *world, int i, int t)
{
    return world->master[i].owner == t + 1;
}

void master_write(struct world *world, int i, int t)
{
    struct master *master = &world->master[i];
    const struct try *try = &world->try[t];
    master->knows = true;
    master->fence = try->fence;
    master->list = try->list;
    master->written |= 1U << try->fence;
}

void master_restart(struct world *world, int i)
{
    struct master *master = &world->master[i];
    master->owner = master->fence = master->list = 0;
    master->knows = false;
}
