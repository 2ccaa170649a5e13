#include "worker.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define PATIENCE_MS 5000
#define USAGE_S     1.

static void on_closed(redlock *client, unsigned left, void *data)
{
    struct worker *worker = data;
    (void)client, (void)left;
    ev_break(worker->loop, EVBREAK_ALL);
}

void worker_close_if_idle(struct worker *worker)
{
    if (!worker->ending || worker->closed)
        return;
    for (unsigned i = 0; i < worker->terms.count; i++)
        if (worker->lanes[i].state == LANE_ACTING || worker->lanes[i].state == LANE_HOLDING)
            return;
    worker->closed = true;
    redlock_close(worker->client, PATIENCE_MS, on_closed, worker);
}

static void end(struct worker *worker)
{
    if (worker->ending)
        return;
    worker->ending = true;
    for (unsigned i = 0; i < worker->terms.count; i++)
        lane_end(&worker->lanes[i]);
    worker_close_if_idle(worker);
}

static void on_end(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop, (void)events;
    end(timer->data);
}

static void on_stop(struct ev_loop *loop, ev_signal *stop, int events)
{
    (void)loop, (void)events;
    end(stop->data);
}

static void on_usage(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct worker *worker = timer->data;
    (void)loop, (void)events;
    record_usage(&worker->record);
}

static void on_look(struct ev_loop *loop, ev_prepare *look, int events)
{
    struct worker *worker = look->data;
    (void)loop, (void)events;
    for (unsigned i = 0; i < worker->terms.count; i++)
        lane_look(&worker->lanes[i]);
}

static void put_end(struct worker *worker)
{
    redlock_stats stats = {.size = sizeof stats};
    redlock_stats_get(worker->client, &stats);
    record_put(&worker->record, now_us(), "end %u %" PRIu64 " %" PRIu64 " %" PRIu64,
               worker->record.lines, stats.acquired, stats.rounds, stats.raises);
}

static bool open_client(struct worker *worker)
{
    char why[256] = "";
    redlock_options options = {.size = sizeof(redlock_options)};
    options.nodes = worker->terms.nodes;
    options.label = worker->terms.label;
    options.max_ttl_ms = worker->terms.max_ttl_ms;
    options.clock_skew_ms = worker->terms.skew_ms;
    options.spare = worker->terms.spare;
    redlock_code code = redlock_open(&worker->client, worker->loop, &options, why, sizeof why);
    if (code != REDLOCK_OK)
        fprintf(stderr, "worker: %s\n", why);
    return code == REDLOCK_OK;
}

static void open_resource(struct worker *worker)
{
    worker->resource = (struct resource){.loop = worker->loop,
                                         .host = worker->terms.register_host,
                                         .port = worker->terms.register_port,
                                         .password = worker->terms.register_password,
                                         .label = worker->terms.label,
                                         .answered = lane_answered};
    if (worker->terms.register_host)
        resource_open(&worker->resource);
}

static void watch(struct worker *worker)
{
    worker->end.data = worker->usage.data = worker->stop.data = worker->look.data = worker;
    ev_timer_init(&worker->end, on_end, worker->terms.seconds, 0.);
    ev_timer_start(worker->loop, &worker->end);
    ev_timer_init(&worker->usage, on_usage, USAGE_S, USAGE_S);
    ev_timer_start(worker->loop, &worker->usage);
    ev_signal_init(&worker->stop, on_stop, SIGTERM);
    ev_signal_start(worker->loop, &worker->stop);
    ev_prepare_init(&worker->look, on_look);
    ev_prepare_start(worker->loop, &worker->look);
}

static void begin(struct worker *worker)
{
    watch(worker);
    record_put(&worker->record, now_us(), "begin library %d", (int)getpid());
    open_resource(worker);
    for (unsigned i = 0; i < worker->terms.count; i++)
        lane_begin(&worker->lanes[i], worker, worker->terms.names[i]);
}

int main(int argc, char **argv)
{
    static struct worker worker;
    if (!terms_parse(&worker.terms, argc, argv))
        return 64;
    if (!record_open(&worker.record, worker.terms.record)) {
        perror(worker.terms.record);
        return 1;
    }
    signal(SIGPIPE, SIG_IGN); /* of hiredis' writes to the register */
    srand(worker.terms.seed);
    worker.loop = ev_default_loop(0);
    if (!open_client(&worker))
        return 1;
    begin(&worker);
    ev_run(worker.loop, 0);
    put_end(&worker);
    if (worker.terms.register_host)
        resource_close(&worker.resource);
    redlock_free(worker.client);
    ev_loop_destroy(worker.loop);
    return 0;
}
