/*
 * Notification connections of which nobody is told that they are of no use.
 */
#include "scene.h"

#include <stdio.h>

#define MASTERS    3
#define NOTICED_MS 11000
#define PUSHED_MS  500 /* a refresh, each second, is too late */

static struct scene scene;

static int open_scene(void **state)
{
    (void)state;
    scene_open(&scene, MASTERS, 30000, NULL, NULL);
    return 0;
}

static int close_scene(void **state)
{
    (void)state;
    scene_close(&scene);
    return 0;
}

static void join(struct user *user, const char *label, unsigned by_road)
{
    redlock_options options = scene_options(&scene);
    options.label = label;
    scene_join(&scene, user, by_road, &options);
}

/* Masters for which so many notification connections were made. */
static unsigned masters_with_ears(unsigned ears)
{
    unsigned masters = 0;
    for (unsigned i = 0; i < MASTERS; i++)
        masters += proxy_roads(scene.roads[i], EAR_ROADS) >= ears;
    return masters;
}

/* Holds, and lets the other one wait for it. */
static void stand_behind(struct take *holder, struct user *holds, struct take *waiter,
                         struct user *waits)
{
    redlock_lease_options terms = lease_terms(10000, REDLOCK_FOREVER);
    assert_code(take_lock(holder, holds, "name", &terms), REDLOCK_OK);
    scene_stand(&scene, waiter, waits, "waiter", &terms);
}

static void hand_over_by_push(struct take *holder, struct take *waiter)
{
    uint64_t before = stats_of(waiter->user).pushes;
    assert_code(redlock_release(holder->lease), REDLOCK_OK);
    AWAIT_MS(waiter->user, has(waiter), PUSHED_MS);
    assert_true(stats_of(waiter->user).pushes > before);
    AWAIT(holder->user, holder->told[REDLOCK_RELEASED].times);
    take_free(holder);
    assert_code(take_release(waiter), REDLOCK_OK);
    AWAIT(holder->user, cluster_holders(&scene.cluster, "name", NULL) == 0);
}

/* Something between drops them, as a router does that was restarted. */
static void test_connections_that_are_dropped_silently(void **state)
{
    struct user holds, waits;
    struct take holder, waiter;
    (void)state;
    join(&holds, "holder", 0);
    join(&waits, "waiter", ALL);
    stand_behind(&holder, &holds, &waiter, &waits);
    hand_over_by_push(&holder, &waiter);

    stand_behind(&holder, &holds, &waiter, &waits);
    for (unsigned i = 0; i < MASTERS; i++)
        proxy_blind(scene.roads[i], EAR_ROADS);
    AWAIT_MS(&waits, masters_with_ears(2) == MASTERS, NOTICED_MS);
    for (unsigned i = 0; i < MASTERS; i++) /* the master still has the old one */
        AWAIT(&waits, scene_ears(&scene, i, "waiter") >= 2);
    scene_settle(&waits);
    hand_over_by_push(&holder, &waiter);
    scene_leave(&waits);
    scene_leave(&holds);
}

/* The master accepts them, and that is all. */
static void test_connections_that_are_never_answered(void **state)
{
    struct user holds, waits;
    struct take holder, waiter;
    redlock_lease_options terms = lease_terms(10000, REDLOCK_FOREVER);
    (void)state;
    join(&holds, "holder", 0);
    join(&waits, "waiter", ALL);
    proxy_hold(scene.roads[0], EAR_ROADS, REPLIES);
    assert_code(take_lock(&holder, &holds, "name", NULL), REDLOCK_OK);
    take_ask(&waiter, &waits, "name", &terms);
    AWAIT_MS(&waits, proxy_roads(scene.roads[0], EAR_ROADS) >= 2, NOTICED_MS);
    assert_int_equal(waiter.outcomes, 0);
    assert_code(take_release(&holder), REDLOCK_OK);
    AWAIT(&waits, has(&waiter));
    assert_code(take_release(&waiter), REDLOCK_OK);
    scene_leave(&waits);
    scene_leave(&holds);
}

#define SCENE(test) cmocka_unit_test_setup_teardown(test, open_scene, close_scene)

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCENE(test_connections_that_are_dropped_silently),
        SCENE(test_connections_that_are_never_answered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
