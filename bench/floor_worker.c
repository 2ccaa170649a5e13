/*
 * floor_worker.c - the floor of a handoff. The holder deletes the name on all masters and sends a
 * message to the next worker of a fixed ring. That takes itself for the holder after a quorum of
 * messages. No queue, no token, no death, no safety: see floor.h.
 */
#include <hiredis/async.h>
#include <hiredis/adapters/libev.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cluster.h"
#include "crowd.h"
#include "redlock.h"

#define AGAIN_MS 10. /* the next worker may not be subscribed yet */

struct seat {
    struct ev_loop *loop;
    const struct options *options;
    redisAsyncContext *masters[15], *subscriber[15];
    unsigned index, count, quorum;
    long long turn;
    uint32_t heard;               /* a bit for each master whose message of this turn came */
    unsigned answered, receivers; /* of the last message */
    bool holds;
    int64_t asked, acquired, released;
    ev_timer timer;
    ev_signal end;
};

static void start_timer(struct seat *seat, double ms)
{
    ev_now_update(seat->loop);
    ev_timer_stop(seat->loop, &seat->timer);
    ev_timer_set(&seat->timer, ms / 1e3, 0.);
    ev_timer_start(seat->loop, &seat->timer);
}

static void ignore(redisAsyncContext *context, void *answer, void *data)
{
    (void)context, (void)answer, (void)data;
}

/* On too many masters no worker was subscribed: publishes there again. */
static void on_told(redisAsyncContext *context, void *answer, void *data)
{
    struct seat *seat = data;
    const redisReply *reply = answer;
    (void)context;
    if (!reply || reply->type != REDIS_REPLY_INTEGER)
        return;
    seat->receivers += reply->integer > 0;
    if (++seat->answered == seat->count && seat->receivers < seat->quorum)
        start_timer(seat, AGAIN_MS);
}

static void pass_on(struct seat *seat)
{
    unsigned next = (seat->index + 1) % seat->options->workers;
    seat->answered = seat->receivers = 0;
    for (unsigned i = 0; i < seat->count; i++) {
        if (!seat->masters[i])
            continue;
        redisAsyncCommand(seat->masters[i], ignore, NULL, "DEL bench-floor");
        redisAsyncCommand(seat->masters[i], on_told, seat, "PUBLISH bench-floor:%d:%u %lld",
                          (int)getppid(), next, seat->turn + 1);
    }
}

static void on_timer(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop, (void)events;
    struct seat *seat = timer->data;
    bool held = seat->holds;
    seat->released = held ? now_ns() : seat->released;
    seat->holds = false;
    pass_on(seat);
    if (!held)
        return;
    printf("%lld %lld %lld\n", (long long)seat->asked, (long long)seat->acquired,
           (long long)seat->released);
    fflush(stdout);
    seat->asked = seat->released;
}

static void hold(struct seat *seat)
{
    seat->holds = true;
    seat->acquired = now_ns();
    start_timer(seat, seat->options->hold_ms);
}

static unsigned master_of(const struct seat *seat, const redisAsyncContext *ear)
{
    unsigned i = 0;
    while (seat->subscriber[i] != ear)
        i++;
    return i;
}

static void on_message(redisAsyncContext *context, void *answer, void *data)
{
    struct seat *seat = data;
    const redisReply *reply = answer;
    if (!reply || reply->type != REDIS_REPLY_ARRAY || strcmp(reply->element[0]->str, "message"))
        return;
    long long turn = atoll(reply->element[2]->str);
    if (turn > seat->turn) {
        seat->turn = turn;
        seat->heard = 0;
    }
    uint32_t bit = UINT32_C(1) << master_of(seat, context);
    if (turn < seat->turn || seat->heard & bit)
        return;
    seat->heard |= bit;
    if ((unsigned)__builtin_popcount(seat->heard) == seat->quorum)
        hold(seat);
}

static void on_end(struct ev_loop *loop, ev_signal *signal, int events)
{
    (void)signal, (void)events;
    ev_break(loop, EVBREAK_ALL);
}

static void on_disconnect(const redisAsyncContext *context, int status)
{
    (void)status;
    *(redisAsyncContext **)context->data = NULL;
}

static void connect_to(const struct cluster *cluster, unsigned i, struct seat *seat,
                       redisAsyncContext **context)
{
    *context = redisAsyncConnect(cluster->at[i].host, cluster->at[i].port);
    (*context)->data = context;
    redisLibevAttach(seat->loop, *context);
    const char *login[3];
    int words = cluster_login(cluster, i, login);
    if (words)
        redisAsyncCommandArgv(*context, NULL, NULL, words, login, NULL);
    redisAsyncSetDisconnectCallback(*context, on_disconnect);
}

void floor_worker_run(const struct options *options, const struct cluster *cluster, unsigned index)
{
    struct seat seat = {.options = options,
                        .index = index,
                        .count = cluster->count,
                        .quorum = redlock_quorum(cluster->count, options->spare),
                        .loop = ev_loop_new(EVFLAG_AUTO)};
    signal(SIGINT, SIG_IGN); /* the parent ends this process */
    ev_init(&seat.timer, on_timer);
    ev_signal_init(&seat.end, on_end, SIGTERM);
    seat.timer.data = &seat;
    ev_signal_start(seat.loop, &seat.end);
    for (unsigned i = 0; i < seat.count; i++) {
        connect_to(cluster, i, &seat, &seat.masters[i]);
        connect_to(cluster, i, &seat, &seat.subscriber[i]);
        redisAsyncCommand(seat.subscriber[i], on_message, &seat, "SUBSCRIBE bench-floor:%d:%u",
                          (int)getppid(), index);
    }
    if (index == 0)
        hold(&seat);
    ev_run(seat.loop, 0);
}
