#include "worker.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define USAGE_S 1.

static void on_all_closed(void *owner)
{
    struct worker *worker = owner;
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
    lists_close(&worker->lists);
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
    const redlock_stats *sum = &worker->lists.sum;
    record_put(&worker->record, now_us(), "end %u %" PRIu64 " %" PRIu64 " %" PRIu64,
               worker->record.lines, sum->acquired, sum->rounds, sum->raises);
}

static bool leave_former(void *owner, redlock *former, bool is_new)
{
    struct worker *worker = owner;
    bool uses = false;
    for (unsigned i = 0; i < worker->terms.count; i++)
        uses |= lane_leaves(&worker->lanes[i], former, is_new);
    return uses;
}

static bool open_client(struct worker *worker)
{
    const struct terms *terms = &worker->terms;
    worker->lists = (struct lists){
        .loop = worker->loop, .left = leave_former, .closed = on_all_closed, .owner = worker};
    worker->lists.options = (redlock_options){.size = sizeof(redlock_options),
                                              .label = terms->label,
                                              .max_ttl_ms = terms->max_ttl_ms,
                                              .clock_skew_ms = terms->skew_ms,
                                              .spare = terms->spare};
    return lists_open(&worker->lists);
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
    ev_loop_destroy(worker.loop);
    return 0;
}
