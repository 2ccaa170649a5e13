/*
 * Closing waits for what can still be released, and no longer. It does not wait for a dead master
 * when the others have confirmed. It waits for a slow one, and for a master without which nobody
 * else gets the names.
 */
#include "scene.h"

#include <redlock/sync.h>
#include <unistd.h>

#define PATIENCE_MS 10000
#define TTL_MS      20000

static struct take holder;

/* Every master has the name. */
static void hold(unsigned by_road)
{
    redlock_lease_options terms = lease_terms(TTL_MS, 0);
    scene_enter(&scene, &user, "closes", by_road);
    assert_code(take_lock(&holder, &user, "name", &terms), REDLOCK_OK);
    AWAIT(&user, cluster_holders(&scene.cluster, "name", NULL) == 3 && user_is_quiet(&user));
}

static int64_t ms_since(int64_t begun_us)
{
    return (now_us() - begun_us) / 1000;
}

SCENE(test_a_thread_closes_beside_a_dead_master, .masters = 3)
{
    redlock_sync *client;
    redlock_sync_lease *lease;
    redlock_options options = scene_options(&scene);
    redlock_lease_options terms = lease_terms(TTL_MS, 0);
    options.nodes = scene.cluster.nodes;
    assert_code(redlock_sync_open(&client, &options, NULL, 0), REDLOCK_OK);
    assert_code(redlock_sync_acquire(client, &lease, "name", &terms, NULL), REDLOCK_OK);
    int64_t end = now_us() + 10000000;
    for (; cluster_holders(&scene.cluster, "name", NULL) != 3; usleep(1000))
        assert_true(now_us() < end);
    cluster_do(&scene.cluster, "kill 3");
    int64_t begun = now_us();
    assert_int_equal(redlock_sync_close(client, PATIENCE_MS), 1);
    assert_in_range(ms_since(begun), 0, PATIENCE_MS / 2);
    assert_int_equal(cluster_holders(&scene.cluster, "name", NULL), 0);
    redlock_sync_lease_free(lease);
    redlock_sync_free(client);
}

/* Its way to us takes 300 ms. */
SCENE(test_a_slow_master_gets_its_release, .masters = 3)
{
    hold(1U << 2);
    proxy_delay(scene.roads[2], 300);
    int64_t begun = now_us();
    assert_int_equal(user_end(&user, PATIENCE_MS), 0);
    assert_true(ms_since(begun) >= 300);
    assert_int_equal(cluster_holders(&scene.cluster, "name", NULL), 0);
}

static void on_closed(redlock *client, unsigned left, void *data)
{
    (void)client;
    (void)data;
    user.closed++;
    user.left = left;
}

/* One of the two comes back with the name. */
SCENE(test_dead_masters_that_are_needed_are_waited_for, .masters = 3)
{
    hold(0);
    user_meanwhile(&user, &scene.cluster, "term 2 3");
    uint64_t connects = stats_of(&user).connects;
    redlock_close(user.client, PATIENCE_MS, on_closed, NULL);
    AWAIT(&user, holder.told[REDLOCK_RELEASED].times);
    assert_int_equal(holder.told[REDLOCK_RELEASED].event.code, REDLOCK_E_UNAVAILABLE);
    AWAIT(&user, stats_of(&user).connects >= connects + 6); /* in vain */
    assert_int_equal(user.closed, 0);
    user_meanwhile(&user, &scene.cluster, "restart 2");
    AWAIT(&user, user.closed);
    assert_int_equal(user.left, 1);
    assert_int_equal(cluster_holders(&scene.cluster, "name", NULL), 0);
    redlock_free(user.client);
}

SCENE(test_a_second_close_shortens_the_patience, .masters = 3)
{
    hold(0);
    user_meanwhile(&user, &scene.cluster, "term 2 3");
    redlock_close(user.client, 60000, on_closed, NULL);
    AWAIT(&user, holder.told[REDLOCK_RELEASED].times);
    redlock_close(user.client, REDLOCK_FOREVER, NULL, NULL);
    redlock_close(user.client, 100, NULL, NULL);
    AWAIT(&user, user.closed);
    assert_int_equal(user.left, 2);
    redlock_free(user.client);
}

#define SAYINGS "EVAL return(#redis.call('keys','redlock:lists:*:*')) 0"

static unsigned masters_that_hear(long long clients)
{
    return cluster_answering(&scene.cluster, clients, SAYINGS);
}

/* The answer to the last release lets the client take its list back, and nobody waits for that.
 * Each master must have been sent it all the same. */
SCENE(test_the_list_is_taken_back, .masters = 3)
{
    hold(0);
    assert_int_equal(masters_that_hear(1), 3);
    assert_int_equal(user_end(&user, PATIENCE_MS), 0);
    int64_t end = now_us() + 10000000;
    for (; masters_that_hear(0) != 3; usleep(1000))
        assert_true(now_us() < end);
}

#define WARNING "other clients of the fleet have max_ttl_ms 20000"

/* The client takes its list back while a release is owed, and hears anew of each master what it
 * knew: at first of one, whose word alone is no warning. */
SCENE(test_it_does_not_warn_again, .masters = 5)
{
    struct user other;
    redlock_options options = scene_options(&scene);
    options.spare = 1;
    options.max_ttl_ms = 20000;
    scene_join(&scene, &other, 1U << 4, &options);
    AWAIT(&other, user_all_up(&other) && user_is_quiet(&other));
    options.max_ttl_ms = scene.max_ttl_ms;
    scene_join(&scene, &user, 1U << 4, &options);
    assert_code(take_lock(&holder, &user, "name", NULL), REDLOCK_OK);
    AWAIT(&user, user_is_quiet(&user));
    const char *warning = strstr(user.log, WARNING);
    assert_non_null(warning);
    proxy_delay(scene.roads[4], 300);
    assert_int_equal(user_end(&user, PATIENCE_MS), 0);
    assert_null(strstr(warning + 1, WARNING));
    assert_int_equal(user_end(&other, PATIENCE_MS), 0);
}

PROGRAM(.masters = 0)
