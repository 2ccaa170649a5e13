/*
 * A world in a few words.  Facts that no later step looks at are forgotten first, so that fewer
 * worlds differ.  Masters are alike, so they are sorted.
 */
#include "world.h"

#include "../bits.h"

INLINE void master_fields(const struct rules *rules, struct bits *bits, struct master *master)
{
    flag(bits, &master->restarted);
    flag(bits, &master->abstains);
    for (int j = 0; j < rules->slots; j++) {
        struct slot *slot = &master->slot[j];
        field(bits, 4, &slot->owner);
        field(bits, CLIENTS, &slot->line);
        field(bits, CLIENTS, &slot->ghosts);
        field(bits, CLIENTS, &slot->giving);
        field(bits, CLIENTS, &slot->asked);
        field(bits, CLIENTS, &slot->told);
        field(bits, CLIENTS, &slot->refused);
        field(bits, CLIENTS, &slot->hinted);
    }
}

INLINE void other_fields(const struct rules *rules, struct bits *bits, struct world *world)
{
    (void)rules;
    for (int c = 0; c < CLIENTS; c++) {
        struct client *client = &world->client[c];
        field(bits, 3, &client->phase);
        field(bits, SLOTS, &client->stands);
        field(bits, SLOTS, &client->tries);
        field(bits, SLOTS, &client->left);
        field(bits, 3, &client->ticket);
        field(bits, 2, &client->holds);
    }
    field(bits, 3, &world->late);
    field(bits, 2, &world->restarts);
    field(bits, 2, &world->crashes);
}

/* A hint counts for the client that may follow it, whichever master has given it. */
static void forget(const struct rules *rules, struct world *world)
{
    for (int j = 0; j < rules->slots; j++) {
        uint8_t hinted = 0;
        for (int i = 0; i < up(rules); i++) {
            hinted |= world->master[i].slot[j].hinted;
            world->master[i].slot[j].hinted = 0;
        }
        for (int c = 0; c < rules->clients; c++)
            if (world->client[c].phase != WAITING || (world->client[c].stands & 1 << j))
                hinted &= ~(1 << c);
        for (int i = 0; i < up(rules); i++)
            world->master[i].slot[j].hinted = hinted;
    }
}

PACKING(up(rules), 2, 2)
