/*
 * result.h - the figures of one run or slice.
 */
#ifndef BENCH_RESULT_H
#define BENCH_RESULT_H

#include <stdbool.h>
#include <stddef.h>

#include "histogram.h"
#include "options.h"

#define FACTS_MAX 24

/* A figure that only some scenarios have. */
struct fact {
    const char *name; /* with its unit: "memory_bytes_per_lease" */
    double value;
};

struct result {
    struct histogram acquire, release; /* ns */
    uint64_t pairs, failed;
    double seconds;
    double user, system; /* CPU seconds meanwhile, of this process; of `start`, the commands' */
    struct fact facts[FACTS_MAX];
    unsigned fact_count;
    char note[240]; /* the first failure, for people */
};

void result_clear(struct result *result);
void result_fact(struct result *result, const char *name, double value);
/* Keeps the first only: later failures are mostly its consequences. */
void result_note(struct result *result, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* CPU seconds so far, of this process and of the children for which it has waited. */
void usage_now(double *user, double *system);
void usage_of_children(double *user, double *system);
/* Bytes that malloc has given out. */
size_t bytes_in_use(void);
/* Bytes of this process that are in memory. */
int64_t bytes_resident(void);
int64_t now_ns(void);

/* One line of JSON, or a table for people. */
void report(const struct options *options, const struct result *result, unsigned masters);

#endif
