#include "quorum.h"
#include "mutant.h"

#define DRIFT_FLOOR MS(2)
#define PPM         1000000

unsigned quorum_of(unsigned masters)
{
    return masters / 2 + !(MUTANT(QUORUM_HALF) && masters > 1);
}

enum verdict quorum_verdict(unsigned masters, unsigned yes, unsigned undecided)
{
    unsigned quorum = quorum_of(masters);
    if (yes >= quorum)
        return VERDICT_WON;
    return yes + undecided < quorum ? VERDICT_LOST : VERDICT_PENDING;
}

usec quorum_drift(usec ttl, int64_t drift_ppm)
{
    /* In parts, so that no ttl of an int64_t overflows; rounded up. */
    usec whole = ttl / PPM * drift_ppm, rest = ttl % PPM * drift_ppm;
    return whole + (rest + PPM - 1) / PPM + DRIFT_FLOOR;
}

usec quorum_promise(usec sent_at, usec ttl, int64_t drift_ppm)
{
    return sent_at + ttl - (MUTANT(NO_DRIFT) ? 0 : quorum_drift(ttl, drift_ppm));
}

/* The rank-th largest, from 0. */
static usec ranked(const usec *values, unsigned masters, unsigned rank)
{
    usec sorted[MASTERS_MAX] = {0};
    for (unsigned n = 0; n < masters; n++) {
        unsigned at = n;
        for (; at > 0 && sorted[at - 1] < values[n]; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = values[n];
    }
    return sorted[rank];
}

usec quorum_reached(const usec *values, unsigned masters)
{
    return ranked(values, masters, quorum_of(masters) - 1);
}

int64_t quorum_longest(const int64_t *told, unsigned masters)
{
    return ranked(told, masters, masters > 2 && !MUTANT(LONGEST_OF_ONE));
}

usec quorum_valid_until(const usec *promises, unsigned masters)
{
    bool short_of_one = MUTANT(RENEWED_BY_MINORITY) && masters > 1;
    return ranked(promises, masters, quorum_of(masters) - 1 - short_of_one);
}
