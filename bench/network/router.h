/*
 * router.h - passes packets between the client's place and those of the masters: later, in order,
 * and not all.
 */
#ifndef BENCH_NETWORK_ROUTER_H
#define BENCH_NETWORK_ROUTER_H

#include <stdbool.h>
#include <stdint.h>

#include "namespaces.h"

/* Of the way to one master and back. */
struct link_terms {
    double rtt_ms;       /* the round trip */
    double jitter_ms;    /* a packet comes later by at most half of this, each way */
    double loss_percent; /* of the packets, each way */
};

struct router;

/* The one of this process.  `terms` of place i at [i - 1].  NULL: descriptors are out. */
struct router *router_make(const struct place *places, unsigned count,
                           const struct link_terms *terms);
/* Readable when router_turn() has something to do. */
int router_descriptor(const struct router *router);
void router_turn(struct router *router);

#endif
