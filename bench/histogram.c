#include "histogram.h"

#define HALF (1U << HISTOGRAM_BITS)

/* Values below 2^7 have a bucket each; above, each power of two has 2^7. */
static unsigned bucket_of(uint64_t value)
{
    if (value < HALF)
        return (unsigned)value;
    unsigned shift = 63 - (unsigned)__builtin_clzll(value) - HISTOGRAM_BITS;
    return ((shift + 1) << HISTOGRAM_BITS) + (unsigned)(value >> shift) - HALF;
}

int64_t histogram_floor(unsigned bucket)
{
    unsigned power = bucket >> HISTOGRAM_BITS;
    if (power == 0)
        return bucket;
    return (int64_t)(HALF + (bucket & (HALF - 1))) << (power - 1);
}

void histogram_add(struct histogram *histogram, int64_t ns)
{
    if (ns < 0)
        ns = 0;
    histogram->count++;
    histogram->buckets[bucket_of((uint64_t)ns)]++;
    if (ns > histogram->max)
        histogram->max = ns;
}

int64_t histogram_at(const struct histogram *histogram, double share)
{
    uint64_t rank = (uint64_t)(share * (double)histogram->count), seen = 0;
    if (share >= 1 || rank >= histogram->count)
        return histogram->max;
    for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++) {
        seen += histogram->buckets[i];
        if (seen > rank)
            return histogram_floor(i);
    }
    return histogram->max;
}
