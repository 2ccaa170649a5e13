/*
 * margin.h - the ttl and the margin of a lease whose options leave them to the library.
 */
#ifndef REDLOCK_MARGIN_H
#define REDLOCK_MARGIN_H

#include <stdint.h>

#define TTL_MS_USUAL 10000

/* Microseconds: a twentieth of the ttl, but at least 10 ms and at most a quarter of it. */
static inline int64_t margin_usual(int64_t ttl)
{
    int64_t margin = ttl / 20;
    if (margin < 10000)
        margin = 10000;
    return margin > ttl / 4 ? ttl / 4 : margin;
}

#endif
