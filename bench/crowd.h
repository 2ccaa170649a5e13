/*
 * crowd.h - many processes that want one name, and the parts that measure them: for handoff.c and
 * turns.c.
 */
#ifndef BENCH_CROWD_H
#define BENCH_CROWD_H

#include <stdio.h>
#include <sys/types.h>

#include "scenario.h"

struct holding {
    unsigned worker;
    int64_t asked, acquired, released, enqueued;
    int slot; /* of the permit; -1: none */
};

typedef void crowd_work(const struct options *options, const struct cluster *cluster,
                        unsigned index);

struct crowd {
    crowd_work *work;
    const struct options *options;
    const struct cluster *cluster;
    pid_t *pids;
    FILE **outputs;
    struct holding *holdings; /* of the last run, by the time of `acquired` */
    size_t count, capacity;
    int64_t from, to;  /* of the measuring */
    uint64_t commands; /* that --count names, meanwhile */
};

/* crowd.c: runs --workers of them. */
void crowd_run(struct crowd *crowd, double warm, double seconds, struct result *result);
/* The holding began while it was measured. */
bool crowd_saw(const struct crowd *crowd, const struct holding *holding);
void crowd_free(struct crowd *crowd);

/* worker.c: acquires the one lock again and again, until SIGTERM.  Of turns the first --readers
 * share it. */
crowd_work worker_run, turn_run;

/* floor_worker.c: the worker at `index` of a ring. */
crowd_work floor_worker_run;

/* quiet.c: the median time in ns of an acquire without contention, one at a time, each this long
 * after the last. */
int64_t quiet_round_trip(const struct options *options, const struct cluster *cluster,
                         struct ev_loop *loop, double pause_ms, struct result *result);

/* commands.c: how many of these commands (separated by commas) all masters together have carried
 * out so far, inside scripts too.  Of what they count, waiting clients themselves send only eval
 * and evalsha. */
uint64_t commands_done(const struct cluster *cluster, const char *which);

#endif
