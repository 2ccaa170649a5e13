/*
 * floor_blocking.c - the floor of a blocking client on hiredis, one pair at a time. It writes the
 * same ready-made command to every master, then reads every answer. floor.h says what it lacks.
 */
#include <stdlib.h>

#include "cluster.h"
#include "floor.h"
#include "redlock.h"

struct floor {
    redisContext *masters[15];
    unsigned count, quorum;
    uint64_t limit, serial;
    struct floor_commands commands;
};

static bool send_one(redisContext *context, const char *command, size_t length)
{
    int done = 0;
    if (redisAppendFormattedCommand(context, command, length) != REDIS_OK)
        return false;
    while (!done)
        if (redisBufferWrite(context, &done) != REDIS_OK)
            return false;
    return true;
}

/* True if a quorum said yes; `decided` is when. */
static bool ask_all(struct floor *floor, const char *command, size_t length, int64_t *decided)
{
    unsigned yes = 0;
    for (unsigned i = 0; i < floor->count; i++)
        send_one(floor->masters[i], command, length);
    for (unsigned i = 0; i < floor->count; i++) {
        redisReply *reply;
        if (floor->masters[i]->err || redisGetReply(floor->masters[i], (void **)&reply) != REDIS_OK)
            continue;
        yes += reply->type == REDIS_REPLY_STATUS || reply->integer == 1;
        if (yes == floor->quorum)
            *decided = now_ns();
        freeReplyObject(reply);
    }
    return yes >= floor->quorum;
}

static bool one_pair(struct floor *floor, struct result *result, bool counts)
{
    int64_t begun = now_ns(), decided = 0;
    floor_name(&floor->commands, floor->serial++);
    bool ok = ask_all(floor, floor->commands.set, floor->commands.set_length, &decided);
    if (ok && counts)
        histogram_add(&result->acquire, decided - begun);
    begun = now_ns();
    ok &= ask_all(floor, floor->commands.release, floor->commands.release_length, &decided);
    if (ok && counts)
        histogram_add(&result->release, decided - begun);
    return ok;
}

static void run_floor(void *self, double warm, double seconds, struct result *result)
{
    struct floor *floor = self;
    double user, system;
    int64_t end = now_ns() + (int64_t)(warm * 1e9);
    while (warm > 0 && now_ns() < end && !interrupted)
        if (!one_pair(floor, result, false))
            break;
    int64_t started = now_ns();
    end = started + (int64_t)(seconds * 1e9);
    usage_now(&result->user, &result->system);
    while (!interrupted && (floor->limit ? result->pairs < floor->limit : now_ns() < end)) {
        if (one_pair(floor, result, true)) {
            result->pairs++;
            continue;
        }
        result->failed++;
        result_note(result, "no quorum: a connection was lost");
        break;
    }
    usage_now(&user, &system);
    result->user = user - result->user;
    result->system = system - result->system;
    result->seconds = (double)(now_ns() - started) / 1e9;
}

static void close_floor(void *self)
{
    struct floor *floor = self;
    for (unsigned i = 0; i < floor->count; i++)
        if (floor->masters[i])
            redisFree(floor->masters[i]);
    floor_discard(&floor->commands);
    free(floor);
}

static void *open_floor(const struct options *options, const struct cluster *cluster,
                        struct ev_loop *loop, struct result *result)
{
    struct floor *floor = calloc(1, sizeof *floor);
    (void)loop;
    floor->count = cluster->count;
    floor->quorum = redlock_quorum(cluster->count, options->spare);
    floor->limit = options->pairs;
    floor->serial = (uint64_t)now_ns() << 8;
    bool good = options->concurrency == 1 && options->rate <= 0;
    if (!good)
        result_note(result, "the blocking floor has one pair in flight");
    for (unsigned i = 0; good && i < floor->count; i++) {
        floor->masters[i] = cluster_connect(cluster, i, NULL);
        good =
            floor->masters[i] && !floor->masters[i]->err && floor_load(floor->masters[i], result);
        if (!good)
            result_note(result, "cannot connect to %s:%d", cluster->at[i].host,
                        cluster->at[i].port);
    }
    if (good && floor_prepare(&floor->commands, options))
        return floor;
    close_floor(floor);
    return NULL;
}

const struct scenario floor_blocking_scenario = {
    .name = "floor-blocking",
    .summary = "the same with bare hiredis, blocking, pipelined: not safe either",
    .open = open_floor,
    .run = run_floor,
    .close = close_floor,
    .loops = true};
