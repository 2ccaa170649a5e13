/*
 * A world in a few words.  Masters are alike: they are sorted.
 */
#include "world.h"

#include "../bits.h"

INLINE void master_fields(const struct rules *rules, struct bits *bits, struct master *master)
{
    (void)rules;
    field(bits, COMMANDS, &master->end);
    field(bits, COMMANDS, &master->told);
}

INLINE void other_fields(const struct rules *rules, struct bits *bits, struct world *world)
{
    (void)rules;
    field(bits, 3, &world->losses);
}

static void forget(const struct rules *rules, struct world *world)
{
    (void)rules, (void)world;
}

PACKING(rules->masters, 1, 1)
