/*
 * A world in a few words.  Facts that no later step looks at are forgotten first, so that fewer
 * worlds differ.  Masters are alike, so they are sorted.
 */
#include <stdlib.h>

#include "world.h"

typedef unsigned __int128 chunk;

enum { WORD = 64 };

/* Fields are written and read by the same functions, in the same order. */
struct bits {
    chunk chunk;
    unsigned at;
    bool reads;
};

#define INLINE static inline __attribute__((always_inline))

INLINE void field(struct bits *bits, unsigned width, uint8_t *value)
{
    uint8_t mask = (1u << width) - 1;
    if (bits->reads) {
        *value = (uint8_t)(bits->chunk >> bits->at) & mask;
    } else {
        bits->chunk |= (chunk)*value << bits->at;
        if (*value > mask)
            abort();
    }
    bits->at += width;
}

INLINE void flag(struct bits *bits, bool *value)
{
    uint8_t as = *value;
    field(bits, 1, &as);
    *value = as;
}

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

INLINE void other_fields(struct bits *bits, struct world *world)
{
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

static void sort(chunk *low, chunk *high)
{
    if (*low <= *high)
        return;
    chunk former = *low;
    *low = *high;
    *high = former;
}

/* A hint counts for who may follow it, and that any master has given it. */
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

void permit_pack(const void *of_rules, const void *of_world, uint64_t *words)
{
    const struct rules *rules = of_rules;
    struct world world = *(const struct world *)of_world;
    chunk master[MASTERS] = {0};
    struct bits others = {0};
    forget(rules, &world);
    for (int i = 0; i < up(rules); i++) {
        struct bits bits = {0};
        master_fields(rules, &bits, &world.master[i]);
        master[i] = bits.chunk;
    }
    for (int last = up(rules) - 1; last > 0; last--)
        for (int i = 0; i < last; i++)
            sort(&master[i], &master[i + 1]);
    for (int i = 0; i < MASTERS; i++) {
        *words++ = (uint64_t)master[i];
        *words++ = (uint64_t)(master[i] >> WORD);
    }
    other_fields(&others, &world);
    *words++ = (uint64_t)others.chunk;
    *words = (uint64_t)(others.chunk >> WORD);
}

void permit_unpack(const void *of_rules, const uint64_t *words, void *of_world)
{
    const struct rules *rules = of_rules;
    struct world *world = of_world;
    *world = (struct world){0};
    for (int i = 0; i < MASTERS; i++) {
        struct bits bits = {.reads = true, .chunk = words[0] | (chunk)words[1] << WORD};
        words += 2;
        master_fields(rules, &bits, &world->master[i]);
    }
    struct bits others = {.reads = true, .chunk = words[0] | (chunk)words[1] << WORD};
    other_fields(&others, world);
}
