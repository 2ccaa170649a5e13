/*
 * random.h - the one source of chance: splitmix64, the same on every machine.
 * Whole numbers only, so that no rounding differs between compilers.
 */
#ifndef SIM_RANDOM_H
#define SIM_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

struct chance {
    uint64_t state;
};

static inline uint64_t mix(uint64_t z)
{
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9U;
    z = (z ^ z >> 27) * 0x94d049bb133111ebU;
    return z ^ z >> 31;
}

static inline uint64_t chance_next(struct chance *chance)
{
    return mix(chance->state += 0x9e3779b97f4a7c15U);
}

/* 0 to n - 1 */
static inline unsigned chance_below(struct chance *chance, unsigned n)
{
    return (unsigned)((chance_next(chance) >> 32) * n >> 32);
}

static inline int64_t chance_range(struct chance *chance, int64_t low, int64_t high)
{
    return low + (int64_t)(chance_next(chance) % (uint64_t)(high - low + 1));
}

static inline bool chance_permille(struct chance *chance, unsigned permille)
{
    return chance_below(chance, 1000) < permille;
}

#endif
