/*
 * trace.h - the story of one run, one line for each thing that happens.
 *
 *     1119.298 ms      master 3 carries out acquire a t11 of client 1: yes
 *
 * The time is true time; clients and masters see their own.  `a` is a name, `t11` the eleventh
 * token of the run.  Calls and outcomes of users have the smallest indent, then clients, then
 * masters.  FAULT names what was broken; from PEACE on nothing is.  "(who has left)": the
 * connection has ended.
 */
#ifndef SIM_TRACE_H
#define SIM_TRACE_H

#include "world.h"

#define TRACE(world, ...)                                                                          \
    do {                                                                                           \
        if ((world)->options.trace)                                                                \
            trace_line(world, __VA_ARGS__);                                                        \
    } while (0)

void trace_line(const struct world *world, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

const char *answer_name(enum answer answer);
/* "a+c" */
const char *names_text(const uint8_t *names, unsigned count);
/* "/sx" for modes of which one is shared, else nothing. */
const char *modes_text(unsigned shared, unsigned count);
/* ", clock 17…", or nothing. */
const char *clock_text(usec clock);

#endif
