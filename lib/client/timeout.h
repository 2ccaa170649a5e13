/*
 * timeout.h - the timeout of a recipe, as its options have it: 0 means none, REDLOCK_ZERO means 0.
 */
#ifndef REDLOCK_CLIENT_TIMEOUT_H
#define REDLOCK_CLIENT_TIMEOUT_H

#include "redlock.h"

#define TIMEOUT_COMPLAINT                                                                          \
    "timeout_ms is %lld, and not 0 (no timeout), REDLOCK_ZERO (no wait) or above 0"

static inline bool timeout_is_valid(int64_t timeout_ms)
{
    return timeout_ms >= 0 || timeout_ms == REDLOCK_ZERO;
}

/* The ms to wait, or REDLOCK_FOREVER. */
static inline int64_t timeout_wait_ms(int64_t timeout_ms)
{
    if (timeout_ms == REDLOCK_ZERO)
        return 0;
    return timeout_ms ? timeout_ms : REDLOCK_FOREVER;
}

/* The timeout for such a wait. */
static inline int64_t timeout_of_wait(int64_t wait_ms)
{
    if (wait_ms == REDLOCK_FOREVER)
        return 0;
    return wait_ms ? wait_ms : REDLOCK_ZERO;
}

#endif
