/*
 * why.h - the reason of a step of the core, as far as its shell can see. It is the event before
 * the step, and the votes of each lease that the step concerns.
 */
#ifndef REDLOCK_TEST_WHY_H
#define REDLOCK_TEST_WHY_H

#include "fake.h"

#define WHY "=?" /* begins each line of it */

/* Writes such lines into the trace.  For one fake at a time. */
extern const struct watcher why_watcher;

#endif
