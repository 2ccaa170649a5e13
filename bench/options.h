/*
 * options.h - the command line of redlock-bench.
 */
#ifndef BENCH_OPTIONS_H
#define BENCH_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#define MOST_PERMITS 1024

struct options {
    char **command; /* the whole command line, up to a NULL */
    const char *scenario;
    const char *nodes;    /* NULL: masters of our own */
    unsigned masters;     /* of our own; 0: all that --nodes names */
    unsigned concurrency; /* closed loop: pairs in flight */
    double rate;          /* open loop: pairs a second; 0: closed loop */
    double seconds;       /* to measure */
    double warm;          /* seconds before the measuring */
    uint64_t pairs;       /* exactly this many pairs, warm-up included; 0: by time */
    int64_t ttl_ms, max_ttl_ms;
    int64_t request_timeout_ms; /* 0: the library's own choice */
    unsigned spare;             /* votes */
    const char *fleet;          /* whose clients compare their masters; NULL: none */
    bool descriptor;            /* of our clients, which the loop watches */
    unsigned names;             /* in each lease */
    unsigned name_size;         /* bytes of each */
    unsigned shared;         /* pairs: names that all such processes share; 0: each has its own */
    bool fence;              /* pairs, burst: with a fencing token */
    bool reads;              /* pairs: with its names shared */
    unsigned leases;         /* renew, closing, burst; local-queue: waiters; storm, idle: clients */
    unsigned workers;        /* handoff, turns: processes */
    unsigned permits;        /* pairs, permits: of each name; 0: the name itself */
    unsigned readers;        /* turns: processes that share the name */
    double hold_ms, rest_ms; /* handoff, turns, burst: how long one holds, and then rests */
    const char *worker;      /* handoff: command of a worker; NULL: our own; start: the command */
    const char *count;       /* handoff, turns: server commands to count */
    bool json;
    bool slices;   /* a slice for each line of standard input */
    bool syscalls; /* count them in runs of their own */
};

/* Ends the program on --help and on a bad command line. */
void options_read(struct options *options, int argc, char **argv);

#endif
