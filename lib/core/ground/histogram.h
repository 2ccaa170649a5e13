/*
 * histogram.h - counts times in buckets, each of which reaches to twice the time of the one before.
 */
#ifndef REDLOCK_CORE_HISTOGRAM_H
#define REDLOCK_CORE_HISTOGRAM_H

#include "ground/event.h"

/* A few instructions, as each acquire and each release comes by here. */
static inline void histogram_add(struct times *times, usec time)
{
    uint64_t us = time > 0 ? (uint64_t)time : 0, below = us ? us - 1 : 0;
    unsigned bits = 64U - (unsigned)__builtin_clzll(below | (BUCKET_US(0) - 1));
    unsigned bucket = bits - BUCKET_BITS;
    times->buckets[bucket < TIME_BUCKETS ? bucket : TIME_BUCKETS - 1]++;
    times->sum += us;
}

#endif
