/*
 * scenario.h - the scenarios that can be measured.  Each is opened once, run as often as there are
 * slices, and closed.
 */
#ifndef BENCH_SCENARIO_H
#define BENCH_SCENARIO_H

#include <ev.h>
#include <signal.h>
#include <stddef.h>

#include "options.h"
#include "result.h"

/* The masters, as a scenario needs them. */
struct cluster {
    const char *nodes; /* for REDLOCK_NODES */
    unsigned count;
    struct {
        char host[64], user[64], password[128]; /* "": none */
        int port;
    } at[15];
};

struct scenario {
    const char *name, *summary;
    /* NULL, with a sentence in `result->note`, if it cannot be measured. */
    void *(*open)(const struct options *options, const struct cluster *cluster,
                  struct ev_loop *loop, struct result *result);
    void (*run)(void *self, double warm, double seconds, struct result *result);
    void (*close)(void *self);
    bool loops; /* has pairs, so that its system calls a pair can be counted */
};

extern const struct scenario pairs_scenario, renew_scenario, closing_scenario, burst_scenario,
    names_scenario, observers_scenario, parties_scenario, surveys_scenario, handoff_scenario,
    turns_scenario, permits_scenario, local_queue_scenario, storm_scenario, idle_scenario,
    start_scenario, floor_async_scenario, floor_patient_scenario, floor_blocking_scenario,
    floor_epoll_scenario, floor_handoff_scenario;

const struct scenario *scenario_find(const char *name);
void scenarios_list(char *text, size_t size);

/* SIGINT or SIGTERM came: finish with the figures so far. */
extern volatile sig_atomic_t interrupted;

#endif
