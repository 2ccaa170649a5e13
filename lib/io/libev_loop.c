/*
 * libev_loop.c - the only file of the library that knows libev.
 *
 * Each watcher of ours is started with an ev_unref(), so that it does not keep the loop alive; it
 * is stopped with an ev_ref() before.
 */
#include "libev_loop.h"

#include <ev.h>
#include <stdlib.h>

#include "system.h"

_Static_assert((int)EV_READ == IO_READ && (int)EV_WRITE == IO_WRITE,
               "events are handed on as they are");
_Static_assert(sizeof(ev_io) <= sizeof((struct io_watch *)NULL)->room, "a watch has room for it");

struct libev_loop {
    struct io_loop base;
    struct ev_loop *ev;
    ev_prepare prepare;
    ev_timer timer;
    usec timer_at;
    bool holds;
    void (*turn)(void *owner);
    void *owner;
};

static struct libev_loop *libev_loop_of(struct io_loop *loop)
{
    return (struct libev_loop *)(void *)loop;
}

/* ---- descriptors -------------------------------------------------------------- */

/* With EV_ERROR libev has stopped the watcher. */
static void on_watcher(struct ev_loop *ev, ev_io *io, int events)
{
    struct io_watch *watch = io->data;
    (void)ev;
    watch->ready(watch->owner, events & EV_ERROR ? IO_REFUSED : events);
}

static void start_watcher(struct libev_loop *loop, struct io_watch *watch, int fd, int events)
{
    ev_io *io = (ev_io *)(void *)watch->room;
    ev_io_init(io, on_watcher, fd, events);
    io->data = watch;
    ev_io_start(loop->ev, io);
    ev_unref(loop->ev);
}

static void stop_watching(struct libev_loop *loop, struct io_watch *watch)
{
    ev_ref(loop->ev);
    ev_io_stop(loop->ev, (ev_io *)(void *)watch->room);
}

static void libev_change_watch(struct io_watch *watch, int fd, int events)
{
    struct libev_loop *loop = libev_loop_of(watch->loop);
    if (watch->events)
        stop_watching(loop, watch);
    if (events)
        start_watcher(loop, watch, fd, events);
}

/* ---- the timer: it only wakes the loop; the turn follows ---------------------- */

/* The timer has stopped itself, which took a reference that libev_set_timer() had dropped. */
static void on_timer(struct ev_loop *ev, ev_timer *timer, int events)
{
    struct libev_loop *loop = timer->data;
    (void)events;
    loop->timer_at = NEVER;
    ev_ref(ev);
}

static void libev_set_timer(struct io_loop *io, usec at)
{
    struct libev_loop *loop = libev_loop_of(io);
    if (at == loop->timer_at)
        return;
    if (loop->timer_at != NEVER) {
        ev_ref(loop->ev);
        ev_timer_stop(loop->ev, &loop->timer);
    }
    loop->timer_at = at;
    if (at == NEVER)
        return;
    usec after = at - system_now();
    ev_timer_set(&loop->timer, after > 0 ? (double)after / 1e6 : 0., 0.);
    ev_timer_start(loop->ev, &loop->timer);
    ev_unref(loop->ev);
}

/* ---- references ---------------------------------------------------------------- */

static void libev_hold(struct io_loop *io, bool hold)
{
    struct libev_loop *loop = libev_loop_of(io);
    if (hold && !loop->holds)
        ev_ref(loop->ev);
    else if (!hold && loop->holds)
        ev_unref(loop->ev);
    loop->holds = hold;
}

/* ---- beginning, turns and end --------------------------------------------------- */

static void on_prepare(struct ev_loop *ev, ev_prepare *prepare, int events)
{
    struct libev_loop *loop = prepare->data;
    (void)ev, (void)events;
    loop->turn(loop->owner);
}

static void libev_start(struct io_loop *io)
{
    struct libev_loop *loop = libev_loop_of(io);
    ev_prepare_start(loop->ev, &loop->prepare);
    ev_unref(loop->ev);
}

/* A turn comes before the loop blocks, whatever has happened. */
static void libev_stir(struct io_loop *io)
{
    (void)io;
}

static void libev_end(struct io_loop *io)
{
    struct libev_loop *loop = libev_loop_of(io);
    libev_set_timer(io, NEVER);
    libev_hold(io, false);
    if (ev_is_active(&loop->prepare)) {
        ev_ref(loop->ev);
        ev_prepare_stop(loop->ev, &loop->prepare);
    }
    free(loop);
}

static const struct io_loop_kind kind = {libev_change_watch, libev_start, libev_set_timer,
                                         libev_hold,         libev_stir,  libev_end};

struct io_loop *libev_loop_new(struct ev_loop *ev, void (*turn)(void *owner), void *owner)
{
    struct libev_loop *loop = calloc(1, sizeof *loop);
    if (!loop)
        return NULL;
    loop->base.kind = &kind;
    loop->ev = ev;
    loop->turn = turn;
    loop->owner = owner;
    loop->timer_at = NEVER;
    ev_init(&loop->timer, on_timer);
    loop->timer.data = loop;
    ev_prepare_init(&loop->prepare, on_prepare);
    loop->prepare.data = loop;
    return &loop->base;
}
