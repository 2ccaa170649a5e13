/*
 * line.c - many waiters for one name in this process: each gets it in memory and releases it at
 * once.
 */
#include <stdlib.h>

#include "redlock.h"
#include "scenario.h"
#include "user.h"

#define NAME     "bench-line"
#define SETTLE_S 0.1 /* by then the first waiter is enqueued on the masters */

struct line {
    struct user user;
    redlock_lease_options terms;
    unsigned waiters, held, ended;
    redlock_lease *holder;
    size_t memory; /* of all waiters of the first run */
};

static void on_holder(redlock_lease *lease, const redlock_event *event, void *data)
{
    struct line *line = data;
    if (event->kind == REDLOCK_ACQUIRED)
        ev_break(line->user.loop, EVBREAK_ONE);
    if (event->kind == REDLOCK_RELEASED || event->kind == REDLOCK_NOT_ACQUIRED) {
        redlock_lease_free(lease);
        line->holder = NULL;
    }
}

static void on_waiter(redlock_lease *lease, const redlock_event *event, void *data)
{
    struct line *line = data;
    if (event->kind == REDLOCK_ACQUIRED) {
        line->held++;
        redlock_release(lease);
        return;
    }
    if (event->kind != REDLOCK_RELEASED && event->kind != REDLOCK_NOT_ACQUIRED)
        return;
    redlock_lease_free(lease);
    if (++line->ended == line->waiters)
        ev_break(line->user.loop, EVBREAK_ONE);
}

static bool ask(struct line *line, redlock_lease **lease, redlock_callback *callback,
                struct result *result)
{
    redlock_code code =
        redlock_acquire(line->user.client, lease, NAME, &line->terms, callback, line);
    if (code)
        result_note(result, "%s", redlock_last_error(line->user.client));
    return code == REDLOCK_OK;
}

/* False when it was interrupted or cannot be had. */
static bool line_up(struct line *line, struct result *result)
{
    if (!ask(line, &line->holder, on_holder, result))
        return false;
    ev_run(line->user.loop, 0);
    size_t before = bytes_in_use();
    line->held = line->ended = 0;
    redlock_lease *lease;
    for (unsigned i = 0; i < line->waiters; i++)
        if (!ask(line, &lease, on_waiter, result))
            return false;
    user_run_for(&line->user, SETTLE_S);
    if (!line->memory)
        line->memory = bytes_in_use() - before;
    return line->holder && !interrupted;
}

static redlock_stats stats_of(const struct line *line)
{
    redlock_stats stats;
    redlock_stats_get(line->user.client, &stats, sizeof stats);
    return stats;
}

static void empty(struct line *line, struct result *result)
{
    double user, system;
    usage_now(&user, &system);
    int64_t begun = now_ns();
    redlock_release(line->holder);
    while (line->ended < line->waiters && !interrupted)
        ev_run(line->user.loop, 0);
    result->seconds += (double)(now_ns() - begun) / 1e9;
    double user_then = user, system_then = system;
    usage_now(&user, &system);
    result->user += user - user_then;
    result->system += system - system_then;
}

static void run_line(void *self, double warm, double seconds, struct result *result)
{
    struct line *line = self;
    uint64_t here = 0, requests = 0, waiters = 0;
    int64_t end = now_ns() + (int64_t)(seconds * 1e9);
    (void)warm;
    do {
        if (!line_up(line, result))
            break;
        redlock_stats before = stats_of(line);
        empty(line, result);
        redlock_stats after = stats_of(line);
        here += after.handoffs_here - before.handoffs_here;
        requests += after.requests - before.requests;
        waiters += line->held;
    } while (now_ns() < end && !interrupted);
    if (waiters == 0)
        return;
    double held = (double)waiters;
    result_fact(result, "waiters", line->waiters);
    result_fact(result, "memory_bytes_per_waiter", (double)line->memory / line->waiters);
    result_fact(result, "handovers_per_s", held / result->seconds);
    result_fact(result, "cpu_us_per_handover", (result->user + result->system) * 1e6 / held);
    result_fact(result, "share_in_memory", (double)here / held);
    result_fact(result, "commands_per_1000_handovers", 1e3 * (double)requests / held);
}

static void *open_line(const struct options *options, const struct cluster *cluster,
                       struct ev_loop *loop, struct result *result)
{
    struct line *line = calloc(1, sizeof *line);
    line->waiters = options->leases;
    line->terms = (redlock_lease_options)REDLOCK_LEASE_INIT;
    line->terms.ttl_ms = options->ttl_ms;
    line->terms.wait_ms = REDLOCK_FOREVER;
    if (user_open(&line->user, options, cluster, loop, result))
        return line;
    free(line);
    return NULL;
}

static void close_line(void *self)
{
    struct line *line = self;
    user_close(&line->user);
    free(line);
}

const struct scenario line_scenario = {
    .name = "line",
    .summary = "--leases that wait for one name in this process: handed over in memory",
    .open = open_line,
    .run = run_line,
    .close = close_line};
