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
    flag(bits, &master->seen);
    flag(bits, &master->pending);
    field(bits, 2, &master->heard);
}

INLINE void other_fields(const struct rules *rules, struct bits *bits, struct world *world)
{
    (void)rules;
    flag(bits, &world->c_is_used);
}

/* The tool has no use for it once it has decided. */
static void forget_told(const struct rules *rules, struct master *master, bool is_decided)
{
    bool alone = broken(rules, LOOKED_BACK_BEFORE) || broken(rules, LOOKED_BACK_APART);
    master->told_a_after_b &= !is_decided;
    master->told_b &= !is_decided;
    master->told_a &= !is_decided && (alone || master->told_a_after_b);
}

/* The undo has no number that is still the same. */
static bool is_in_vain(const struct rules *rules, const struct world *world)
{
    bool is = !broken(rules, B_LOOKED_AT_FIRST);
    for (int i = 0; is && i < rules->both + rules->former + rules->later; i++)
        is = !world->master[i].seen;
    return is;
}

static void forget(const struct rules *rules, struct world *world)
{
    bool in_vain = is_in_vain(rules, world);
    for (int i = 0; i < rules->both + rules->former + rules->later; i++) {
        struct master *master = &world->master[i];
        forget_told(rules, master, world->c_is_used);
        if (in_vain && !master->lies)
            master->heard = UNHEARD;
    }
}

PACKING(rules->both + rules->former + rules->later, 1, 1)
