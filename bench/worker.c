/*
 * worker.c - a process that acquires the one lock again and again.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "crowd.h"
#include "redlock.h"
#include "user.h"

struct worker {
    struct user user;
    const struct options *options;
    redlock_lease *lease;
    ev_timer hold, rest;
    ev_signal end;
    ev_check look;
    int64_t asked, enqueued, acquired, released;
    bool reads, ending;
};

static void start_timer(struct worker *worker, ev_timer *timer, double ms)
{
    ev_now_update(worker->user.loop);
    ev_timer_set(timer, ms / 1e3, 0.);
    ev_timer_start(worker->user.loop, timer);
}

static void on_held(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop, (void)events;
    struct worker *worker = timer->data;
    worker->released = now_ns();
    redlock_lease_release(worker->lease);
}

static void on_event(redlock_lease *lease, const redlock_event *event, void *data)
{
    struct worker *worker = data;
    switch (event->kind) {
    case REDLOCK_ACQUIRED:
        worker->acquired = now_ns();
        start_timer(worker, &worker->hold, worker->options->hold_ms);
        break;
    case REDLOCK_RELEASED:
        printf("%lld %lld %lld %lld %d\n", (long long)worker->asked, (long long)worker->acquired,
               (long long)worker->released, (long long)worker->enqueued, redlock_lease_slot(lease));
        fflush(stdout);
        /* fallthrough */
    case REDLOCK_NOT_ACQUIRED:
        redlock_lease_free(lease);
        worker->lease = NULL;
        start_timer(worker, &worker->rest, worker->options->rest_ms * (0.5 + drand48()));
        break;
    case REDLOCK_LOST:
        fprintf(stderr, "redlock-bench: lost: %s\n", event->text);
        ev_timer_stop(worker->user.loop, &worker->hold);
        worker->released = now_ns();
        redlock_lease_release(lease);
        break;
    default:
        break;
    }
}

/* Every master has answered, and some have enqueued the waiter: it is in the queue of a quorum,
 * now at the latest. */
static void on_look(struct ev_loop *loop, ev_check *look, int events)
{
    (void)loop, (void)events;
    struct worker *worker = look->data;
    redlock_place place = {.size = sizeof place};
    redlock_node node = {.size = sizeof node};
    unsigned in_flight = 0;
    if (worker->enqueued || !worker->lease || redlock_lease_place(worker->lease, &place) ||
        place.expires_ms < 0)
        return;
    for (unsigned i = 0; redlock_node_get(worker->user.client, i, &node) == REDLOCK_OK; i++)
        in_flight += node.in_flight;
    if (in_flight == 0)
        worker->enqueued = now_ns();
}

static void ask(struct worker *worker)
{
    redlock_lease_options terms = {.size = sizeof(redlock_lease_options)};
    terms.ttl_ms = worker->options->ttl_ms;
    terms.wait_ms = REDLOCK_FOREVER;
    terms.mode = worker->reads ? REDLOCK_SHARED : REDLOCK_EXCLUSIVE;
    terms.permits = worker->options->permits;
    worker->enqueued = 0;
    worker->asked = now_ns();
    if (worker->ending || redlock_acquire(worker->user.client, &worker->lease, "bench-handoff",
                                          &terms, on_event, worker))
        ev_break(worker->user.loop, EVBREAK_ALL);
}

static void on_rested(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop, (void)events;
    ask(timer->data);
}

static void on_end(struct ev_loop *loop, ev_signal *signal, int events)
{
    (void)events;
    struct worker *worker = signal->data;
    worker->ending = true;
    ev_break(loop, EVBREAK_ALL);
}

static void work(const struct options *options, const struct cluster *cluster, bool reads)
{
    struct worker worker = {.options = options, .reads = reads};
    struct result *result = calloc(1, sizeof *result);
    struct ev_loop *loop = ev_loop_new(EVFLAG_AUTO);
    signal(SIGINT, SIG_IGN); /* the parent ends this process */
    srand48(getpid());
    ev_init(&worker.hold, on_held);
    ev_init(&worker.rest, on_rested);
    ev_signal_init(&worker.end, on_end, SIGTERM);
    ev_check_init(&worker.look, on_look);
    worker.hold.data = worker.rest.data = worker.end.data = worker.look.data = &worker;
    ev_check_start(loop, &worker.look);
    ev_signal_start(loop, &worker.end);
    if (!user_open(&worker.user, options, cluster, loop, result)) {
        fprintf(stderr, "redlock-bench: %s\n", result->note);
        return;
    }
    ask(&worker);
    while (!worker.ending)
        ev_run(loop, 0);
    ev_timer_stop(loop, &worker.hold);
    ev_timer_stop(loop, &worker.rest);
    ev_check_stop(loop, &worker.look);
    user_close(&worker.user);
}

void worker_run(const struct options *options, const struct cluster *cluster, unsigned index)
{
    (void)index;
    work(options, cluster, false);
}

void turn_run(const struct options *options, const struct cluster *cluster, unsigned index)
{
    work(options, cluster, index < options->readers);
}
