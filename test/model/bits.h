/*
 * bits.h - a world in a few words.  Fields are written and read by the same functions, in the same
 * order.  They are inline since most of the time of a search is spent here.  A model's pack.c
 * includes this behind its struct world, which has MASTERS masters.
 */
#ifndef MODEL_BITS_H
#define MODEL_BITS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

typedef unsigned __int128 chunk;

enum { WORD = 64, CHUNK = 128 };

struct bits {
    chunk chunk;
    unsigned at;
    bool reads;
};

#define INLINE static inline __attribute__((always_inline))

INLINE void field(struct bits *bits, unsigned width, uint8_t *value)
{
    uint8_t mask = (1u << width) - 1;
    if (bits->reads)
        *value = (uint8_t)(bits->chunk >> bits->at) & mask;
    else if (*value > mask || bits->at + width > CHUNK)
        abort();
    else
        bits->chunk |= (chunk)*value << bits->at;
    bits->at += width;
}

INLINE void flag(struct bits *bits, bool *value)
{
    uint8_t as = *value;
    field(bits, 1, &as);
    *value = as;
}

/* Masters are alike: worlds that differ in their order alone are the same. */
static inline void sort_chunks(chunk *chunks, int count)
{
    for (int last = count - 1; last > 0; last--)
        for (int i = 0; i < last; i++)
            if (chunks[i] > chunks[i + 1]) {
                chunk former = chunks[i];
                chunks[i] = chunks[i + 1];
                chunks[i + 1] = former;
            }
}

/* Return the words behind those of the chunk. */
static inline uint64_t *put_chunk(chunk chunk, unsigned words, uint64_t *to)
{
    for (unsigned k = 0; k < words; k++)
        *to++ = (uint64_t)(chunk >> k * WORD);
    return to;
}

static inline const uint64_t *take_chunk(chunk *chunk, unsigned words, const uint64_t *from)
{
    *chunk = 0;
    for (unsigned k = 0; k < words; k++)
        *chunk |= (unsigned __int128)*from++ << k * WORD;
    return from;
}

/* The functions of a model whose worlds are masters, each in as many words, and others.  It has
 * forget(), master_fields() and other_fields(). */
#define PACKING(masters, words_of_master, words_of_others)                                         \
    unsigned model_words(const struct rules *rules)                                                \
    {                                                                                              \
        return (masters) * (words_of_master) + (words_of_others);                                  \
    }                                                                                              \
                                                                                                   \
    void model_pack(const struct rules *rules, const struct world *of, uint64_t *words)            \
    {                                                                                              \
        struct world world = *of;                                                                  \
        unsigned each = words_of_master;                                                           \
        chunk chunks[MASTERS];                                                                     \
        struct bits others = {0};                                                                  \
        forget(rules, &world);                                                                     \
        for (int i = 0; i < (masters); i++) {                                                      \
            struct bits bits = {0};                                                                \
            master_fields(rules, &bits, &world.master[i]);                                         \
            chunks[i] = bits.chunk;                                                                \
        }                                                                                          \
        sort_chunks(chunks, masters);                                                              \
        for (int i = 0; i < (masters); i++)                                                        \
            words = put_chunk(chunks[i], each, words);                                             \
        other_fields(rules, &others, &world);                                                      \
        put_chunk(others.chunk, words_of_others, words);                                           \
    }                                                                                              \
                                                                                                   \
    void model_unpack(const struct rules *rules, const uint64_t *words, struct world *world)       \
    {                                                                                              \
        unsigned each = words_of_master;                                                           \
        struct bits others = {.reads = true};                                                      \
        *world = (struct world){0};                                                                \
        for (int i = 0; i < (masters); i++) {                                                      \
            struct bits bits = {.reads = true};                                                    \
            words = take_chunk(&bits.chunk, each, words);                                          \
            master_fields(rules, &bits, &world->master[i]);                                        \
        }                                                                                          \
        take_chunk(&others.chunk, words_of_others, words);                                         \
        other_fields(rules, &others, world);                                                       \
    }

#endif
