/*
 * A world in a few words.  Masters of the same lists are alike: they are sorted, and the lists are
 * the highest bits.
 */
#include "world.h"

#include "../bits.h"

INLINE void master_fields(const struct rules *rules, struct bits *bits, struct master *master)
{
    (void)rules;
    field(bits, 2, &master->owner);
    field(bits, 3, &master->owned_for);
    field(bits, 3, &master->abstains_for);
    flag(bits, &master->over);
    for (int c = 0; c < CLIENTS; c++) {
        struct link *link = &master->link[c];
        field(bits, 4, &link->said_for);
        field(bits, 3, &link->word_for);
        for (int ledger = 0; ledger < LEDGERS; ledger++)
            field(bits, 3, &link->promise[ledger]);
    }
    field(bits, 3, &master->lists);
}

INLINE void other_fields(const struct rules *rules, struct bits *bits, struct world *world)
{
    (void)rules;
    for (int c = 0; c < CLIENTS; c++) {
        field(bits, 2, &world->client[c].state);
        field(bits, 2, &world->client[c].list);
    }
    field(bits, 4, &world->wait);
    flag(bits, &world->open);
    field(bits, 2, &world->restarts);
}

/* Once the third list is open, the tool looks at nothing any more. */
static void forget(const struct rules *rules, struct world *world)
{
    for (int i = 0; i < rules->masters && world->open; i++)
        for (int c = 0; c < CLIENTS; c++)
            world->master[i].link[c].said_for = 0;
    if (world->open || rules->question != WAITED)
        world->wait = 0;
}

PACKING(rules->masters, 1, 1)
