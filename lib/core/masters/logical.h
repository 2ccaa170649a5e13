/*
 * logical.h - logical clocks: which clocks of the masters are believed, and our own.
 *
 * Each master keeps one hybrid logical clock (microseconds, near its wall clock,
 * never going back); grants and refusals tell it.  Our own clock is above every
 * clock that is vouched for, so that a proposal moves all masters to the same number.
 */
#ifndef REDLOCK_CORE_LOGICAL_H
#define REDLOCK_CORE_LOGICAL_H

#include "ground/event.h"

struct engine;

/* A clock is believed if it is no further ahead of the masters' walls than an honest clock can be.
 * A clock is also believed if other masters have reported one as high and one of them is honest.  A
 * believed clock brings no allowance of its own, so no lie moves what is believed next. */
bool logical_believes(const struct engine *engine, usec clock);

/* Takes in the clock that a master told.  False if it is not believed: then it must not be used, or
 * one master (or its wall clock) could drive all the others away. */
bool logical_hear(struct engine *engine, unsigned master, usec clock);

/* The masters' wall clock, as far as honest masters agree on it; 0 while too few are connected. */
usec logical_wall(const struct engine *engine);

/* A number above every clock that is vouched for, and every proposal before. */
usec logical_propose(struct engine *engine);

#endif
