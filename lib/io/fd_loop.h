/*
 * fd_loop.h - a loop of our own for one client: an epoll instance, whose descriptor is all that the
 * application has to watch, for reading.
 *
 * Its timer is a timerfd on CLOCK_BOOTTIME, so that the descriptor is readable at once when the
 * machine wakes from a suspend during which something has become due.
 */
#ifndef REDLOCK_IO_FD_LOOP_H
#define REDLOCK_IO_FD_LOOP_H

#include "io_loop.h"

/* NULL: memory or descriptors are out; errno tells which. */
struct io_loop *fd_loop_new(void);

/* Any number of watches fits, while each link has one connection and one name lookup at most. */
#define FD_LOOP_WATCHES 64

int fd_loop_descriptor(const struct io_loop *loop);

/* True if another thread has had a turn: the first one to have one keeps the loop. */
bool fd_loop_is_elsewhere(const struct io_loop *loop);

/* Tells the watchers what their descriptors are ready for, without waiting.  The turn is the
 * caller's.  False: the descriptors of the loop itself are gone, as the application closed them. */
bool fd_loop_dispatch(struct io_loop *loop);

/* The time of the next turn, if no descriptor is ready earlier; 0: now. */
usec fd_loop_next_turn(const struct io_loop *loop);

#endif
