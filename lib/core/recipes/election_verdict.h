/*
 * election_verdict.h - what follows from what the masters have said to an observer.
 */
#ifndef REDLOCK_CORE_RECIPES_VERDICT_H
#define REDLOCK_CORE_RECIPES_VERDICT_H

#include "recipes/election.h"

struct verdict {
    enum observed state; /* SAID, NOTHING or UNKNOWN */
    struct saying *said;
};

/* Whether something is said, or is not, as far as was asked at `from` or later; 0: at any time. */
struct verdict verdict_now(const struct engine *engine, const struct observer *observer, usec from);
/* No master will soon say more to what was asked since observer->verified_from. */
bool verdict_is_last(const struct engine *engine, const struct observer *observer);
/* A quorum of masters says so. */
bool verdict_is_said(const struct engine *engine, const struct observer *observer,
                     const struct saying *saying);
/* The number of masters that say so. */
unsigned verdict_count(const struct engine *engine, const struct observer *observer,
                       const struct saying *saying);

#endif
