/*
 * margin.h - the margin of a lease whose options leave it to the library.
 */
#ifndef REDLOCK_MARGIN_H
#define REDLOCK_MARGIN_H

#include <stdint.h>

/* Microseconds: a twentieth of the ttl, but at least 10 ms and at most a quarter of it. */
static inline int64_t margin_usual(int64_t ttl)
{
    int64_t margin = ttl / 20;
    if (margin < 10000)
        margin = 10000;
    return margin > ttl / 4 ? ttl / 4 : margin;
}

#endif
