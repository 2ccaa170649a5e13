/*
 * local_queue.c - many waiters for one name in this process: each gets it in memory and releases it
 * at once.
 */
#include <stdlib.h>

#include "redlock.h"
#include "scenario.h"
#include "user.h"

#define NAME     "bench-local-queue"
#define SETTLE_S 0.1 /* by then the first waiter is enqueued on the masters */

struct local_queue {
    struct user user;
    redlock_lease_options terms;
    unsigned waiters, held, ended;
    redlock_lease *holder;
    size_t memory; /* of all waiters of the first run */
};

static void on_holder(redlock_lease *lease, const redlock_event *event, void *data)
{
    struct local_queue *queue = data;
    if (event->kind == REDLOCK_ACQUIRED)
        ev_break(queue->user.loop, EVBREAK_ONE);
    if (event->kind == REDLOCK_RELEASED || event->kind == REDLOCK_NOT_ACQUIRED) {
        redlock_lease_free(lease);
        queue->holder = NULL;
    }
}

static void on_waiter(redlock_lease *lease, const redlock_event *event, void *data)
{
    struct local_queue *queue = data;
    if (event->kind == REDLOCK_ACQUIRED) {
        queue->held++;
        redlock_lease_release(lease);
        return;
    }
    if (event->kind != REDLOCK_RELEASED && event->kind != REDLOCK_NOT_ACQUIRED)
        return;
    redlock_lease_free(lease);
    if (++queue->ended == queue->waiters)
        ev_break(queue->user.loop, EVBREAK_ONE);
}

static bool ask(struct local_queue *queue, redlock_lease **lease, redlock_lease_callback *callback,
                struct result *result)
{
    redlock_code code =
        redlock_acquire(queue->user.client, lease, NAME, &queue->terms, callback, queue);
    if (code)
        result_note(result, "%s", redlock_last_error(queue->user.client));
    return code == REDLOCK_OK;
}

/* False when it was interrupted or cannot be had. */
static bool fill(struct local_queue *queue, struct result *result)
{
    if (!ask(queue, &queue->holder, on_holder, result))
        return false;
    ev_run(queue->user.loop, 0);
    size_t before = bytes_in_use();
    queue->held = queue->ended = 0;
    redlock_lease *lease;
    for (unsigned i = 0; i < queue->waiters; i++)
        if (!ask(queue, &lease, on_waiter, result))
            return false;
    user_run_for(&queue->user, SETTLE_S);
    if (!queue->memory)
        queue->memory = bytes_in_use() - before;
    return queue->holder && !interrupted;
}

static redlock_stats stats_of(const struct local_queue *queue)
{
    redlock_stats stats = {.size = sizeof stats};
    redlock_stats_get(queue->user.client, &stats);
    return stats;
}

static void empty(struct local_queue *queue, struct result *result)
{
    double user, system;
    usage_now(&user, &system);
    int64_t begun = now_ns();
    redlock_lease_release(queue->holder);
    while (queue->ended < queue->waiters && !interrupted)
        ev_run(queue->user.loop, 0);
    result->seconds += (double)(now_ns() - begun) / 1e9;
    double user_then = user, system_then = system;
    usage_now(&user, &system);
    result->user += user - user_then;
    result->system += system - system_then;
}

static void run_queue(void *self, double warm, double seconds, struct result *result)
{
    struct local_queue *queue = self;
    uint64_t here = 0, requests = 0, waiters = 0;
    int64_t end = now_ns() + (int64_t)(seconds * 1e9);
    (void)warm;
    do {
        if (!fill(queue, result))
            break;
        redlock_stats before = stats_of(queue);
        empty(queue, result);
        redlock_stats after = stats_of(queue);
        here += after.handoffs_here - before.handoffs_here;
        requests += after.requests - before.requests;
        waiters += queue->held;
    } while (now_ns() < end && !interrupted);
    if (waiters == 0)
        return;
    double held = (double)waiters;
    result_fact(result, "waiters", queue->waiters);
    result_fact(result, "memory_bytes_per_waiter", (double)queue->memory / queue->waiters);
    result_fact(result, "handovers_per_s", held / result->seconds);
    result_fact(result, "cpu_us_per_handover", (result->user + result->system) * 1e6 / held);
    result_fact(result, "share_in_memory", (double)here / held);
    result_fact(result, "commands_per_1000_handovers", 1e3 * (double)requests / held);
}

static void *open_queue(const struct options *options, const struct cluster *cluster,
                        struct ev_loop *loop, struct result *result)
{
    struct local_queue *queue = calloc(1, sizeof *queue);
    queue->waiters = options->leases;
    queue->terms = (redlock_lease_options){.size = sizeof(redlock_lease_options)};
    queue->terms.ttl_ms = options->ttl_ms;
    queue->terms.wait_ms = REDLOCK_FOREVER;
    if (user_open(&queue->user, options, cluster, loop, result))
        return queue;
    free(queue);
    return NULL;
}

static void close_queue(void *self)
{
    struct local_queue *queue = self;
    user_close(&queue->user);
    free(queue);
}

const struct scenario local_queue_scenario = {
    .name = "local-queue",
    .summary = "--leases that wait for one name in this process: handed over in memory",
    .open = open_queue,
    .run = run_queue,
    .close = close_queue};
