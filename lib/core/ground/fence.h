/*
 * fence.h - the rule of fencing tokens: from the grants of the masters'
 * logical clocks, one number that is larger than every fence shown before.
 *
 * Each grant advances its master's clock, so a fence that a quorum of clocks has
 * reached is below every later grant of that quorum.  A later acquire has at most
 * N - Q <= Q - 1 grants from other masters: its Q-th smallest grant is above the fence.
 * No clock has to be right for that, as long as none goes back.
 */
#ifndef REDLOCK_CORE_FENCE_H
#define REDLOCK_CORE_FENCE_H

#include "ground/event.h"

/* The quorum-th smallest grant; a grant of 0 is none.  Returns 0 if there is no quorum of
 * grants. */
usec fence_of(const usec *grants, unsigned masters, unsigned quorum);

/* The number of clocks that have reached `fence`. */
unsigned fence_reached(const usec *clocks, unsigned masters, usec fence);

#endif
