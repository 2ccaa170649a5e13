/*
 * handoff.h - the parts that handoff.c puts together.
 */
#ifndef BENCH_HANDOFF_H
#define BENCH_HANDOFF_H

#include "scenario.h"

/* worker.c: wants the one lock again and again, until SIGTERM. */
void worker_run(const struct options *options, const struct cluster *cluster);

/* floor_worker.c: the one at `index` of a ring. */
void floor_worker_run(const struct options *options, const struct cluster *cluster, unsigned index);

/* quiet.c: ns that an acquire takes which nobody contends, one at a time, so long after the
 * last; the median. */
int64_t quiet_round_trip(const struct options *options, const struct cluster *cluster,
                         struct ev_loop *loop, double pause_ms, struct result *result);

/* commands.c: how many of these commands (separated by commas) all masters together
 * have carried out so far, those inside scripts included: eval and evalsha alone are
 * what clients send that wait in line. */
uint64_t commands_done(const struct cluster *cluster, const char *which);

#endif
