#include "fd_loop.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "forks.h"
#include "system.h"

/* Numbers behind those of the watches. */
#define TIMER   FD_LOOP_WATCHES
#define BELL    (FD_LOOP_WATCHES + 1)
#define NUMBERS (FD_LOOP_WATCHES + 2)

_Static_assert(2 * 2 * MASTERS_MAX < FD_LOOP_WATCHES,
               "two links to each master, with a lookup each");

/* epoll hands back a number and the count of its uses, and no pointer.  So a watch that was stopped
 * meanwhile is skipped, and a foreign epoll instance with our descriptor's number is harmless. */
struct slot {
    struct io_watch *watch; /* NULL: free */
    uint32_t uses;
    bool refused; /* epoll did not take it, which is not reported yet */
};

struct fd_loop {
    struct io_loop base;
    int epoll, timer;
    int bell; /* an eventfd, always writable: epoll is asked to tell that once, or not */
    unsigned process;
    usec armed;   /* the time to which the timer is set; NEVER: to none */
    bool expired; /* that time is over: the timer is readable until it is set again */
    bool stirred; /* the bell rings */
    bool refused; /* one of the slots is */
    bool owned;   /* a thread has had a turn */
    pthread_t thread;
    struct slot slots[FD_LOOP_WATCHES];
};

static struct fd_loop *fd_loop_of(struct io_loop *loop)
{
    return (struct fd_loop *)(void *)loop;
}

static const struct fd_loop *look_at(const struct io_loop *loop)
{
    return (const struct fd_loop *)(const void *)loop;
}

/* A forked child shares epoll and timer with its parent, and leaves both alone. */
static bool is_ours(const struct fd_loop *loop)
{
    return loop->process == forks_process();
}

/* ---- descriptors -------------------------------------------------------------- */

static struct epoll_event wish(unsigned number, uint32_t uses, int events)
{
    struct epoll_event wish = {.data.u64 = (uint64_t)uses << 32 | number};
    if (events & IO_READ)
        wish.events |= EPOLLIN;
    if (events & IO_WRITE)
        wish.events |= EPOLLOUT;
    return wish;
}

/* It is what the loop keeps of a watch. */
static struct slot *slot_of(const struct io_watch *watch)
{
    return watch->room[0];
}

static struct slot *take_slot(struct fd_loop *loop, struct io_watch *watch)
{
    struct slot *slot = loop->slots;
    while (slot->watch)
        slot++;
    slot->watch = watch;
    slot->uses++;
    slot->refused = false;
    watch->room[0] = slot;
    return slot;
}

static void ask_epoll(struct fd_loop *loop, int operation, struct slot *slot, int fd, int events)
{
    struct epoll_event event = wish((unsigned)(slot - loop->slots), slot->uses, events);
    if (!is_ours(loop) || epoll_ctl(loop->epoll, operation, fd, &event) == 0)
        return;
    if (operation == EPOLL_CTL_DEL) /* it was closed, which also ends the watching */
        return;
    slot->refused = loop->refused = true;
}

static void watch_by_epoll(struct fd_loop *loop, struct io_watch *watch, int fd, int events)
{
    if (fd == loop->bell) /* which the application has closed; to ring would spoil the watch */
        loop->bell = -1;
    ask_epoll(loop, EPOLL_CTL_ADD, take_slot(loop, watch), fd, events);
}

static void fd_change_watch(struct io_watch *watch, int fd, int events)
{
    struct fd_loop *loop = fd_loop_of(watch->loop);
    if (watch->events && events && fd == watch->fd) {
        ask_epoll(loop, EPOLL_CTL_MOD, slot_of(watch), fd, events);
        return;
    }
    if (watch->events) {
        ask_epoll(loop, EPOLL_CTL_DEL, slot_of(watch), watch->fd, 0);
        slot_of(watch)->watch = NULL;
    }
    if (events)
        watch_by_epoll(loop, watch, fd, events);
}

/* ---- what is the loop's own.  If the application has closed it, it is made again; another file
 * that has got its number since is left alone, unless it gets it between two calls here. ---- */

/* epoll takes no file twice, so one that it takes is not in it. */
static bool is_unknown(const struct fd_loop *loop, int fd)
{
    struct epoll_event nothing = {0};
    if (epoll_ctl(loop->epoll, EPOLL_CTL_ADD, fd, &nothing) == 0)
        return epoll_ctl(loop->epoll, EPOLL_CTL_DEL, fd, &nothing) == 0;
    return errno == EPERM; /* a file that it never takes */
}

/* Where neither is known, it is epoll's number that another file has got. */
static bool epoll_is_anothers(const struct fd_loop *loop)
{
    return is_unknown(loop, loop->timer) && is_unknown(loop, loop->bell);
}

static bool is_anothers(const struct fd_loop *loop, int fd)
{
    return is_unknown(loop, fd) && !epoll_is_anothers(loop);
}

/* The descriptor, or -1. */
static int add_descriptor(struct fd_loop *loop, int fd, unsigned number, uint32_t events)
{
    struct epoll_event event = {.events = events, .data.u64 = number};
    if (fd < 0 || epoll_ctl(loop->epoll, EPOLL_CTL_ADD, fd, &event) == 0)
        return fd;
    int error = errno;
    close(fd);
    errno = error;
    return -1;
}

static bool make_bell(struct fd_loop *loop, uint32_t events)
{
    loop->bell = add_descriptor(loop, eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC), BELL, events);
    return loop->bell >= 0;
}

static bool ring(struct fd_loop *loop)
{
    struct epoll_event event = {.events = EPOLLOUT | EPOLLONESHOT, .data.u64 = BELL};
    loop->stirred = epoll_ctl(loop->epoll, EPOLL_CTL_MOD, loop->bell, &event) == 0;
    if (!loop->stirred && (errno == EBADF || errno == ENOENT) && !epoll_is_anothers(loop))
        loop->stirred = make_bell(loop, event.events);
    return loop->stirred;
}

static bool make_timer(struct fd_loop *loop)
{
    int fd = timerfd_create(CLOCK_BOOTTIME, TFD_NONBLOCK | TFD_CLOEXEC);
    loop->timer = add_descriptor(loop, fd, TIMER, EPOLLIN);
    return loop->timer >= 0;
}

/* To set the timer also takes back that it is readable. */
static bool set_timerfd(struct fd_loop *loop, usec at)
{
    struct itimerspec when = {0};
    if (at != NEVER)
        when.it_value = (struct timespec){at / 1000000, at % 1000000 * 1000};
    loop->armed = at;
    loop->expired = false;
    return !is_anothers(loop, loop->timer) &&
           timerfd_settime(loop->timer, TFD_TIMER_ABSTIME, &when, NULL) == 0;
}

static void fd_stir(struct io_loop *io)
{
    struct fd_loop *loop = fd_loop_of(io);
    if (!loop->stirred && is_ours(loop) && !ring(loop))
        set_timerfd(loop, 1);
}

/* A timer that is set to an earlier time is left alone: the turn that it brings sets it again.  So
 * deadlines that are put off over and over, as those of requests are, cost no system call. */
static void fd_wake_at(struct io_loop *io, usec at)
{
    struct fd_loop *loop = fd_loop_of(io);
    if (at <= 0 || loop->refused)
        fd_stir(io);
    else if (is_ours(loop) && (loop->expired || loop->armed > at) && !set_timerfd(loop, at) &&
             make_timer(loop))
        set_timerfd(loop, at);
}

usec fd_loop_next_turn(const struct io_loop *io)
{
    const struct fd_loop *loop = look_at(io);
    return loop->expired || loop->stirred ? 0 : loop->armed;
}

/* ---- what is ready ------------------------------------------------------------ */

static int events_of(uint32_t ready)
{
    bool ends = ready & (EPOLLERR | EPOLLHUP);
    return (ends || ready & EPOLLIN ? IO_READ : 0) | (ends || ready & EPOLLOUT ? IO_WRITE : 0);
}

static void tell_ready_slot(struct fd_loop *loop, const struct epoll_event *event)
{
    uint32_t number = (uint32_t)event->data.u64, uses = (uint32_t)(event->data.u64 >> 32);
    if (number == BELL && uses == 0)
        loop->stirred = false;
    if (number >= FD_LOOP_WATCHES || loop->slots[number].uses != uses)
        return;
    struct io_watch *watch = loop->slots[number].watch;
    int events = watch ? events_of(event->events) & watch->events : 0;
    if (events)
        watch->ready(watch->owner, events);
}

static void tell_refused(struct fd_loop *loop)
{
    loop->refused = false;
    for (unsigned i = 0; i < FD_LOOP_WATCHES; i++) {
        struct slot *slot = &loop->slots[i];
        if (slot->watch && slot->refused) {
            slot->refused = false;
            slot->watch->ready(slot->watch->owner, IO_REFUSED);
        }
    }
}

bool fd_loop_dispatch(struct io_loop *io)
{
    struct fd_loop *loop = fd_loop_of(io);
    struct epoll_event ready[NUMBERS];
    if (!loop->owned)
        loop->thread = pthread_self();
    loop->owned = true;
    int count = epoll_wait(loop->epoll, ready, NUMBERS, 0);
    bool works = count >= 0 || errno == EINTR;
    loop->expired = loop->armed <= system_now(); /* also if the timer was closed meanwhile */
    for (int i = 0; i < count; i++)
        tell_ready_slot(loop, &ready[i]);
    if (loop->refused)
        tell_refused(loop);
    return works;
}

/* ---- beginning and end -------------------------------------------------------- */

bool fd_loop_is_elsewhere(const struct io_loop *io)
{
    const struct fd_loop *loop = look_at(io);
    return loop->owned && !pthread_equal(loop->thread, pthread_self());
}

int fd_loop_descriptor(const struct io_loop *io)
{
    return look_at(io)->epoll;
}

static void fd_start(struct io_loop *io)
{
    fd_stir(io);
}

/* How long the application's loop lives is its own affair. */
static void fd_hold(struct io_loop *io, bool hold)
{
    (void)io, (void)hold;
}

static void fd_end(struct io_loop *io)
{
    struct fd_loop *loop = fd_loop_of(io);
    bool ours = is_ours(loop);
    if (ours && is_anothers(loop, loop->timer))
        loop->timer = -1;
    if (ours && is_anothers(loop, loop->bell))
        loop->bell = -1;
    const int own[] = {loop->timer, loop->bell, loop->epoll};
    for (unsigned i = 0; i < 3; i++)
        if (own[i] >= 0)
            close(own[i]);
    free(loop);
}

static const struct io_loop_kind kind = {fd_change_watch, fd_start, fd_wake_at,
                                         fd_hold,         fd_stir,  fd_end};

struct io_loop *fd_loop_new(void)
{
    struct fd_loop *loop = calloc(1, sizeof *loop);
    if (!loop)
        return NULL;
    loop->base.kind = &kind;
    loop->process = forks_process();
    loop->armed = NEVER;
    loop->timer = loop->bell = -1;
    loop->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (loop->epoll >= 0 && make_timer(loop) && make_bell(loop, 0))
        return &loop->base;
    int error = errno;
    fd_end(&loop->base);
    errno = error;
    return NULL;
}
