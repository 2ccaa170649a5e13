/*
 * A world in a few words.  Facts that no later step looks at are forgotten first, so that fewer
 * worlds differ.  Masters are alike, and so are a master's renewals: they are sorted.
 */
#include <stdlib.h>

#include "world.h"

/* Fields are written and read by the same functions, in the same order. */
struct bits {
    uint64_t word;
    unsigned at;
    bool reads;
};

static void field(struct bits *bits, unsigned width, uint8_t *value)
{
    uint8_t mask = (1u << width) - 1;
    if (bits->reads)
        *value = (uint8_t)(bits->word >> bits->at) & mask;
    else if (*value > mask)
        abort();
    else
        bits->word |= (uint64_t)*value << bits->at;
    bits->at += width;
}

static void flag(struct bits *bits, bool *value)
{
    uint8_t as = *value;
    field(bits, 1, &as);
    *value = as;
}

static void master_fields(struct bits *bits, struct master *master)
{
    field(bits, 2, &master->owner);
    field(bits, 3, &master->mark);
    flag(bits, &master->released);
    for (int k = 0; k < RENEWALS; k++) {
        field(bits, 2, &master->renewal[k].stage);
        field(bits, 3, &master->renewal[k].late_in);
    }
    field(bits, 2, &master->heir.renewal);
    flag(bits, &master->heir.heals);
    field(bits, 2, &master->heir.release);
    field(bits, 2, &master->heir.presence);
    flag(bits, &master->heir.owed);
}

static void world_fields(struct bits *bits, struct world *world)
{
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

/* Once the holder's renewals are done, a master matters for the heir's lease alone. */
static void forget(const struct rules *rules, const struct world *world, struct master *master)
{
    bool is_over = !forget_renewals(rules, world, master) && world->left;
    if (is_over && world->heir == GAVE_BACK)
        *master = (struct master){0};
    if (is_over)
        master->mark = 0;
    if (world->heir == GAVE_BACK)
        master->heir.presence = UNSURE;
}

/* ---- packing ----------------------------------------------------------------------------------
 */

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

static void sort(uint64_t *low, uint64_t *high)
{
    uint64_t former = *low;
    if (*low <= *high)
        return;
    *low = *high;
    *high = former;
}

void detach_pack(const void *of_rules, const void *of_world, uint64_t *words)
{
    const struct rules *rules = of_rules;
    struct world world = *(const struct world *)of_world;
    struct bits others = {0};
    for (int i = 0; i < MASTERS; i++) {
        struct bits bits = {0};
        forget(rules, &world, &world.master[i]);
        sort_renewals(&world.master[i]);
        master_fields(&bits, &world.master[i]);
        words[i] = bits.word;
    }
    for (int last = rules->masters - 1; last > 0; last--)
        for (int i = 0; i < last; i++)
            sort(&words[i], &words[i + 1]);
    world_fields(&others, &world);
    words[MASTERS] = others.word;
}

void detach_unpack(const void *rules, const uint64_t *words, void *of_world)
{
    struct world *world = of_world;
    (void)rules;
    *world = (struct world){0};
    for (int i = 0; i < MASTERS; i++)
        master_fields(&(struct bits){.reads = true, .word = words[i]}, &world->master[i]);
    world_fields(&(struct bits){.reads = true, .word = words[MASTERS]}, world);
}
