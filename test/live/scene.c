#include "scene.h"

#include <stdio.h>

#define HOUR_US 3600000000LL

struct scene scene;

/* As if the master had started an hour ago and had not been adopted. */
static void age(struct cluster *cluster, unsigned master)
{
    long long wall = wall_clock(cluster, master);
    cluster_tell(cluster, master, "HDEL redlock:clock a");
    cluster_tell(cluster, master, "HSET redlock:clock s %lld q 0 h %lld", wall - HOUR_US, wall);
}

static void open_scene(unsigned masters, int64_t max_ttl_ms)
{
    char ttl[32];
    snprintf(ttl, sizeof ttl, "%lldms", (long long)max_ttl_ms);
    setenv("REDLOCK_MAX_TTL", ttl, 1); /* an adopting client must not tell them a longer one */
    scene = (struct scene){.max_ttl_ms = max_ttl_ms};
    cluster_start(&scene.cluster, masters, NULL);
    for (unsigned i = 0; i < masters; i++) {
        age(&scene.cluster, i);
        scene.roads[i] = proxy_start(scene.cluster.ports[i]);
    }
    scene.loop = ev_loop_new(0);
}

int scene_set_up(void **state)
{
    const struct scene_terms *terms = *state;
    open_scene(terms->masters, terms->max_ttl_ms ? terms->max_ttl_ms : 30000);
    return 0;
}

int scene_tear_down(void **state)
{
    (void)state;
    for (unsigned i = 0; i < scene.cluster.count; i++)
        proxy_stop(scene.roads[i]);
    ev_loop_destroy(scene.loop);
    cluster_stop(&scene.cluster);
    return 0;
}

redlock_options scene_options(const struct scene *scene)
{
    redlock_options options = {.size = sizeof(redlock_options)};
    options.max_ttl_ms = scene->max_ttl_ms;
    options.clock_skew_ms = SKEW_MS;
    options.connect_timeout_ms = 5000;
    options.request_timeout_ms = 1000;
    return options;
}

void scene_nodes(const struct scene *scene, unsigned by_road, char nodes[NODES_SIZE])
{
    size_t used = 0;
    for (unsigned i = 0; i < scene->cluster.count; i++)
        used += (size_t)snprintf(nodes + used, NODES_SIZE - used, URI_FORMAT, cluster_scheme(),
                                 scene->cluster.passwords[i],
                                 by_road & 1U << i ? proxy_port(scene->roads[i])
                                                   : scene->cluster.ports[i]);
}

void scene_join(struct scene *scene, struct user *user, unsigned by_road,
                const redlock_options *options)
{
    char nodes[NODES_SIZE];
    scene_nodes(scene, by_road, nodes);
    user_begin(user, scene->loop, nodes, options);
    AWAIT(user, user->ready);
}

void scene_list(struct scene *scene, struct user *user, const char *fleet, unsigned first,
                unsigned count)
{
    char nodes[NODES_SIZE] = "";
    redlock_options options = scene_options(scene);
    for (unsigned i = first; i < first + count; i++)
        snprintf(nodes + strlen(nodes), URI_SIZE, URI_FORMAT, cluster_scheme(),
                 scene->cluster.passwords[i], scene->cluster.ports[i]);
    options.nodes = nodes;
    options.fleet = fleet;
    user_begin(user, scene->loop, nodes, &options);
}

void scene_join_list(struct scene *scene, struct user *user, const char *fleet, unsigned first,
                     unsigned count)
{
    scene_list(scene, user, fleet, first, count);
    AWAIT(user, user->ready && user_all_up(user));
}

void scene_enter(struct scene *scene, struct user *user, const char *label, unsigned by_road)
{
    redlock_options options = scene_options(scene);
    options.label = label;
    scene_join(scene, user, by_road, &options);
}

void scene_leave(struct user *user)
{
    user_end(user, 5000);
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

unsigned scene_subscriptions(struct scene *scene, unsigned master, const char *label)
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
    AWAIT(user, user_is_quiet(user));
}

static bool all_know_a_listener(struct scene *scene, const char *label)
{
    bool all = true;
    for (unsigned i = 0; i < scene->cluster.count; i++)
        all &= scene_subscriptions(scene, i, label) > 0;
    return all;
}

void scene_enqueue(struct scene *scene, struct take *take, struct user *user, const char *label,
                   const redlock_lease_options *terms)
{
    AWAIT(user, cluster_holders(&scene->cluster, "name", NULL) == scene->cluster.count);
    take_ask(take, user, "name", terms);
    AWAIT(user, scene_waiters(scene, ALL, label) == scene->cluster.count);
    AWAIT(user, all_know_a_listener(scene, label));
    scene_settle(user);
}

void scene_enqueue_behind(struct scene *scene, struct take *holder, struct user *holds,
                          struct take *waiter, struct user *waits)
{
    redlock_lease_options terms = lease_terms(10000, REDLOCK_FOREVER);
    assert_code(take_lock(holder, holds, "name", &terms), REDLOCK_OK);
    scene_enqueue(scene, waiter, waits, "waiter", &terms);
}

void scene_hand_over_by_push(struct scene *scene, struct take *holder, struct take *waiter,
                             int64_t within_ms)
{
    uint64_t before = stats_of(waiter->user).pushes;
    assert_code(redlock_lease_release(holder->lease), REDLOCK_OK);
    AWAIT_AWAKE_MS(waiter->user, has(waiter), within_ms);
    assert_true(stats_of(waiter->user).pushes > before);
    AWAIT(holder->user, holder->told[REDLOCK_RELEASED].times);
    take_free(holder);
    assert_code(take_release(waiter), REDLOCK_OK);
    AWAIT(holder->user, cluster_holders(&scene->cluster, "name", NULL) == 0);
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
