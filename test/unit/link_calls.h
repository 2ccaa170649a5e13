/*
 * link_calls.h - what a link calls (lookups, threads, memory), under the control of a test.
 *
 * The linker's --wrap puts these functions before the real ones.  A lookup of "slow.test" waits
 * until the test lets it through, "two.test" has two addresses of which the first has no server,
 * and "none.test" does not exist.
 */
#ifndef REDLOCK_TEST_LINK_CALLS_H
#define REDLOCK_TEST_LINK_CALLS_H

#include <stdbool.h>
#include <stddef.h>

extern bool no_threads, no_memory;
extern bool lookup_blocks_signals; /* in the thread of the last lookup of slow.test */

/* How many lookups of slow.test have begun, how many answers were freed, and how many were
 * handed to a loop.  Threads count them: a test reads them by the calls below. */
extern unsigned lookups_waiting, lookups_freed, lookups_handed;

unsigned read_count(const unsigned *count);
void await_at_least(const unsigned *count, unsigned wanted);

void let_a_lookup_through(void);
/* A thread that hands its answer over stops halfway. */
void hold_back_answers(bool hold);

void *__real_realloc(void *, size_t);

#endif
