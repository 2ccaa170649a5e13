/*
 * line.h - the waiters of one set of names within this client, in the order in which
 * they asked.
 *
 * Only the first contends on the masters; the others wait here, in memory.
 */
#ifndef REDLOCK_CORE_LINE_H
#define REDLOCK_CORE_LINE_H

#include "event.h"
#include "names.h"

struct engine;
struct lease;

struct line {
    struct line *prev, *next; /* in its bucket */
    struct names *names;
    struct lease *first, *last;
    usec drawn_at; /* when one of it last asked for a place on the masters; 0: not yet */
};

#define LINE_BUCKETS 64

/* At the end of its line; false when memory is out. */
bool line_enter(struct engine *engine, struct lease *lease);
/* From wherever it stands; the line goes with its last lease. */
void line_leave(struct engine *engine, struct lease *lease);
/* Of those who wait for just these names; NULL if nobody does. */
struct line *line_of(const struct engine *engine, const struct names *names);
/* How many stand before it. */
unsigned line_position(const struct lease *lease);

#endif
