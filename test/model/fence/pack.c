/*
 * A world in a few words.  Honest masters are alike, so they are sorted, and so are those that lie.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static void sort(uint64_t *words, int count)
{
    for (int n = 1; n < count; n++) {
        uint64_t moving = words[n];
        int at = n;
        for (; at > 0 && words[at - 1] > moving; at--)
            words[at] = words[at - 1];
        words[at] = moving;
    }
}

/* Two masters in a word, the attempts in the last one. */
enum { OF_MASTERS = 2, OF_ATTEMPTS = FENCE_WORDS - 1 };

void fence_pack(const void *of_rules, const void *of_world, uint64_t *words)
{
    const struct rules *rules = of_rules;
    const struct world *world = of_world;
    uint64_t attempts = push(world->top, 2, world->restarts);
    uint64_t master[MOST_MASTERS] = {0};
    int honest = fence_honest(rules);
    for (int i = 0; i < rules->masters; i++)
        master[i] = pack_master(&world->master[i]);
    sort(master, honest);
    sort(master + honest, rules->masters - honest);
    for (int i = 0; i < OF_ATTEMPTS; i++)
        words[i] = 0;
    for (int i = 0; i < rules->masters; i++)
        words[i / OF_MASTERS] = push(words[i / OF_MASTERS], MASTER_BITS, master[i]);
    for (int a = 0; a < MOST_ATTEMPTS; a++) {
        const struct attempt *attempt = &world->attempt[a];
        attempts = push(attempts, 2, attempt->phase);
        attempts = push(attempts, 4, attempt->fence);
        attempts = push(attempts, 4, attempt->floor);
    }
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

void fence_unpack(const void *of_rules, const uint64_t *words, void *of_world)
{
    const struct rules *rules = of_rules;
    uint64_t masters[OF_ATTEMPTS], attempts = words[OF_ATTEMPTS];
    struct world *world = of_world;
    memset(world, 0, sizeof *world);
    memcpy(masters, words, sizeof masters);
    for (int i = rules->masters - 1; i >= 0; i--)
        world->master[i] = unpack_master(&masters[i / OF_MASTERS]);
    for (int a = MOST_ATTEMPTS - 1; a >= 0; a--) {
        world->attempt[a].floor = pop(&attempts, 4);
        world->attempt[a].fence = pop(&attempts, 4);
        world->attempt[a].phase = pop(&attempts, 2);
    }
    world->restarts = pop(&attempts, 2);
    world->top = attempts;
}
