/*
 * A world in a few words.  Honest masters are alike, so they are sorted, and so are those that lie.
 */
#include "world.h"

#include "../bits.h"

INLINE void master_fields(struct bits *bits, struct master *master)
{
    for (int a = MOST_ATTEMPTS - 1; a >= 0; a--)
        field(bits, 4, &master->link[a]);
    field(bits, MOST_ATTEMPTS, &master->awaits);
    field(bits, 2, &master->owner);
    field(bits, 4, &master->clock);
}

INLINE void attempts_fields(struct bits *bits, struct world *world)
{
    for (int a = 0; a < MOST_ATTEMPTS; a++) {
        field(bits, 2, &world->attempt[a].phase);
        field(bits, 4, &world->attempt[a].fence);
        field(bits, 4, &world->attempt[a].floor);
    }
    field(bits, 2, &world->restarts);
    field(bits, 4, &world->top);
}

/* All masters in one chunk, the attempts in the last word. */
enum {
    MASTER_BITS = 4 * MOST_ATTEMPTS + MOST_ATTEMPTS + 2 + 4,
    WORDS = 3,
    WORDS_OF_MASTERS = WORDS - 1
};
_Static_assert(MASTER_BITS *MASTERS <= CHUNK, "room for the masters");

unsigned model_words(const struct rules *rules)
{
    (void)rules;
    return WORDS;
}

void model_pack(const struct rules *rules, const struct world *of, uint64_t *words)
{
    struct world world = *of;
    chunk chunks[MASTERS] = {0}, masters = 0;
    struct bits attempts = {0};
    int honest = fence_honest(rules);
    for (int i = 0; i < rules->masters; i++) {
        struct bits bits = {0};
        master_fields(&bits, &world.master[i]);
        chunks[i] = bits.chunk;
    }
    sort_chunks(chunks, honest);
    sort_chunks(chunks + honest, rules->masters - honest);
    for (int i = 0; i < rules->masters; i++)
        masters |= chunks[i] << i * MASTER_BITS;
    attempts_fields(&attempts, &world);
    put_chunk(attempts.chunk, 1, put_chunk(masters, WORDS_OF_MASTERS, words));
}

void model_unpack(const struct rules *rules, const uint64_t *words, struct world *world)
{
    struct bits masters = {.reads = true}, attempts = {.reads = true};
    take_chunk(&attempts.chunk, 1, take_chunk(&masters.chunk, WORDS_OF_MASTERS, words));
    *world = (struct world){0};
    for (int i = 0; i < rules->masters; i++)
        master_fields(&masters, &world->master[i]);
    attempts_fields(&attempts, world);
}
