/*
 * resource.h - the register that a lock is to protect (register.lua), as a worker uses it.
 */
#ifndef FAULT_WORKER_RESOURCE_H
#define FAULT_WORKER_RESOURCE_H

#include <ev.h>
#include <stdbool.h>
#include <stdint.h>

/* An act on it, and the attempt's number: a reader reads, a writer writes. */
struct use {
    const char *name; /* or the key of its slot, each of which has fences of its own */
    unsigned number;
    int64_t fence; /* 0: without one */
    bool reads;
};

/* The register's answer, "accepted fresh"; NULL if no answer will come. */
typedef void resource_answered(void *user, unsigned number, const char *verdict);

struct resource {
    struct ev_loop *loop;
    const char *host, *password, *label; /* password: NULL if it needs none */
    int port;
    resource_answered *answered;
    struct redisAsyncContext *context; /* NULL: not connected */
    ev_timer again;
    unsigned in_flight;
    bool closing;
};

void resource_open(struct resource *resource);
/* False if it cannot be sent; otherwise `answered` follows, once. */
bool resource_use(struct resource *resource, const struct use *use, void *user);
void resource_close(struct resource *resource);

#endif
