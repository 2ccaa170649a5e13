#include "ground/fence.h"

#include "ground/sanity.h"

usec fence_of(const usec *grants, unsigned masters, unsigned quorum)
{
    ASSERT(quorum > 0 && quorum <= masters && masters <= MASTERS_MAX);
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
    return count < quorum ? 0 : sorted[quorum - 1];
}

unsigned fence_reached(const usec *clocks, unsigned masters, usec fence)
{
    unsigned reached = 0;
    for (unsigned i = 0; i < masters; i++)
        reached += clocks[i] != 0 && clocks[i] >= fence;
    return reached;
}
