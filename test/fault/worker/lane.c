/*
 * lane.c - the life of a worker with one name: rest, ask, hold, act, give back.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "worker.h"

#define FAILED_MOST_S   0.02
#define REGISTER_MOST_S 0.1 /* the longest wait for a register that does not answer */
#define THINK_US        100
#define JITTER_US       1500 /* events tell validity in whole ms */
#define LONG_TTLS       1.5
#define ACTS_PER_TTL    10
#define THINKS_PER_TTL  100 /* of a long hold */
#define KEY_MOST        256
#define STARTS_ANEW     50 /* percent of the waiters, where there is another list */

/* ---- Recording ---- */

static void put(struct lane *lane, const char *fact)
{
    record_put(&lane->worker->record, now_us(), "%s %s %u", fact, lane->name, lane->number);
}

static void put_attempt(struct lane *lane)
{
    const struct wish *wish = &lane->wish;
    char permits[32] = "";
    if (wish->permits)
        snprintf(permits, sizeof permits, " permits=%u", wish->permits);
    record_put(&lane->worker->record, now_us(), "attempt %s %u%s%s%s%s", lane->name, lane->number,
               wish->shared ? " shared" : "", wish->tries ? " tries" : "",
               wish->unfenced ? " unfenced" : "", permits);
}

static void put_code(struct lane *lane, const char *fact, redlock_code code)
{
    record_put(&lane->worker->record, now_us(), "%s %s %u %s", fact, lane->name, lane->number,
               redlock_code_name(code));
}

/* The moment is read first: the recorded validity then ends no later than the real one. */
static int64_t validity(struct lane *lane, int64_t *until)
{
    int64_t now = now_us();
    *until = now + redlock_lease_valid_for(lane->lease) * 1000;
    return now;
}

static void put_until(struct lane *lane, const char *fact, int64_t now)
{
    record_put(&lane->worker->record, now, "%s %s %u %" PRId64, fact, lane->name, lane->number,
               lane->until);
}

static void put_validity(struct lane *lane, const char *fact)
{
    int64_t now = validity(lane, &lane->until);
    put_until(lane, fact, now);
}

static void put_acquired(struct lane *lane)
{
    int64_t now = validity(lane, &lane->until);
    char slot[32] = "";
    if (lane->wish.permits)
        snprintf(slot, sizeof slot, " %d", redlock_lease_slot(lane->lease));
    record_put(&lane->worker->record, now, "acquired %s %u %" PRId64 " %s %" PRId64 "%s",
               lane->name, lane->number, lane->until, redlock_lease_token(lane->lease),
               redlock_lease_fence(lane->lease), slot);
}

static bool is_held(const struct lane *lane)
{
    return lane->state == LANE_HOLDING || lane->state == LANE_ACTING;
}

void lane_look(struct lane *lane)
{
    if (!is_held(lane))
        return;
    int64_t until, now = validity(lane, &until);
    if (until > now && llabs(until - lane->until) > JITTER_US) {
        lane->until = until;
        put_until(lane, "valid", now);
    }
}

/* ---- Timers ---- */

static double anything_up_to(double most)
{
    return most * rand() / RAND_MAX;
}

static void wake_in(struct lane *lane, double seconds)
{
    ev_timer_stop(lane->worker->loop, &lane->timer);
    ev_now_update(lane->worker->loop);
    ev_timer_set(&lane->timer, seconds, 0.);
    ev_timer_start(lane->worker->loop, &lane->timer);
}

static void rest(struct lane *lane, double most)
{
    lane->state = LANE_RESTING;
    if (!lane->worker->ending)
        wake_in(lane, anything_up_to(most));
}

/* ---- Asking and giving back ---- */

static void on_event(redlock_lease *lease, const redlock_event *event, void *data);

static bool with_chance(unsigned percent)
{
    return (unsigned)rand() % 100 < percent;
}

static unsigned draw_permits(const struct terms *terms)
{
    if (!terms->permits || with_chance(terms->whole))
        return 0;
    bool fewer = with_chance(terms->fewer) && terms->permits > 1;
    return fewer ? 1 + (unsigned)rand() % (terms->permits - 1) : terms->permits;
}

static void draw_wish(struct lane *lane)
{
    const struct terms *terms = &lane->worker->terms;
    lane->wish.permits = draw_permits(terms);
    lane->wish.shared = !lane->wish.permits && with_chance(terms->readers);
    lane->wish.tries = with_chance(terms->tries) || terms->wait_ms == 0;
    lane->wish.unfenced = with_chance(terms->unfenced);
}

static void ask(struct lane *lane)
{
    const struct terms *terms = &lane->worker->terms;
    redlock_lease_options wanted = {.size = sizeof(redlock_lease_options)};
    wanted.ttl_ms = terms->ttl_ms;
    draw_wish(lane);
    wanted.wait_ms = lane->wish.tries ? 0 : terms->wait_ms;
    wanted.margin_ms = terms->ttl_ms / 5; /* a busy machine may let us wait for our turn */
    wanted.fence = !lane->wish.unfenced;
    wanted.mode = lane->wish.shared ? REDLOCK_SHARED : REDLOCK_EXCLUSIVE;
    wanted.permits = lane->wish.permits;
    lane->number++;
    lane->state = LANE_ASKING;
    put_attempt(lane);
    lane->client = lane->worker->lists.client;
    redlock_code code =
        redlock_acquire(lane->client, &lane->lease, lane->name, &wanted, on_event, lane);
    if (code != REDLOCK_OK) {
        put_code(lane, "failed", code);
        rest(lane, FAILED_MOST_S);
    }
}

static void give_back(struct lane *lane)
{
    ev_timer_stop(lane->worker->loop, &lane->timer);
    lane->state = LANE_LEAVING;
    put_validity(lane, "releasing");
    redlock_lease_release(lane->lease);
    worker_close_if_idle(lane->worker);
}

static void finish(struct lane *lane, const char *fact, redlock_code code, double rest_most_s)
{
    put_code(lane, fact, code);
    redlock_lease_free(lane->lease);
    lane->lease = NULL;
    rest(lane, rest_most_s);
    lists_look(&lane->worker->lists);
}

/* ---- Acting ---- */

/* To the end of the hold, or the next act before it. */
static void hold_on(struct lane *lane)
{
    double left = (double)(lane->leaves_at - now_us()) / 1e6;
    double step = 0.001 * (double)lane->worker->terms.ttl_ms / ACTS_PER_TTL;
    lane->state = LANE_HOLDING;
    wake_in(lane, left < 0. ? 0. : left < step ? left : step);
}

static void go_on(struct lane *lane)
{
    if (lane->worker->ending || now_us() >= lane->leaves_at)
        give_back(lane);
    else
        hold_on(lane);
}

/* Between the look and the write there is always some work; a process that is stopped in it
 * writes late, and only the fence shows that. */
static void think(const struct lane *lane)
{
    int64_t us = lane->is_long ? lane->worker->terms.ttl_ms * 1000 / THINKS_PER_TTL : THINK_US;
    nanosleep(&(struct timespec){.tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000}, NULL);
}

/* A permit protects what belongs to its slot: its fences grow in that slot alone. */
static const char *resource_of(const struct lane *lane, char key[static KEY_MOST])
{
    if (!lane->wish.permits)
        return lane->name;
    snprintf(key, KEY_MOST, "redlock:permit:%d:%s", redlock_lease_slot(lane->lease), lane->name);
    return key;
}

/* Without validity, LOST is already on its way, and will end the hold. */
static void act(struct lane *lane)
{
    int64_t now = validity(lane, &lane->until);
    if (lane->until <= now) {
        put(lane, "refrained");
        return;
    }
    put_until(lane, "act", now);
    think(lane);
    char key[KEY_MOST];
    struct use use = {.name = resource_of(lane, key),
                      .number = lane->number,
                      .fence = redlock_lease_fence(lane->lease),
                      .reads = lane->wish.shared};
    if (!resource_use(&lane->worker->resource, &use, lane)) {
        go_on(lane);
        return;
    }
    lane->state = LANE_ACTING;
    wake_in(lane, REGISTER_MOST_S);
}

void lane_answered(void *data, unsigned number, const char *verdict)
{
    struct lane *lane = data;
    if (verdict)
        record_put(&lane->worker->record, now_us(), "acted %s %u %s", lane->name, number, verdict);
    if (lane->state == LANE_ACTING && lane->number == number)
        go_on(lane);
}

static void hold(struct lane *lane)
{
    const struct terms *terms = &lane->worker->terms;
    lane->is_long = terms->long_every && rand() % terms->long_every == 0;
    double hold_us = lane->is_long ? LONG_TTLS * 1000 * (double)terms->ttl_ms
                                   : anything_up_to(2 * terms->hold_us);
    lane->leaves_at = now_us() + (int64_t)hold_us;
    if (lane->worker->ending)
        give_back(lane);
    else
        hold_on(lane);
}

/* ---- Another list ---- */

/* The call refuses a lease that moves already. */
static void move(struct lane *lane)
{
    if (redlock_lease_move(lane->lease, lane->worker->lists.client) == REDLOCK_OK)
        put_validity(lane, "moving");
}

/* A waiter that goes on under the former list moves when it has the lease. */
bool lane_leaves(struct lane *lane, const redlock *former, bool is_new)
{
    if (!lane->lease || lane->client != former)
        return false;
    if (is_held(lane))
        move(lane);
    else if (is_new && lane->state == LANE_ASKING && with_chance(STARTS_ANEW))
        redlock_lease_release(lane->lease);
    return true;
}

static void moved(struct lane *lane)
{
    lane->client = lane->worker->lists.client;
    put_validity(lane, "moved");
    lists_look(&lane->worker->lists);
}

/* ---- Events ---- */

static void on_timer(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct lane *lane = timer->data;
    (void)loop, (void)events;
    if (lane->state == LANE_RESTING)
        ask(lane);
    else if (lane->state == LANE_HOLDING)
        act(lane);
    else if (lane->state == LANE_ACTING)
        go_on(lane);
}

static void on_event(redlock_lease *lease, const redlock_event *event, void *data)
{
    struct lane *lane = data;
    (void)lease;
    switch (event->kind) {
    case REDLOCK_ACQUIRED:
        put_acquired(lane);
        hold(lane);
        break;
    case REDLOCK_AT_RISK:
        put_validity(lane, "at_risk");
        break;
    case REDLOCK_HEALTHY:
        put_validity(lane, "healthy");
        break;
    case REDLOCK_MOVED:
        moved(lane);
        break;
    case REDLOCK_NOT_MOVED:
        put_validity(lane, "unmoved");
        break;
    case REDLOCK_LOST:
        put_validity(lane, "lost");
        if (is_held(lane))
            give_back(lane);
        break;
    case REDLOCK_RELEASED:
        finish(lane, "released", event->code, 0.001 * (double)lane->worker->terms.rest_ms);
        break;
    default:
        finish(lane, "failed", event->code, FAILED_MOST_S);
    }
}

void lane_begin(struct lane *lane, struct worker *worker, const char *name)
{
    *lane = (struct lane){.worker = worker, .name = name};
    ev_timer_init(&lane->timer, on_timer, 0., 0.);
    lane->timer.data = lane;
    ask(lane);
}

void lane_end(struct lane *lane)
{
    if (lane->state == LANE_RESTING)
        ev_timer_stop(lane->worker->loop, &lane->timer);
    else if (lane->state == LANE_HOLDING)
        give_back(lane);
}
