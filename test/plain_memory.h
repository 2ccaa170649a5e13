/*
 * plain_memory.h - the C library's memory, as the core asks for it.
 */
#ifndef REDLOCK_TEST_PLAIN_MEMORY_H
#define REDLOCK_TEST_PLAIN_MEMORY_H

#include <stdlib.h>

#include "ground/event.h"

static inline void *plain_take(void *pool, size_t size)
{
    (void)pool;
    return calloc(1, size);
}

static inline void plain_give(void *pool, void *block, size_t size)
{
    (void)pool, (void)size;
    free(block);
}

#define PLAIN_MEMORY                                                                               \
    {                                                                                              \
        plain_take, plain_give, NULL                                                               \
    }

#endif
