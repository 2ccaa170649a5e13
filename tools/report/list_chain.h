/*
 * list_chain.h - the shortest way from one list of masters to another.
 *
 * Clients of two neighbours on it exclude each other, so both may be in use at once.
 */
#ifndef REDLOCK_TOOLS_LIST_CHAIN_H
#define REDLOCK_TOOLS_LIST_CHAIN_H

#include <stdbool.h>

#include "redlock.h"

/* A list: the number of its masters that go, and of those that come.  All that stay are in it. */
struct chain_list {
    unsigned going, coming;
};

struct list_chain {
    unsigned staying, going, coming; /* masters; the caller's, as is `spare` */
    unsigned spare;
    unsigned count; /* of lists, with the first and the last */
    struct chain_list lists[2 * REDLOCK_MASTERS_MAX + 1];
};

/* Of the shortest ways it takes the longest lists.  False if there is none. */
bool chain_find(struct list_chain *chain);

unsigned chain_masters(const struct list_chain *chain, struct chain_list list);

#endif
