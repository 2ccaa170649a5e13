/*
 * elector.c - one process of a run of elections: stands for leader, announces, observes, and
 * records its events, which others judge.
 *
 *   redlock-elector NAME TTL_MS VALUE RECORD [MAX_TTL_MS]      the masters: REDLOCK_NODES
 *
 * The facts, after the moment in us of CLOCK_BOOTTIME; UNTIL is when validity ends, as computed
 * then: begin PID        the first leads TERM UNTIL        valid TERM UNTIL    it has moved
 *   announced TERM          a quorum of masters says so
 *   over TERM               lost, or given back
 *   told TERM VALUE         as an observer; TERM 0: nobody, -1: not known
 */
#include <ev.h>
#include <redlock/recipes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record.h"

struct elector {
    struct record record;
    redlock *client;
    redlock_campaign *candidate;
    redlock_observer *observer;
    int64_t term, until; /* 0: it does not lead */
    ev_prepare look;
    ev_signal end;
};

/* The time is read first: this process may be stopped in between, and must not seem to be the
 * leader for longer than it counts itself. */
static int64_t valid_until(const struct elector *elector)
{
    int64_t now = now_us();
    return now + redlock_lease_valid_for(redlock_campaign_lease(elector->candidate)) * 1000;
}

/* Records it if validity has moved: a renewal has no event. */
static void look(struct elector *elector)
{
    int64_t until = valid_until(elector), now = now_us();
    if (!elector->term || until <= now || llabs(until - elector->until) <= 2000)
        return;
    elector->until = until;
    record_put(&elector->record, now, "valid %lld %lld", (long long)elector->term,
               (long long)until);
}

static void on_prepare(struct ev_loop *loop, ev_prepare *prepare, int events)
{
    (void)loop, (void)events;
    look(prepare->data);
}

/* A leader that must end leads no more: the next one may lead before RELEASED comes. */
static void is_over(struct elector *elector, int64_t now)
{
    if (elector->term)
        record_put(&elector->record, now, "over %lld", (long long)elector->term);
    elector->term = 0;
}

static void on_event(redlock_campaign *candidate, const redlock_event *event, void *data)
{
    struct elector *elector = data;
    int64_t now = now_us();
    (void)candidate;
    if (event->kind == REDLOCK_ACQUIRED) {
        elector->term = event->fence;
        elector->until = valid_until(elector);
        record_put(&elector->record, now, "leads %lld %lld", (long long)event->fence,
                   (long long)elector->until);
    } else if (event->kind == REDLOCK_ANNOUNCED) {
        record_put(&elector->record, now, "announced %lld", (long long)event->fence);
    } else if (event->kind == REDLOCK_LOST || event->kind == REDLOCK_RELEASED) {
        is_over(elector, now);
    }
}

static void on_leader(redlock_observer *observer, const redlock_leader *leader, void *data)
{
    struct elector *elector = data;
    (void)observer;
    record_put(&elector->record, now_us(), "told %lld %.*s",
               leader->code ? -1LL : (long long)leader->term, (int)leader->length,
               (const char *)leader->value);
}

static void on_closed(redlock *client, unsigned left, void *data)
{
    (void)client, (void)left, (void)data;
    ev_break(EV_DEFAULT, EVBREAK_ALL);
}

static void on_signal(struct ev_loop *loop, ev_signal *signal, int events)
{
    struct elector *elector = signal->data;
    (void)loop, (void)events;
    is_over(elector, now_us());
    redlock_observer_free(elector->observer);
    elector->observer = NULL;
    redlock_close(elector->client, 1000, on_closed, elector);
}

static bool begin(struct elector *elector, char **argv)
{
    redlock_campaign_options options = {.size = sizeof options};
    options.ttl_ms = atoll(argv[2]);
    options.value = argv[3];
    options.length = strlen(argv[3]);
    ev_prepare_init(&elector->look, on_prepare);
    ev_signal_init(&elector->end, on_signal, SIGTERM);
    elector->look.data = elector->end.data = elector;
    ev_signal_start(EV_DEFAULT, &elector->end);
    bool begun = redlock_observer_begin(elector->client, &elector->observer, argv[1], on_leader,
                                        elector) == REDLOCK_OK &&
                 redlock_campaign_begin(elector->client, &elector->candidate, argv[1], &options,
                                        on_event, elector) == REDLOCK_OK;
    if (begun)
        ev_prepare_start(EV_DEFAULT, &elector->look);
    return begun;
}

int main(int argc, char **argv)
{
    struct elector elector = {0};
    char why[256] = "";
    redlock_options options = {.size = sizeof(redlock_options)};
    if (argc < 5 || argc > 6) {
        fprintf(stderr, "usage: %s NAME TTL_MS VALUE RECORD [MAX_TTL_MS]\n", argv[0]);
        return 64;
    }
    if (argc == 6)
        options.max_ttl_ms = atoll(argv[5]);
    if (!record_open(&elector.record, argv[4]) ||
        redlock_open(&elector.client, EV_DEFAULT, &options, why, sizeof why) != REDLOCK_OK) {
        fprintf(stderr, "elector: cannot begin: %s\n", why);
        return 1;
    }
    record_put(&elector.record, now_us(), "begin %d", (int)getpid());
    bool begun = begin(&elector, argv);
    if (begun)
        ev_run(EV_DEFAULT, 0);
    redlock_observer_free(elector.observer);
    redlock_campaign_free(elector.candidate);
    redlock_free(elector.client);
    return !begun;
}
