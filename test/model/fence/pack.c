/*
 * A world in two words.  Masters are alike, so they are sorted.
 */
#include <stdio.h>
#include <stdlib.h>

#include "fence.h"

static uint64_t push(uint64_t word, unsigned bits, uint64_t value)
{
    if (value >> bits) {
        fprintf(stderr, "fence-model: %u bits are too few for %u\n", bits, (unsigned)value);
        abort();
    }
    return word << bits | value;
}

static uint8_t pop(uint64_t *word, unsigned bits)
{
    uint8_t value = *word & ((1u << bits) - 1);
    *word >>= bits;
    return value;
}

enum { MASTER_BITS = 4 + 2 + MOST_ATTEMPTS + 4 * MOST_ATTEMPTS };

static uint64_t pack_master(const struct master *master)
{
    uint64_t word = push(push(master->clock, 2, master->owner), MOST_ATTEMPTS, master->awaits);
    for (int a = 0; a < MOST_ATTEMPTS; a++)
        word = push(word, 4, master->link[a]);
    return word;
}

static void sort(uint64_t *low, uint64_t *high)
{
    if (*low <= *high)
        return;
    uint64_t former = *low;
    *low = *high;
    *high = former;
}

enum { OF_MASTERS, OF_ATTEMPTS };

void fence_pack(const void *rules, const void *of_world, uint64_t *words)
{
    const struct world *world = of_world;
    uint64_t masters = 0, attempts = push(world->top, 2, world->restarts);
    uint64_t master[MASTERS];
    (void)rules;
    for (int i = 0; i < MASTERS; i++)
        master[i] = pack_master(&world->master[i]);
    sort(&master[0], &master[1]);
    sort(&master[1], &master[2]);
    sort(&master[0], &master[1]);
    for (int i = 0; i < MASTERS; i++)
        masters = push(masters, MASTER_BITS, master[i]);
    for (int a = 0; a < MOST_ATTEMPTS; a++) {
        const struct attempt *attempt = &world->attempt[a];
        attempts = push(attempts, 2, attempt->phase);
        attempts = push(attempts, 4, attempt->fence);
        attempts = push(attempts, 4, attempt->floor);
    }
    words[OF_MASTERS] = masters;
    words[OF_ATTEMPTS] = attempts;
}

static struct master unpack_master(uint64_t *word)
{
    struct master master;
    for (int a = MOST_ATTEMPTS - 1; a >= 0; a--)
        master.link[a] = pop(word, 4);
    master.awaits = pop(word, MOST_ATTEMPTS);
    master.owner = pop(word, 2);
    master.clock = pop(word, 4);
    return master;
}

void fence_unpack(const void *rules, const uint64_t *words, void *of_world)
{
    uint64_t masters = words[OF_MASTERS], attempts = words[OF_ATTEMPTS];
    struct world *world = of_world;
    (void)rules;
    for (int i = MASTERS - 1; i >= 0; i--)
        world->master[i] = unpack_master(&masters);
    for (int a = MOST_ATTEMPTS - 1; a >= 0; a--) {
        world->attempt[a].floor = pop(&attempts, 4);
        world->attempt[a].fence = pop(&attempts, 4);
        world->attempt[a].phase = pop(&attempts, 2);
    }
    world->restarts = pop(&attempts, 2);
    world->top = attempts;
}
