/*
 * floor_async.c - the floor of an asynchronous client: hiredis on libev, ready-made commands to all
 * masters at once, acquired at the quorum, released on all.  It waits for the releases of a quorum,
 * as redlock does, or for those of all masters.  floor.h says what it lacks.
 */
#include <hiredis/async.h>
#include <hiredis/adapters/libev.h>
#include <stdlib.h>

#include "cluster.h"
#include "floor.h"
#include "redlock.h"
#include "load.h"

#define DRAIN_S 5.

struct floor;

struct pair {
    struct floor *owner;
    struct pair *next_free;
    struct floor_commands commands;
    int64_t since, asked;
    unsigned sent, replies, yes; /* of this phase */
    unsigned outstanding;        /* of both phases */
    bool releasing, ended;
};

struct floor {
    struct load load;
    const struct options *options;
    redisAsyncContext *masters[15];
    unsigned count, quorum, left;
    unsigned releases; /* to wait for */
    struct pair *free;
    uint64_t serial;
    bool broken;
};

static void put_away(struct pair *pair)
{
    if (pair->outstanding || !pair->ended)
        return;
    pair->next_free = pair->owner->free;
    pair->owner->free = pair;
}

static void end_pair(struct pair *pair, bool ok)
{
    pair->ended = true;
    load_ended(&pair->owner->load, ok);
}

static void on_release(redisAsyncContext *context, void *answer, void *data)
{
    struct pair *pair = data;
    const redisReply *reply = answer;
    (void)context;
    pair->outstanding--;
    pair->yes += reply && reply->type == REDIS_REPLY_INTEGER && reply->integer == 1;
    pair->replies++;
    if (!pair->ended && pair->yes == pair->owner->releases) {
        load_released(&pair->owner->load, pair->asked);
        end_pair(pair, true);
    } else if (!pair->ended && pair->replies == pair->sent) {
        end_pair(pair, false);
    }
    put_away(pair);
}

static void send_all(struct pair *pair, redisCallbackFn *then, const char *command, size_t length)
{
    struct floor *floor = pair->owner;
    pair->sent = pair->replies = pair->yes = 0;
    for (unsigned i = 0; i < floor->count; i++)
        if (floor->masters[i] &&
            redisAsyncFormattedCommand(floor->masters[i], then, pair, command, length) == REDIS_OK)
            pair->sent++;
    pair->outstanding += pair->sent;
}

static void release(struct pair *pair)
{
    pair->releasing = true;
    pair->asked = now_ns();
    send_all(pair, on_release, pair->commands.release, pair->commands.release_length);
    if (!pair->sent)
        end_pair(pair, false);
}

static void on_acquire(redisAsyncContext *context, void *answer, void *data)
{
    struct pair *pair = data;
    const redisReply *reply = answer;
    (void)context;
    pair->outstanding--;
    if (!pair->releasing && !pair->ended) {
        pair->replies++;
        pair->yes += reply && reply->type == REDIS_REPLY_STATUS;
        if (pair->yes == pair->owner->quorum) {
            load_acquired(&pair->owner->load, pair->since);
            release(pair);
        } else if (pair->replies == pair->sent) {
            end_pair(pair, false);
        }
    }
    put_away(pair);
}

static struct pair *take_pair(struct floor *floor)
{
    struct pair *pair = floor->free;
    if (pair) {
        floor->free = pair->next_free;
        return pair;
    }
    pair = calloc(1, sizeof *pair);
    pair->owner = floor;
    floor_prepare(&pair->commands, floor->options);
    return pair;
}

static void begin(void *subject, int64_t since)
{
    struct floor *floor = subject;
    struct pair *pair = take_pair(floor);
    pair->since = since;
    pair->releasing = pair->ended = false;
    floor_name(&pair->commands, floor->serial++);
    send_all(pair, on_acquire, pair->commands.set, pair->commands.set_length);
    if (pair->sent >= floor->quorum)
        return;
    interrupted = 1; /* else the pair would begin another at once, for ever */
    end_pair(pair, false);
}

/* ---- */

static void on_disconnect(const redisAsyncContext *context, int status)
{
    struct floor *floor = context->data;
    (void)status;
    for (unsigned i = 0; i < floor->count; i++)
        if (floor->masters[i] == context) {
            floor->masters[i] = NULL;
            floor->left--;
            if (!floor->broken && floor->load.result)
                result_note(floor->load.result, "connection to master %u lost: %s", i + 1,
                            context->errstr);
        }
}

static bool load_script(const struct cluster *cluster, unsigned i, struct result *result)
{
    redisContext *context = cluster_connect(cluster, i, NULL);
    bool loaded = context && !context->err && floor_load(context, result);
    if (!loaded)
        result_note(result, "cannot connect to %s:%d", cluster->at[i].host, cluster->at[i].port);
    redisFree(context);
    return loaded;
}

static void *open_floor(const struct options *options, const struct cluster *cluster,
                        struct ev_loop *loop, struct result *result)
{
    struct floor *floor = calloc(1, sizeof *floor);
    floor->options = options;
    floor->count = floor->left = cluster->count;
    floor->quorum = floor->releases = redlock_quorum(cluster->count, options->spare);
    floor->serial = (uint64_t)now_ns() << 8;
    for (unsigned i = 0; i < floor->count; i++) {
        if (!load_script(cluster, i, result))
            return NULL;
        floor->masters[i] = redisAsyncConnect(cluster->at[i].host, cluster->at[i].port);
        floor->masters[i]->data = floor;
        redisLibevAttach(loop, floor->masters[i]);
        const char *login[3];
        int words = cluster_login(cluster, i, login);
        if (words)
            redisAsyncCommandArgv(floor->masters[i], NULL, NULL, words, login, NULL);
        redisAsyncSetDisconnectCallback(floor->masters[i], on_disconnect);
    }
    load_init(&floor->load, options, loop, begin, floor);
    return floor;
}

static void *open_patient(const struct options *options, const struct cluster *cluster,
                          struct ev_loop *loop, struct result *result)
{
    struct floor *floor = open_floor(options, cluster, loop, result);
    if (floor)
        floor->releases = floor->count;
    return floor;
}

static void run_floor(void *self, double warm, double seconds, struct result *result)
{
    struct floor *floor = self;
    load_run(&floor->load, warm, seconds, result);
}

static void on_late(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop, (void)events;
    *(bool *)timer->data = true;
}

/* Requests that a slower master has not got or not answered belong to pairs that counted. */
static void disconnect(struct floor *floor)
{
    struct ev_loop *loop = floor->load.loop;
    bool is_late = false;
    ev_timer late;
    ev_timer_init(&late, on_late, DRAIN_S, 0.);
    late.data = &is_late;
    ev_now_update(loop);
    ev_timer_start(loop, &late);
    for (unsigned i = 0; i < floor->count; i++)
        if (floor->masters[i])
            redisAsyncDisconnect(floor->masters[i]);
    while (floor->left && !is_late && !interrupted)
        ev_run(loop, EVRUN_ONCE);
    ev_timer_stop(loop, &late);
}

/* The process ends next, so pairs that are under way are not freed. */
static void close_floor(void *self)
{
    struct floor *floor = self;
    floor->broken = true;
    disconnect(floor);
    for (unsigned i = 0; i < floor->count; i++)
        if (floor->masters[i])
            redisAsyncFree(floor->masters[i]);
    for (struct pair *pair; (pair = floor->free);) {
        floor->free = pair->next_free;
        floor_discard(&pair->commands);
        free(pair);
    }
    free(floor);
}

const struct scenario floor_async_scenario = {
    .name = "floor-async",
    .summary = "the same with bare hiredis, asynchronous: fast, and not safe",
    .open = open_floor,
    .run = run_floor,
    .close = close_floor,
    .loops = true};

const struct scenario floor_patient_scenario = {
    .name = "floor-patient",
    .summary = "the same, but it waits for the releases of all masters",
    .open = open_patient,
    .run = run_floor,
    .close = close_floor,
    .loops = true};
