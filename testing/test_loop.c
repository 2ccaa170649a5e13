#include "test_loop.h"

#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "clock.h"
#include "double.h"
#include "io_loop.h"

#define WATCHES    (4 * MASTERS_MAX)
#define TURNS_MOST 50000 /* in which no time passes: more would be for ever */

/* The place of one client. */
struct test_loop {
    struct io_loop base;
    struct test_loop *next;
    pid_t process;                     /* a child of fork() has it, but no turns on it */
    struct io_watch *watches[WATCHES]; /* NULL: a free one */
    usec wakes;
    bool started, stirred;
    void (*turn)(void *owner);
    int64_t (*follows)(void *owner); /* NULL: it does not */
    uint64_t seen;                   /* turns of those that do not, at its last one */
    void *owner;
};

static struct test_loop *loops, *next; /* next: to take its turn */
static uint64_t turns_of_clients;
static bool runs;
static pthread_t thread;

static struct test_loop *test_loop_of(struct io_loop *io)
{
    return (struct test_loop *)(void *)io;
}

/* ---- as io_loop.h wants it -------------------------------------------------------------- */

static void change_watch(struct io_watch *watch, int fd, int events)
{
    struct test_loop *loop = test_loop_of(watch->loop);
    unsigned place = 0;
    (void)fd;
    if (!watch->events == !events)
        return;
    while (place < WATCHES && loop->watches[place] != (watch->events ? watch : NULL))
        place++;
    if (place < WATCHES)
        loop->watches[place] = events ? watch : NULL;
}

static void start(struct io_loop *io)
{
    test_loop_of(io)->started = test_loop_of(io)->stirred = true;
}

static void wake_at(struct io_loop *io, usec at)
{
    test_loop_of(io)->wakes = at;
}

static void hold(struct io_loop *io, bool holds)
{
    (void)io, (void)holds;
}

static void stir(struct io_loop *io)
{
    test_loop_of(io)->stirred = true;
}

static void end(struct io_loop *io)
{
    struct test_loop **at = &loops;
    while (&(*at)->base != io)
        at = &(*at)->next;
    *at = (*at)->next;
    if (next && &next->base == io)
        next = *at;
    free(io);
}

static const struct io_loop_kind kind = {change_watch, start, wake_at, hold, stir, end};

static struct test_loop *make_place(void *owner)
{
    struct test_loop *loop = calloc(1, sizeof *loop);
    if (!loop)
        return NULL;
    *loop = (struct test_loop){
        .base.kind = &kind, .next = loops, .process = getpid(), .wakes = NEVER, .owner = owner};
    return loops = loop;
}

struct io_loop *double_loop_new(void (*turn)(void *owner), void *owner)
{
    struct test_loop *loop = make_place(owner);
    if (!loop)
        return NULL;
    loop->turn = turn;
    return &loop->base;
}

struct test_loop *double_follow(int64_t (*turn)(void *owner), void *owner)
{
    struct test_loop *loop = make_place(owner);
    if (!loop)
        return NULL;
    loop->follows = turn;
    loop->started = true;
    return loop;
}

void double_stir(struct test_loop *loop)
{
    loop->stirred = true;
}

/* ---- running -------------------------------------------------------------------------------- */

static int events_of(const struct pollfd *ready)
{
    bool ends = ready->revents & (POLLERR | POLLHUP);
    return (ends || ready->revents & POLLIN ? IO_READ : 0) |
           (ends || ready->revents & POLLOUT ? IO_WRITE : 0);
}

static bool is_watched(const struct test_loop *loop, const struct io_watch *watch)
{
    for (unsigned i = 0; i < WATCHES; i++)
        if (loop->watches[i] == watch)
            return true;
    return false;
}

/* True if there was one.  A watcher may change the list of watches. */
static bool tell_ready(struct test_loop *loop)
{
    struct pollfd ready[WATCHES];
    struct io_watch *watches[WATCHES];
    nfds_t count = 0;
    bool any = false;
    for (unsigned i = 0; i < WATCHES; i++) {
        struct io_watch *watch = loop->watches[i];
        if (!watch)
            continue;
        short wants = (short)((watch->events & IO_READ ? POLLIN : 0) |
                              (watch->events & IO_WRITE ? POLLOUT : 0));
        watches[count] = watch;
        ready[count++] = (struct pollfd){watch->fd, wants, 0};
    }
    if (count && poll(ready, count, 0) <= 0)
        return false;
    for (nfds_t i = 0; i < count; i++) {
        if (!is_watched(loop, watches[i]) || watches[i]->fd != ready[i].fd)
            continue;
        int events = events_of(&ready[i]) & watches[i]->events;
        if (!events)
            continue;
        any = true;
        watches[i]->ready(watches[i]->owner, events);
    }
    return any;
}

static bool has_others_to_see(const struct test_loop *loop)
{
    return loop->follows && loop->seen != turns_of_clients;
}

static void follow(struct test_loop *loop)
{
    loop->wakes = loop->follows(loop->owner);
    if (loop->wakes < 0)
        end(&loop->base);
}

static bool has_turns(const struct test_loop *loop)
{
    return loop->started && loop->process == getpid();
}

/* True if it had something to do.  It may be gone then. */
static bool take_turn(struct test_loop *loop)
{
    if (!has_turns(loop))
        return false;
    bool any = tell_ready(loop) || loop->stirred || loop->wakes <= double_now(0) ||
               has_others_to_see(loop);
    if (!any)
        return false;
    turns_of_clients += !loop->follows;
    loop->seen = turns_of_clients;
    loop->stirred = false;
    if (loop->follows)
        follow(loop);
    else
        loop->turn(loop->owner);
    return true;
}

/* A turn of each that has something to do; the number of turns. */
static unsigned take_turns(void)
{
    unsigned turns = 0;
    for (struct test_loop *loop = loops; loop; loop = next) {
        next = loop->next; /* end() puts the one behind in its place */
        turns += take_turn(loop);
    }
    return turns;
}

/* False: they never do. */
static bool come_to_rest(unsigned *turns)
{
    unsigned more;
    runs = true;
    *turns = 0;
    do
        *turns += more = take_turns();
    while (more && *turns < TURNS_MOST);
    runs = false;
    return !more;
}

static usec next_wake(void)
{
    usec at = NEVER;
    for (const struct test_loop *loop = loops; loop; loop = loop->next)
        if (has_turns(loop) && loop->wakes < at)
            at = loop->wakes;
    return at;
}

void test_loop_begin(void)
{
    thread = pthread_self();
}

bool double_is_here(void)
{
    return pthread_equal(thread, pthread_self());
}

bool double_runs(void)
{
    return runs;
}

/* False: nobody is to wake so soon. */
static bool go_on(usec until)
{
    usec at = next_wake();
    bool wakes = at <= until;
    clock_go_on_to(wakes ? at : until);
    return wakes;
}

bool test_loop_run(usec how_long)
{
    usec until = double_now(0) + how_long;
    unsigned turns;
    bool rests;
    do
        rests = come_to_rest(&turns);
    while (rests && go_on(until));
    return rests;
}

bool double_go_on(usec until)
{
    unsigned turns;
    bool rests = come_to_rest(&turns);
    return rests && (turns || go_on(until));
}
