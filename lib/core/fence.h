/*
 * fence.h - the rule of fencing tokens: grants of the masters' logical clocks to
 * one number that is larger than every one shown before.
 *
 * Each grant moves its master's clock on, so a fence that a quorum of clocks has
 * reached is below every later grant of that quorum.  A later acquire has at most
 * N - Q <= Q - 1 grants from other masters: its Q-th smallest is above.  No clock
 * needs to be right for that, only never to go back.
 */
#ifndef REDLOCK_CORE_FENCE_H
#define REDLOCK_CORE_FENCE_H

#include "event.h"

/* The quorum-th smallest of the grants; 0 is none.  0 if there are fewer. */
usec fence_of(const usec *grants, unsigned masters);

/* How many of the clocks have reached `fence`. */
unsigned fence_reached(const usec *clocks, unsigned masters, usec fence);

#endif
