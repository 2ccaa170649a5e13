/*
 * cluster.h - real masters for a live test, by way of cluster-scripts/cluster.
 */
#ifndef REDLOCK_TEST_CLUSTER_H
#define REDLOCK_TEST_CLUSTER_H

#include <hiredis/hiredis.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define CLUSTER_MAX 9
/* The teller of a list that is over asks masters each 5 s whether they know it. */
#define LIST_ENDS_MS 20000

/* The masters are inside this process: test/double/cluster_double.c. */
bool cluster_is_inside(void);
/* The first statement of a case that asks them for what they are not. */
#define NEEDS_SERVERS()                                                                            \
    do                                                                                             \
        if (cluster_is_inside())                                                                   \
            skip();                                                                                \
    while (0)

/* Masters, and what stands before them, speak TLS if REDLOCK_TEST_TLS is set: "rediss" or "redis".
 */
const char *cluster_scheme(void);

/* This stands before an address of theirs where masters tell of a list. */
const char *cluster_mark(void);

/* A master at a port of this machine: cluster_scheme(), a password, the port. */
#define URI_FORMAT "%s://:%s@127.0.0.1:%d "
#define URI_SIZE   140

/* Where the certificates of the masters are that were started last; NULL: they speak no TLS. */
const char *cluster_tls_folder(void);

/* The path of a master's socket that is not TLS, if the master at that port is one that was started
 * last, with TLS; else NULL. */
const char *cluster_socket(int port);

struct cluster {
    unsigned count;
    char dir[64];
    char nodes[CLUSTER_MAX * URI_SIZE]; /* for redlock_options.nodes */
    char passwords[CLUSTER_MAX][40];
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

/* Runs the command in a process of its own that the caller waits for: it exits with 0 if all went
 * well. Not a fork(): a proxy is a thread here, and may have the lock of malloc() just then. */
pid_t cluster_begin(const struct cluster *cluster, const char *command);

/* A connection of the caller's own to one master, logged in; free it. */
redisContext *cluster_connect(const struct cluster *cluster, unsigned master);
/* Likewise; the master shows it each command that its scripts call, in order. */
redisContext *cluster_monitor(const struct cluster *cluster, unsigned master);
/* A command to one master from a client that knows nothing of locks; NULL if the master cannot
 * be reached.  Free the reply. */
redisReply *cluster_ask(struct cluster *cluster, unsigned master, const char *format, ...);
/* For commands whose answer matters only if it is an error. */
void cluster_tell(struct cluster *cluster, unsigned master, const char *format, ...);
/* To all masters. */
void cluster_tell_all(struct cluster *cluster, const char *format, ...);
/* The answer, which must be none of an error.  Free it. */
redisReply *cluster_answer(struct cluster *cluster, unsigned master, const char *format,
                           va_list arguments);
/* Its integer answer. */
long long cluster_count(struct cluster *cluster, unsigned master, const char *format, ...);
/* The number of masters that answer so. */
unsigned cluster_answering(struct cluster *cluster, long long answer, const char *format, ...);
/* The number of masters on which the name has this value (NULL: any value). */
unsigned cluster_holders(struct cluster *cluster, const char *name, const char *value);
/* Keys on all masters that answer, without redlock:clock and the marks that keep renewals from
 * healing. */
unsigned cluster_keys(struct cluster *cluster);

/* Microseconds of CLOCK_BOOTTIME. */
int64_t now_us(void);
/* Resident memory of this process in bytes. */
size_t resident_bytes(void);

#endif
