/*
 * namespaces.h - a network namespace for the client and one for each master, each with one device,
 * whose packets the router reads and writes.
 */
#ifndef BENCH_NETWORK_NAMESPACES_H
#define BENCH_NETWORK_NAMESPACES_H

#define PLACES_MOST 16 /* the client's, and those of the masters */

struct place {
    int space;  /* its namespace, for setns() */
    int device; /* a packet for each read and write */
    char address[16];
};

/* Fills `count` places, of which place i has the address 10.99.i.1.  They end with this process and
 * its children.  Returns NULL, or the step that failed, as errno says. */
const char *namespaces_make(struct place *places, unsigned count);

#endif
