/*
 * cluster.h - the masters of a run: given, or started for it.
 */
#ifndef BENCH_CLUSTER_H
#define BENCH_CLUSTER_H

#include <sys/time.h>

#include "scenario.h"

struct redisContext;

/* False after a sentence on standard error. */
bool cluster_open(struct cluster *cluster, const struct options *options);
/* AUTH for a master, as hiredis takes it, into words[3]; 0: it needs none. */
int cluster_login(const struct cluster *cluster, unsigned i, const char *words[3]);
/* A blocking connection that has logged in, or one with err, or NULL; `patience` may be NULL. */
struct redisContext *cluster_connect(const struct cluster *cluster, unsigned i,
                                     const struct timeval *patience);
/* Ends the masters that cluster_open() started. */
void cluster_close(void);

#endif
