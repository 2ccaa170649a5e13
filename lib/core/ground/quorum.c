#include "ground/quorum.h"
#include "ground/sanity.h"

#define DRIFT_FLOOR MS(2)
#define PPM         1000000

unsigned quorum_of(unsigned masters, unsigned spare)
{
    return (masters + 2 + spare) / 2;
}

unsigned quorum_least_masters(unsigned spare)
{
    return spare ? spare + 3 : 1;
}

enum verdict quorum_verdict(unsigned quorum, unsigned yes, unsigned undecided)
{
    ASSERT(quorum > 0);
    if (yes >= quorum)
        return VERDICT_WON;
    return yes + undecided < quorum ? VERDICT_LOST : VERDICT_PENDING;
}

usec quorum_drift(usec ttl, int64_t drift_ppm)
{
    ASSERT(ttl >= 0 && drift_ppm >= 0);
    /* The sum is made in parts, so that no ttl of an int64_t overflows, and rounded up. */
    usec whole = ttl / PPM * drift_ppm, rest = ttl % PPM * drift_ppm;
    return whole + (rest + PPM - 1) / PPM + DRIFT_FLOOR;
}

usec quorum_promise(usec sent_at, usec ttl, int64_t drift_ppm)
{
    return sent_at + ttl - quorum_drift(ttl, drift_ppm);
}

usec quorum_ttl_for(usec validity, int64_t drift_ppm)
{
    ASSERT(validity >= 0 && drift_ppm >= 0 && drift_ppm < PPM);
    usec share = PPM - drift_ppm, ttl = ((validity + DRIFT_FLOOR) * PPM + share - 1) / share;
    return (ttl + 999) / 1000 * 1000;
}

usec quorum_ranked(const usec *values, unsigned count, unsigned rank)
{
    ASSERT(count <= MASTERS_MAX && rank > 0 && rank <= count);
    usec sorted[MASTERS_MAX];
    for (unsigned n = 0; n < count; n++) {
        unsigned at = n;
        for (; at > 0 && sorted[at - 1] < values[n]; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = values[n];
    }
    return sorted[rank - 1];
}

usec quorum_vouched(const usec *values, unsigned count, unsigned spare)
{
    return count ? quorum_ranked(values, count, count > spare ? spare + 1 : count) : 0;
}

int64_t quorum_longest(const int64_t *told, unsigned masters, unsigned spare)
{
    unsigned liars = spare ? spare : masters > 2;
    return quorum_ranked(told, masters, liars + 1);
}

usec quorum_valid_until(const usec *promises, unsigned masters, unsigned quorum)
{
    return quorum_ranked(promises, masters, quorum);
}
