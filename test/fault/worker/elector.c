/*
 * elector.c - one process of a run of elections: stands for leader, announces, observes, and
 * records its events, which others judge.
 *
 *   redlock-elector NAME TTL_MS VALUE RECORD [MAX_TTL_MS [SPARE]]      the masters: REDLOCK_NODES,
 * or REDLOCK_NODES_FILE: where that has another list, it lets go, and stands and observes anew.
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

#include "lists.h"
#include "record.h"

#define AGAIN_S 0.5

struct elector {
    struct record record;
    struct lists lists;
    char **arguments;
    redlock_campaign *candidate;
    redlock_observer *observer;
    int64_t term, until; /* 0: it does not lead */
    ev_timer again;      /* it stands once more */
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
    if (!elector->term)
        return;
    int64_t until = valid_until(elector), now = now_us();
    if (until <= now || llabs(until - elector->until) <= 2000)
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
    } else if (event->kind == REDLOCK_NOT_ACQUIRED) {
        ev_timer_again(EV_DEFAULT, &elector->again);
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

static void on_closed(void *owner)
{
    (void)owner;
    ev_break(EV_DEFAULT, EVBREAK_ALL);
}

static void resign(struct elector *elector)
{
    is_over(elector, now_us());
    ev_timer_stop(EV_DEFAULT, &elector->again);
    redlock_campaign_free(elector->candidate);
    elector->candidate = NULL;
}

static void let_go(struct elector *elector)
{
    resign(elector);
    redlock_observer_free(elector->observer);
    elector->observer = NULL;
}

static void on_signal(struct ev_loop *loop, ev_signal *signal, int events)
{
    struct elector *elector = signal->data;
    (void)loop, (void)events;
    let_go(elector);
    lists_close(&elector->lists);
}

static void must(bool done, const char *what)
{
    if (done)
        return;
    fprintf(stderr, "elector: cannot %s\n", what);
    exit(1);
}

static void stand(struct elector *elector)
{
    redlock_campaign_options options = {.size = sizeof options};
    options.ttl_ms = atoll(elector->arguments[2]);
    options.value = elector->arguments[3];
    options.length = strlen(elector->arguments[3]);
    must(redlock_campaign_begin(elector->lists.client, &elector->candidate, elector->arguments[1],
                                &options, on_event, elector) == REDLOCK_OK,
         "stand");
}

static void observe(struct elector *elector)
{
    must(redlock_observer_begin(elector->lists.client, &elector->observer, elector->arguments[1],
                                on_leader, elector) == REDLOCK_OK,
         "observe");
}

/* The masters that refused its list, and so ended its campaign, may do so no more. */
static void on_again(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop, (void)events;
    resign(timer->data);
    stand(timer->data);
}

static bool leave_former(void *owner, redlock *former, bool is_new)
{
    (void)former;
    if (!is_new)
        return false;
    let_go(owner);
    observe(owner);
    stand(owner);
    return false;
}

static void begin(struct elector *elector)
{
    ev_timer_init(&elector->again, on_again, 0., AGAIN_S);
    ev_prepare_init(&elector->look, on_prepare);
    ev_signal_init(&elector->end, on_signal, SIGTERM);
    elector->again.data = elector->look.data = elector->end.data = elector;
    ev_signal_start(EV_DEFAULT, &elector->end);
    observe(elector);
    stand(elector);
    ev_prepare_start(EV_DEFAULT, &elector->look);
}

int main(int argc, char **argv)
{
    struct elector elector = {.arguments = argv};
    elector.lists = (struct lists){
        .loop = EV_DEFAULT, .left = leave_former, .closed = on_closed, .owner = &elector};
    redlock_options *options = &elector.lists.options;
    *options = (redlock_options){.size = sizeof(redlock_options)};
    if (argc < 5 || argc > 7) {
        fprintf(stderr, "usage: %s NAME TTL_MS VALUE RECORD [MAX_TTL_MS [SPARE]]\n", argv[0]);
        return 64;
    }
    options->max_ttl_ms = argc > 5 ? atoll(argv[5]) : 0;
    options->spare = argc > 6 ? atoi(argv[6]) : 0;
    if (!record_open(&elector.record, argv[4])) {
        perror(argv[4]);
        return 1;
    }
    if (!lists_open(&elector.lists))
        return 1;
    record_put(&elector.record, now_us(), "begin %d", (int)getpid());
    begin(&elector);
    ev_run(EV_DEFAULT, 0);
    return 0;
}
