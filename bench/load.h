/*
 * load.h - keeps pairs coming: a closed loop with a number in flight, or an open loop at a rate.
 * Its subject acquires and releases, and reports here.
 */
#ifndef BENCH_LOAD_H
#define BENCH_LOAD_H

#include <ev.h>

#include "options.h"
#include "result.h"

struct load {
    struct ev_loop *loop;
    /* Begins one pair.  `since`: the moment from which its latency counts. */
    void (*begin)(void *subject, int64_t since);
    void *subject;
    unsigned concurrency;
    double rate;
    uint64_t limit; /* pairs in one run; 0: until its time is over */

    struct result *result;
    enum { LOAD_WARMING, LOAD_MEASURING, LOAD_DRAINING, LOAD_OVER } phase;
    uint64_t begun, in_flight;
    int64_t started, epoch; /* the start of the measuring; of the open loop */
    double user, system;
    ev_timer turn, timeout, progress;
    ev_io due;
    int due_fd;
};

void load_init(struct load *load, const struct options *options, struct ev_loop *loop,
               void (*begin)(void *subject, int64_t since), void *subject);
void load_run(struct load *load, double warm, double seconds, struct result *result);

/* The subject's reports.  Each pair ends with exactly one load_ended(). */
void load_acquired(struct load *load, int64_t since);
void load_released(struct load *load, int64_t asked);
void load_ended(struct load *load, bool ok);

#endif
