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

/* A master told its clock.  False if no honest one can stand there: it must not be
 * used, or one master (or its wall clock) could drive all the others away. */
bool logical_hear(struct engine *engine, unsigned master, usec clock);

/* A number above all that we heard or proposed before. */
usec logical_propose(struct engine *engine);

#endif
