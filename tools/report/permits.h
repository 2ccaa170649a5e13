/*
 * permits.h - a name of which permits are out or waited for, and their holders.
 */
#ifndef REDLOCK_TOOLS_PERMITS_H
#define REDLOCK_TOOLS_PERMITS_H

#include "votes.h"

struct permits {
    unsigned count;        /* how many there are; 0: it is not about permits */
    redlock_crowd holders; /* of those that are out, by their slots */
};

/* By a quorum of masters, counting those that did not answer: a permit is taken, and given back, on
 * one master after the other. */
struct permits look_permits(const redlock_look_result *result);

/* The value stands for permits. */
bool is_of_permits(const char *value);

/* "2 of 4 permits" */
void permits_show(struct text *out, unsigned taken, unsigned count);

#endif
