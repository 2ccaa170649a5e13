#include "scene.h"

#include <stdio.h>

#define HOUR_US 3600000000LL

/* As if it had started an hour ago, and nobody had adopted it. */
static void age(struct cluster *cluster, unsigned master)
{
    long long wall = wall_clock(cluster, master);
    cluster_tell(cluster, master, "HDEL redlock:clock a");
    cluster_tell(cluster, master, "HSET redlock:clock s %lld q 0 h %lld", wall - HOUR_US, wall);
}

void scene_open(struct scene *scene, unsigned masters, int64_t max_ttl_ms, forge *forge, void *data)
{
    char ttl[32];
    snprintf(ttl, sizeof ttl, "%lldms", (long long)max_ttl_ms);
    setenv("REDLOCK_MAX_TTL", ttl, 1); /* who adopts them shall not tell them of more */
    *scene = (struct scene){.max_ttl_ms = max_ttl_ms};
    cluster_start(&scene->cluster, masters, NULL);
    for (unsigned i = 0; i < masters; i++) {
        age(&scene->cluster, i);
        scene->roads[i] =
            proxy_start_forging(scene->cluster.ports[i], i + 1 == masters ? forge : NULL, data);
    }
    scene->loop = ev_loop_new(0);
}

void scene_close(struct scene *scene)
{
    for (unsigned i = 0; i < scene->cluster.count; i++)
        proxy_stop(scene->roads[i]);
    ev_loop_destroy(scene->loop);
    cluster_stop(&scene->cluster);
}

redlock_options scene_options(const struct scene *scene)
{
    redlock_options options = REDLOCK_OPTIONS_INIT;
    options.max_ttl_ms = scene->max_ttl_ms;
    options.clock_skew_ms = SKEW_MS;
    options.request_timeout_ms = 1000;
    return options;
}

void scene_join(struct scene *scene, struct user *user, unsigned by_road,
                const redlock_options *options)
{
    char nodes[CLUSTER_MAX * 40];
    size_t used = 0;
    for (unsigned i = 0; i < scene->cluster.count; i++)
        used += (size_t)snprintf(nodes + used, sizeof nodes - used, "redis://127.0.0.1:%d ",
                                 by_road & 1U << i ? proxy_port(scene->roads[i])
                                                   : scene->cluster.ports[i]);
    user_begin(user, scene->loop, nodes, options);
    AWAIT(user, user->ready);
}

void scene_leave(struct user *user)
{
    user_end(user, 5000);
}

bool has(const struct take *take)
{
    return take->told[REDLOCK_ACQUIRED].times != 0;
}

redlock_stats stats_of(const struct user *user)
{
    redlock_stats stats;
    redlock_stats_get(user->client, &stats, sizeof stats);
    return stats;
}

unsigned scene_waiters(struct scene *scene, unsigned masters, const char *label)
{
    unsigned count = 0;
    for (unsigned i = 0; i < scene->cluster.count; i++) {
        if (!(masters & 1U << i))
            continue;
        redisReply *reply = cluster_ask(&scene->cluster, i, "KEYS redlock:waiter:*:%s", label);
        assert_non_null(reply);
        count += (unsigned)reply->elements;
        freeReplyObject(reply);
    }
    return count;
}

static bool is_quiet(const struct user *user)
{
    unsigned in_flight = 0;
    for (unsigned i = 0; i < redlock_nodes(user->client); i++) {
        redlock_node node;
        assert_code(redlock_node_get(user->client, i, &node), REDLOCK_OK);
        in_flight += node.in_flight;
    }
    return in_flight == 0;
}

unsigned scene_ears(struct scene *scene, unsigned master, const char *label)
{
    char name[80];
    unsigned count = 0;
    size_t length = (size_t)snprintf(name, sizeof name, " name=redlock:%s ", label);
    redisReply *reply = cluster_ask(&scene->cluster, master, "CLIENT LIST TYPE pubsub");
    assert_non_null(reply);
    for (const char *at = reply->str; (at = strstr(at, name)); at += length)
        count++;
    freeReplyObject(reply);
    return count;
}

void scene_settle(struct user *user)
{
    for (unsigned i = 0; i < 10; i++)
        user_step(user, INT64_MAX);
    AWAIT(user, is_quiet(user));
}

static bool all_know_a_listener(struct scene *scene, const char *label)
{
    bool all = true;
    for (unsigned i = 0; i < scene->cluster.count; i++)
        all &= scene_ears(scene, i, label) > 0;
    return all;
}

void scene_stand(struct scene *scene, struct take *take, struct user *user, const char *label,
                 const redlock_lease_options *terms)
{
    AWAIT(user, cluster_holders(&scene->cluster, "name", NULL) == scene->cluster.count);
    take_ask(take, user, "name", terms);
    AWAIT(user, scene_waiters(scene, ALL, label) == scene->cluster.count);
    AWAIT(user, all_know_a_listener(scene, label));
    scene_settle(user);
}

static long long calls_of(const char *stats, const char *command)
{
    const char *at = strstr(stats, command);
    return at ? atoll(at + strlen(command)) : 0;
}

long long scene_scripts(struct scene *scene, unsigned master)
{
    redisReply *reply = cluster_ask(&scene->cluster, master, "INFO commandstats");
    assert_non_null(reply);
    long long calls = calls_of(reply->str, "cmdstat_eval:calls=") +
                      calls_of(reply->str, "cmdstat_evalsha:calls=");
    freeReplyObject(reply);
    return calls;
}
