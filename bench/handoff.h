/*
 * handoff.h - the parts that handoff.c puts together.
 */
#ifndef BENCH_HANDOFF_H
#define BENCH_HANDOFF_H

#include "scenario.h"

/* worker.c: acquires the one lock again and again, until SIGTERM. */
void worker_run(const struct options *options, const struct cluster *cluster);

/* floor_worker.c: the worker at `index` of a ring. */
void floor_worker_run(const struct options *options, const struct cluster *cluster, unsigned index);

/* quiet.c: the median time in ns of an acquire without contention, one at a time, each this long
 * after the last. */
int64_t quiet_round_trip(const struct options *options, const struct cluster *cluster,
                         struct ev_loop *loop, double pause_ms, struct result *result);

/* commands.c: how many of these commands (separated by commas) all masters together have carried
 * out so far, inside scripts too.  Of what they count, waiting clients themselves send only eval
 * and evalsha. */
uint64_t commands_done(const struct cluster *cluster, const char *which);

#endif
