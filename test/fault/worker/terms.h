/*
 * terms.h - the command line and environment of a worker; all kinds of workers have the same.
 */
#ifndef FAULT_WORKER_TERMS_H
#define FAULT_WORKER_TERMS_H

#include <stdbool.h>
#include <stdint.h>

#define NAMES_MOST 64

struct terms {
    const char *record, *label;
    bool has_nodes;          /* in the environment, where the library looks */
    char *register_host;     /* NULL: no record is written */
    char *register_password; /* NULL: it needs none */
    int register_port;
    double seconds, hold_us;
    unsigned seed, long_every;         /* one lease in this many is held beyond its ttl */
    unsigned readers, tries, unfenced; /* percent of the attempts */
    unsigned permits;      /* K: the attempts ask for one of K permits; 0: for the name */
    unsigned fewer, whole; /* percent of them: ask for one of less than K; for the name */
    int64_t ttl_ms, wait_ms, max_ttl_ms, skew_ms;
    int64_t rest_ms; /* at most, after a lease */
    int spare;
    char **names;
    unsigned count;
};

/* False, and a usage on stderr, if it cannot be used. */
bool terms_parse(struct terms *terms, int argc, char **argv);

#endif
