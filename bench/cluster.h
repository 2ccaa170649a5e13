/*
 * cluster.h - the masters of a run: given, or started for it.
 */
#ifndef BENCH_CLUSTER_H
#define BENCH_CLUSTER_H

#include "scenario.h"

/* False after a sentence on standard error. */
bool cluster_open(struct cluster *cluster, const struct options *options);
/* Ends the masters that cluster_open() started. */
void cluster_close(void);

#endif
