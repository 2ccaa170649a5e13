/*
 * named.h - the names of leases in live tests.
 */
#ifndef REDLOCK_TEST_NAMED_H
#define REDLOCK_TEST_NAMED_H

#include <redlock.h>

/* Initialisers of a redlock_name. */
#define NAME(text)                                                                                 \
    {                                                                                              \
        .size = sizeof(redlock_name), .bytes = (text), .length = sizeof(text) - 1                  \
    }
#define SHARED_NAME(text)                                                                          \
    {                                                                                              \
        .size = sizeof(redlock_name), .bytes = (text), .length = sizeof(text) - 1,                 \
        .mode = REDLOCK_SHARED                                                                     \
    }

static inline redlock_mode mode_of(bool shared)
{
    return shared ? REDLOCK_SHARED : REDLOCK_EXCLUSIVE;
}

#endif
