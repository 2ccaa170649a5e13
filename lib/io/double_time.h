/*
 * double_time.h - a clock that a test may have in its hands, and calls that wait for it.
 *
 * libredlock has neither, see double.h.  This is a leaf: lib/sync knows it.  Times are
 * microseconds.
 */
#ifndef REDLOCK_IO_DOUBLE_TIME_H
#define REDLOCK_IO_DOUBLE_TIME_H

#include <stdbool.h>
#include <stdint.h>

/* The time, where the system's clock says `real`. */
int64_t double_now(int64_t real);
/* Time passes only when the test says so, or while a call waits. */
bool double_is_virtual(void);

/* ---- calls that wait, in virtual time: there is one thread, and time passes while it waits ----
 */

/* A place on the test's loop; a turn comes whenever a client has had one.  Each returns the time at
 * which the next one comes without that; below 0: that was the last one. */
struct test_loop *double_follow(int64_t (*turn)(void *owner), void *owner);
/* There is something to do for it. */
void double_stir(struct test_loop *place);

/* This is the thread that has virtual time. */
bool double_is_here(void);
/* A turn is being taken: this is called in a callback. */
bool double_runs(void);
/* Takes the turns that are due, or goes on to the next moment, at most to `until`.  False: that has
 * come, or the clients never come to rest. */
bool double_go_on(int64_t until);

#endif
