#include "io_loop.h"

void io_watch(struct io_watch *watch, int fd, int events)
{
    if (watch->events == events && (watch->fd == fd || !events))
        return;
    watch->loop->kind->watch(watch, fd, events);
    watch->fd = fd;
    watch->events = events;
}

void io_loop_start(struct io_loop *loop)
{
    loop->kind->start(loop);
}

void io_loop_wake_at(struct io_loop *loop, usec at)
{
    loop->kind->wake_at(loop, at);
}

void io_loop_hold(struct io_loop *loop, bool hold)
{
    loop->kind->hold(loop, hold);
}

void io_loop_stir(struct io_loop *loop)
{
    loop->kind->stir(loop);
}

void io_loop_free(struct io_loop *loop)
{
    if (loop)
        loop->kind->free(loop);
}
