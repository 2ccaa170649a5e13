/*
 * A world in a few words.  Masters of the same lists are alike: they are sorted.
 */
#include "world.h"

#include "../bits.h"

INLINE void master_fields(const struct rules *rules, struct bits *bits, struct master *master)
{
    (void)rules;
    flag(bits, &master->in_a);
    flag(bits, &master->in_b);
    flag(bits, &master->lies);
    field(bits, 3, &master->next_of_a);
    field(bits, 3, &master->next_of_b);
    flag(bits, &master->told_a);
    flag(bits, &master->told_b);
    flag(bits, &master->told_a_after_b);
    flag(bits, &master->says_a);
}

INLINE void other_fields(const struct rules *rules, struct bits *bits, struct world *world)
{
    (void)rules;
    flag(bits, &world->c_is_used);
}

/* The tool has decided. */
static void forget(const struct rules *rules, struct world *world)
{
    for (int i = 0; i < rules->both + rules->former + rules->later; i++) {
        world->master[i].told_a &= !world->c_is_used;
        world->master[i].told_b &= !world->c_is_used;
        world->master[i].told_a_after_b &= !world->c_is_used;
    }
}

PACKING(rules->both + rules->former + rules->later, 1, 1)
