/*
 * faults.h - what goes wrong, when and for how long; and profiles, which are sets of
 * faults with a name.
 */
#ifndef SIM_FAULTS_H
#define SIM_FAULTS_H

#include "world.h"

struct profile {
    const char *name, *text;
    uint32_t faults; /* of which each run draws some */
    bool beyond;     /* clocks run apart by more than was promised */
    enum habit habit;
};

extern const struct profile profiles[];
extern const unsigned profile_count;
const struct profile *profile_find(const char *name);
const char *fault_name(enum fault_kind kind);

/* Which ones, in this run. */
void faults_draw(struct world *world);
/* One fault strikes; plans the next. */
void faults_strike(struct world *world);
/* Another process takes its place that is empty, or as old as the last snapshot, and has run for
 * long. */
void faults_fail_over(struct world *world, unsigned master, bool is_stale);
void faults_restart(struct world *world, unsigned master);
/* Everything is as it should be again. */
void faults_end(struct world *world);

#endif
