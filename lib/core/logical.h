/*
 * logical.h - logical clocks: what of the masters' is believed, and our own.
 *
 * Each master keeps one hybrid logical clock (microseconds, near its wall clock,
 * never going back); grants and refusals tell where it stands.  Ours is above all
 * that we heard, so that what we propose moves all masters to the same number.
 */
#ifndef REDLOCK_CORE_LOGICAL_H
#define REDLOCK_CORE_LOGICAL_H

#include "event.h"

struct engine;

/* A clock is believed if it is no further ahead of the walls of a quorum of masters than an
 * honest one can be, or if another master has told one as high.  Nothing else is added to what
 * clocks say, so that no lie moves what is believed next. */
bool logical_believes(const struct engine *engine, usec clock);

/* A master told its clock.  False if it is not believed: it must not be used, or one master
 * (or its wall clock) could drive all the others away. */
bool logical_hear(struct engine *engine, unsigned master, usec clock);

/* A number above all that we heard or proposed before. */
usec logical_propose(struct engine *engine);

#endif
