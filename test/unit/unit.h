/*
 * unit.h - what every unit test includes: cmocka, memory or none, chance, and names made of
 * literals.
 */
#ifndef REDLOCK_TEST_UNIT_H
#define REDLOCK_TEST_UNIT_H

#include <stdlib.h>
#include <string.h>

#include "../cases.h"
#include "../plain_memory.h"
#include "ground/names.h"

static const struct memory unit_memory = PLAIN_MEMORY;

static inline void *unit_take_nothing(void *pool, size_t size)
{
    (void)pool, (void)size;
    return NULL;
}

static const struct memory unit_no_memory = {unit_take_nothing, plain_give, NULL};

/* Chance gives each run of a test the same numbers. */
static inline uint64_t unit_chance(void)
{
    static uint64_t seed = 88172645463325252U;
    seed ^= seed << 13;
    seed ^= seed >> 7;
    return seed ^= seed << 17;
}

static inline struct names *unit_names(unsigned count, const char *const *strings)
{
    struct slice slices[64];
    for (unsigned i = 0; i < count; i++)
        slices[i] = (struct slice){strings[i], strlen(strings[i])};
    return names_new(&unit_memory, (struct slice){"", 0}, slices, count);
}

#define COUNT(array) (sizeof(array) / sizeof *(array))

#endif
