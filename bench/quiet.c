/*
 * quiet.c - a round trip to the quorum on idle masters: the unit in which a handoff is measured.
 */
#include "crowd.h"
#include "redlock.h"
#include "user.h"

/* The first 20 acquires are not measured, or those of the first second. */
#define FIRST    20
#define FIRST_NS INT64_C(1000000000)
#define MOST_NS  INT64_C(5000000000)

struct quiet {
    struct user user;
    redlock_lease_options terms;
    struct histogram acquire;
    int64_t begun, asked;
    ev_timer pause;
    double pause_s;
    unsigned left, done;
};

static void on_event(redlock_lease *lease, const redlock_event *event, void *data);

static void on_paused(struct ev_loop *loop, ev_timer *timer, int events);

static void pause_first(struct quiet *quiet)
{
    ev_now_update(quiet->user.loop);
    ev_timer_init(&quiet->pause, on_paused, quiet->pause_s, 0.);
    quiet->pause.data = quiet;
    ev_timer_start(quiet->user.loop, &quiet->pause);
}

static void ask(struct quiet *quiet)
{
    redlock_lease *lease;
    quiet->asked = now_ns();
    if (redlock_acquire(quiet->user.client, &lease, "bench-quiet", &quiet->terms, on_event, quiet))
        ev_break(quiet->user.loop, EVBREAK_ONE);
}

static void on_event(redlock_lease *lease, const redlock_event *event, void *data)
{
    struct quiet *quiet = data;
    if (event->kind == REDLOCK_ACQUIRED) {
        if (quiet->done >= FIRST || quiet->asked > quiet->begun + FIRST_NS)
            histogram_add(&quiet->acquire, now_ns() - quiet->asked);
        redlock_lease_release(lease);
        return;
    }
    if (event->kind != REDLOCK_RELEASED && event->kind != REDLOCK_NOT_ACQUIRED)
        return;
    redlock_lease_free(lease);
    quiet->done++;
    if (--quiet->left && !interrupted && now_ns() < quiet->begun + MOST_NS)
        pause_first(quiet);
    else
        ev_break(quiet->user.loop, EVBREAK_ONE);
}

static void on_paused(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop, (void)events;
    ask(timer->data);
}

int64_t quiet_round_trip(const struct options *options, const struct cluster *cluster,
                         struct ev_loop *loop, double pause_ms, struct result *result)
{
    static struct quiet quiet;
    quiet = (struct quiet){.terms = {.size = sizeof(redlock_lease_options)},
                           .left = pause_ms > 0 ? 120 : 520};
    quiet.terms.ttl_ms = options->ttl_ms;
    quiet.pause_s = pause_ms / 1e3;
    if (!user_open(&quiet.user, options, cluster, loop, result))
        return 0;
    quiet.begun = now_ns();
    ask(&quiet);
    ev_run(loop, 0);
    user_close(&quiet.user);
    return histogram_at(&quiet.acquire, 0.5);
}
