/*
 * A world in a few words.  Facts that no later step looks at are forgotten first, so that fewer
 * worlds differ.  Masters are alike, and so are a master's renewals: they are sorted.
 */
#include "world.h"

#include "../bits.h"

INLINE void master_fields(const struct rules *rules, struct bits *bits, struct master *master)
{
    (void)rules;
    field(bits, 2, &master->owner);
    field(bits, 3, &master->mark);
    flag(bits, &master->released);
    flag(bits, &master->taking);
    for (int k = 0; k < RENEWALS; k++) {
        field(bits, 2, &master->renewal[k].stage);
        field(bits, 3, &master->renewal[k].late_in);
    }
    field(bits, 2, &master->heir.renewal);
    flag(bits, &master->heir.heals);
    field(bits, 2, &master->heir.release);
    field(bits, 2, &master->heir.presence);
    flag(bits, &master->heir.owed);
    field(bits, 2, &master->second);
}

INLINE void other_fields(const struct rules *rules, struct bits *bits, struct world *world)
{
    (void)rules;
    flag(bits, &world->left);
    field(bits, 3, &world->heir);
}

/* ---- what no later step looks at ---------------------------------------------------------- */

static bool can_do_anything(const struct rules *rules, const struct world *world,
                            const struct renewal *renewal)
{
    switch (renewal->stage) {
    case ON_ITS_WAY:
        return renewal->late_in || !world->left || broken(rules, LATE_HEALS);
    case UNHEARD:
        return !world->left || broken(rules, REPEATED_WHEN_LEFT);
    default:
        return renewal->stage;
    }
}

static bool forget_renewals(const struct rules *rules, const struct world *world,
                            struct master *master)
{
    bool any = false;
    for (int k = 0; k < RENEWALS; k++) {
        struct renewal *renewal = &master->renewal[k];
        if (!can_do_anything(rules, world, renewal))
            *renewal = (struct renewal){0};
        if (renewal->stage == UNHEARD)
            renewal->late_in = 0;
        any |= renewal->stage;
    }
    return any;
}

/* Once the holder's renewals are done, a master matters for the heirs' leases alone. */
static void forget_at(const struct rules *rules, const struct world *world, struct master *master)
{
    bool is_over = !forget_renewals(rules, world, master) && world->left;
    if (rules->question == AGAIN)
        return;
    if (is_over && world->heir == GAVE_BACK)
        *master = (struct master){0};
    if (is_over)
        master->mark = 0;
    if (world->heir == GAVE_BACK)
        master->heir.presence = UNSURE;
}

static void sort_renewals(struct master *master)
{
    struct renewal *first = &master->renewal[0], *last = &master->renewal[1];
    struct renewal former = *first;
    if (first->stage > last->stage ||
        (first->stage == last->stage && first->late_in >= last->late_in))
        return;
    *first = *last;
    *last = former;
}

static void forget(const struct rules *rules, struct world *world)
{
    for (int i = 0; i < rules->masters; i++) {
        forget_at(rules, world, &world->master[i]);
        sort_renewals(&world->master[i]);
    }
}

PACKING(rules->masters, 1, 1)
