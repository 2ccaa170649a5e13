/*
 * cluster.h - real masters for a live test, by way of cluster-scripts/cluster.
 */
#ifndef REDLOCK_TEST_CLUSTER_H
#define REDLOCK_TEST_CLUSTER_H

#include <hiredis/hiredis.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CLUSTER_MAX 9

struct cluster {
    unsigned count;
    char dir[64];
    char nodes[CLUSTER_MAX * 40]; /* for redlock_options.nodes */
    int ports[CLUSTER_MAX];
    int guard, guarded; /* pipes to the process that clears up whenever we end */
    redisContext *plain[CLUSTER_MAX];
};

/* Masters are counted from 0 here.  All of these fail the test if they fail. */
void cluster_start(struct cluster *cluster, unsigned count, const char *flags);
void cluster_stop(struct cluster *cluster);
/* "kill 1 3", "restart 2 --empty", as on the command line: counted from 1. */
void cluster_do(struct cluster *cluster, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The same, without a word: whether it succeeded.  For child processes. */
bool cluster_try(const struct cluster *cluster, const char *command);

/* A command to one master from a client that knows nothing of locks; NULL if it cannot
 * be reached.  Free the reply. */
redisReply *cluster_ask(struct cluster *cluster, unsigned master, const char *format, ...);
/* The same, for commands whose only interesting answer is that it was no error. */
void cluster_tell(struct cluster *cluster, unsigned master, const char *format, ...);
/* Its integer answer. */
long long cluster_count(struct cluster *cluster, unsigned master, const char *format, ...);
/* On how many masters the name has this value (NULL: any value). */
unsigned cluster_holders(struct cluster *cluster, const char *name, const char *value);
/* Keys other than redlock:clock on all masters that answer. */
unsigned cluster_keys(struct cluster *cluster);

/* Microseconds of CLOCK_BOOTTIME. */
int64_t now_us(void);
/* Resident memory of this process in bytes. */
size_t resident_bytes(void);

#endif
