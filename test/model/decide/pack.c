/*
 * A world in a few words.  Masters are alike: they are sorted.
 */
#include "world.h"

#include "../bits.h"

INLINE void master_fields(const struct rules *rules, struct bits *bits, struct master *master)
{
    (void)rules;
    field(bits, 3, &master->owner);
    flag(bits, &master->knows);
    field(bits, 3, &master->fence);
    field(bits, 3, &master->list);
    field(bits, 5, &master->written);
    for (int t = 0; t < TRIES; t++)
        field(bits, 2, &master->said[t]);
}

INLINE void other_fields(const struct rules *rules, struct bits *bits, struct world *world)
{
    (void)rules;
    for (int t = 0; t < TRIES; t++) {
        struct try *try = &world->try[t];
        field(bits, 3, &try->fence);
        field(bits, 3, &try->list);
        field(bits, 3, &try->of);
        flag(bits, &try->writes);
        field(bits, 3, &world->list_of[t + 1]);
    }
    field(bits, 3, &world->fences);
    field(bits, 2, &world->restarts);
}

/* A try that writes does not need its answers any more. */
static void forget(const struct rules *rules, struct world *world)
{
    for (int t = 0; t < rules->tries; t++)
        for (int i = 0; i < rules->masters && world->try[t].writes; i++)
            world->master[i].said[t] = UNREAD;
}

PACKING(rules->masters, 1, 1)
