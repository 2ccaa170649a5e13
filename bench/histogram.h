/*
 * histogram.h - latencies in buckets of at most 0.8 % width, from 1 ns up.
 */
#ifndef BENCH_HISTOGRAM_H
#define BENCH_HISTOGRAM_H

#include <stdint.h>

#define HISTOGRAM_BITS    7
#define HISTOGRAM_BUCKETS ((64 - HISTOGRAM_BITS + 1) << HISTOGRAM_BITS)

struct histogram {
    uint64_t count;
    int64_t max;
    uint64_t buckets[HISTOGRAM_BUCKETS];
};

void histogram_add(struct histogram *histogram, int64_t ns);
/* The value that a share (0 to 1) of all does not exceed; 0 if there is none. */
int64_t histogram_at(const struct histogram *histogram, double share);
/* The least value of this bucket. */
int64_t histogram_floor(unsigned bucket);

#endif
