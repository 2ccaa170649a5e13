/*
 * io_loop.h - a client's place on an event loop, whichever it is: one of libev (libev_loop.h), or
 * one of our own, which shows a single descriptor (fd_loop.h).
 *
 * A loop reports ready descriptors, and wakes at a time.  Then the client takes its turn, once for
 * all that has come.
 */
#ifndef REDLOCK_IO_IO_LOOP_H
#define REDLOCK_IO_IO_LOOP_H

#include "ground/event.h"

struct io_loop;

enum {
    IO_READ = 1,
    IO_WRITE = 2,
    IO_REFUSED = 4 /* the loop cannot watch the descriptor, and does not: SYSTEM_NOT_WATCHED */
};

/* A descriptor, and what it is watched for.  It never keeps the application's loop alive: the
 * client knows when there is something to wait for. */
struct io_watch {
    struct io_loop *loop;
    int fd, events; /* 0: it is not watched */
    void (*ready)(void *owner, int events);
    void *owner;
    void *room[8]; /* what the kind of loop keeps of it */
};

/* The functions of a kind of loop; see those below. */
struct io_loop_kind {
    void (*watch)(struct io_watch *watch, int fd, int events);
    void (*start)(struct io_loop *loop);
    void (*wake_at)(struct io_loop *loop, usec at);
    void (*hold)(struct io_loop *loop, bool hold);
    void (*stir)(struct io_loop *loop);
    void (*free)(struct io_loop *loop);
};

struct io_loop {
    const struct io_loop_kind *kind;
};

/* From now on `fd` is watched for these events alone; 0: it is not watched.  Before the descriptor
 * is closed it must be watched no more. */
void io_watch(struct io_watch *watch, int fd, int events);

/* From now on there are turns. */
void io_loop_start(struct io_loop *loop);
/* There is a turn at this time, or earlier; NEVER: at no time. */
void io_loop_wake_at(struct io_loop *loop, usec at);
/* True: the application's loop is to live, as the client waits for something. */
void io_loop_hold(struct io_loop *loop, bool hold);
/* There is something to do: there is a turn before the loop blocks. */
void io_loop_stir(struct io_loop *loop);
/* Nothing may be watched any more.  NULL is allowed. */
void io_loop_free(struct io_loop *loop);

#endif
