/*
 * cluster.h - the masters of a run: those named by the user, or some started for it.
 */
#ifndef BENCH_CLUSTER_H
#define BENCH_CLUSTER_H

#include <sys/time.h>

#include "scenario.h"

struct redisContext;
struct redisReply;

/* False: a sentence on standard error says why. */
bool cluster_open(struct cluster *cluster, const struct options *options);
/* Writes AUTH for a master into words[3], as hiredis takes it; 0: the master needs none. */
int cluster_login(const struct cluster *cluster, unsigned i, const char *words[3]);
/* A blocking connection that has logged in, or one with err, or NULL; `timeout` may be NULL. */
struct redisContext *cluster_connect(const struct cluster *cluster, unsigned i,
                                     const struct timeval *timeout);
/* A master's answer on a connection of its own, or NULL; freeReplyObject() frees it. */
struct redisReply *cluster_ask(const struct cluster *cluster, unsigned i, const char *command);
/* Ends the masters that cluster_open() started. */
void cluster_close(void);

#endif
