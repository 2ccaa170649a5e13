/*
 * handoff.h - the two halves that handoff.c puts together.
 */
#ifndef BENCH_HANDOFF_H
#define BENCH_HANDOFF_H

#include "scenario.h"

/* worker.c: wants the one lock again and again, until SIGTERM. */
void worker_run(const struct options *options, const struct cluster *cluster);

/* commands.c: how many of these commands (separated by commas) all masters together
 * have carried out so far, those inside scripts included. */
uint64_t commands_done(const struct cluster *cluster, const char *which);

#endif
