#include "load.h"

#include <signal.h>
#include <stdio.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "scenario.h"

#define DRAIN_S 5.
#define BACKLOG_MAX                                                                                \
    100000 /* open loop: when that far behind, the masters cannot carry the rate                   \
            */

static void begin_one(struct load *load, int64_t since)
{
    load->begun++;
    load->in_flight++;
    load->begin(load->subject, since);
}

/* ---- phases ---- */

static void finish(struct load *load)
{
    load->phase = LOAD_OVER;
    ev_break(load->loop, EVBREAK_ONE);
}

static void start_measuring(struct load *load)
{
    load->phase = LOAD_MEASURING;
    load->started = now_ns();
    usage_now(&load->user, &load->system);
}

static void stop_measuring(struct load *load)
{
    struct result *result = load->result;
    double user, system;
    if (load->phase == LOAD_MEASURING) {
        usage_now(&user, &system);
        result->seconds = (double)(now_ns() - load->started) / 1e9;
        result->user = user - load->user;
        result->system = system - load->system;
    }
    load->phase = LOAD_DRAINING;
    ev_io_stop(load->loop, &load->due);
    ev_timer_stop(load->loop, &load->turn);
    ev_timer_set(&load->timeout, DRAIN_S, 0.);
    ev_timer_start(load->loop, &load->timeout);
    if (load->in_flight == 0)
        finish(load);
}

static void on_turn(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)events;
    struct load *load = timer->data;
    if (load->phase == LOAD_WARMING) {
        start_measuring(load);
        timer->repeat = load->result->seconds;
        ev_timer_again(loop, timer);
    } else {
        stop_measuring(load);
    }
}

static void on_timeout(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop, (void)events;
    struct load *load = timer->data;
    result_note(load->result, "%llu pairs had no end after %.0f s",
                (unsigned long long)load->in_flight, DRAIN_S);
    finish(load);
}

static void on_progress(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop, (void)events;
    struct load *load = timer->data;
    double elapsed = (double)(now_ns() - load->started) / 1e9;
    if (load->phase == LOAD_MEASURING && isatty(2))
        fprintf(stderr, "\r%5.1f s  %9.0f pairs/s  %llu failed ", elapsed,
                (double)load->result->pairs / elapsed, (unsigned long long)load->result->failed);
}

/* ---- the open loop ---- */

static int64_t due_at(const struct load *load, uint64_t index)
{
    return load->epoch + (int64_t)((double)index * 1e9 / load->rate);
}

static void arm_due(struct load *load)
{
    int64_t at = due_at(load, load->begun);
    struct itimerspec spec = {.it_value = {at / 1000000000, at % 1000000000}};
    timerfd_settime(load->due_fd, TFD_TIMER_ABSTIME, &spec, NULL);
}

static void on_due(struct ev_loop *loop, ev_io *watcher, int events)
{
    (void)loop, (void)events;
    struct load *load = watcher->data;
    uint64_t ticks;
    ssize_t got = read(load->due_fd, &ticks, sizeof ticks);
    (void)got;
    int64_t now = now_ns();
    while (due_at(load, load->begun) <= now) {
        if (load->in_flight >= BACKLOG_MAX) {
            result_note(load->result, "the rate could not be kept: %d pairs waited", BACKLOG_MAX);
            stop_measuring(load);
            return;
        }
        begin_one(load, due_at(load, load->begun));
    }
    arm_due(load);
}

static void start_open_loop(struct load *load)
{
    load->epoch = now_ns();
    load->due_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    ev_io_set(&load->due, load->due_fd, EV_READ);
    ev_io_start(load->loop, &load->due);
    arm_due(load);
}

/* ---- the subject's reports ---- */

void load_acquired(struct load *load, int64_t since)
{
    if (load->phase == LOAD_MEASURING)
        histogram_add(&load->result->acquire, now_ns() - since);
}

void load_released(struct load *load, int64_t asked)
{
    if (load->phase == LOAD_MEASURING)
        histogram_add(&load->result->release, now_ns() - asked);
}

void load_ended(struct load *load, bool ok)
{
    load->in_flight--;
    if (load->phase == LOAD_MEASURING) {
        load->result->pairs += ok;
        load->result->failed += !ok;
    }
    if (interrupted && load->phase < LOAD_DRAINING) {
        stop_measuring(load);
        return;
    }
    bool more = load->phase < LOAD_DRAINING && load->rate <= 0 &&
                (!load->limit || load->begun < load->limit);
    if (more)
        begin_one(load, now_ns());
    else if (load->limit && load->phase == LOAD_MEASURING && load->in_flight == 0)
        stop_measuring(load);
    else if (load->phase == LOAD_DRAINING && load->in_flight == 0)
        finish(load);
}

/* ---- */

void load_init(struct load *load, const struct options *options, struct ev_loop *loop,
               void (*begin)(void *subject, int64_t since), void *subject)
{
    *load = (struct load){.loop = loop,
                          .begin = begin,
                          .subject = subject,
                          .concurrency = options->concurrency,
                          .rate = options->rate,
                          .limit = options->pairs,
                          .due_fd = -1};
    ev_init(&load->turn, on_turn);
    ev_init(&load->timeout, on_timeout);
    ev_init(&load->progress, on_progress);
    ev_init(&load->due, on_due);
    load->turn.data = load->timeout.data = load->progress.data = load->due.data = load;
}

void load_run(struct load *load, double warm, double seconds, struct result *result)
{
    result->seconds = seconds;
    load->result = result;
    load->begun = load->in_flight = 0;
    load->phase = LOAD_WARMING;
    if (warm <= 0)
        start_measuring(load);
    if (!load->limit) {
        ev_timer_set(&load->turn, warm > 0 ? warm : seconds, 0.);
        ev_timer_start(load->loop, &load->turn);
    }
    ev_timer_set(&load->progress, 0.25, 0.25);
    ev_timer_start(load->loop, &load->progress);
    if (load->rate > 0)
        start_open_loop(load);
    for (unsigned i = 0; load->rate <= 0 && i < load->concurrency && !interrupted; i++)
        if (!load->limit || load->begun < load->limit)
            begin_one(load, now_ns());
    while (load->phase != LOAD_OVER) {
        ev_run(load->loop, 0);
        if (interrupted && load->phase < LOAD_DRAINING)
            stop_measuring(load);
    }
    ev_timer_stop(load->loop, &load->progress);
    ev_timer_stop(load->loop, &load->timeout);
    if (load->due_fd >= 0)
        close(load->due_fd);
    load->due_fd = -1;
    if (isatty(2))
        fprintf(stderr, "\r%60s\r", "");
}
