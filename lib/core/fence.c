#include "fence.h"

#include "mutant.h"
#include "quorum.h"

static unsigned rank_of_fence(unsigned masters)
{
    unsigned quorum = quorum_of(masters);
    if (MUTANT(FENCE_MINIMUM))
        return 0;
    return quorum - 1 - (MUTANT(FENCE_QUANTILE) && quorum > 1);
}

usec fence_of(const usec *grants, unsigned masters)
{
    usec sorted[MASTERS_MAX] = {0};
    unsigned count = 0;
    for (unsigned i = 0; i < masters; i++) {
        if (!grants[i])
            continue;
        unsigned at = count++;
        for (; at > 0 && sorted[at - 1] > grants[i]; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = grants[i];
    }
    return count < quorum_of(masters) ? 0 : sorted[rank_of_fence(masters)];
}

unsigned fence_reached(const usec *clocks, unsigned masters, usec fence)
{
    unsigned reached = 0;
    for (unsigned i = 0; i < masters; i++)
        reached += clocks[i] != 0 && clocks[i] >= fence;
    return reached;
}
