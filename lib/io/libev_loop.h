/*
 * libev_loop.h - a client's place on a loop of libev, which the application runs.
 */
#ifndef REDLOCK_IO_LIBEV_LOOP_H
#define REDLOCK_IO_LIBEV_LOOP_H

#include "io_loop.h"

struct ev_loop;

/* Calls `turn` each time before the loop blocks, after all events: so the requests that follow from
 * them are written at once.  It may free the io_loop.  NULL: memory is out. */
struct io_loop *libev_loop_new(struct ev_loop *ev, void (*turn)(void *owner), void *owner);

#endif
