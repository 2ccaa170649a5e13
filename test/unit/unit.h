/*
 * unit.h - what every unit test includes: cmocka, and names made of literals.
 */
#ifndef REDLOCK_TEST_UNIT_H
#define REDLOCK_TEST_UNIT_H

#include <stdlib.h>
#include <string.h>

#include "../cases.h"
#include "../plain_memory.h"
#include "ground/names.h"

static const struct memory unit_memory = PLAIN_MEMORY;

static inline struct names *unit_names(unsigned count, const char *const *strings)
{
    struct slice slices[64];
    for (unsigned i = 0; i < count; i++)
        slices[i] = (struct slice){strings[i], strlen(strings[i])};
    return names_new(&unit_memory, (struct slice){"", 0}, slices, count);
}

#define COUNT(array) (sizeof(array) / sizeof *(array))

#endif
