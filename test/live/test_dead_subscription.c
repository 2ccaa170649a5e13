/*
 * Notification connections that are dead without an error.
 */
#include "scene.h"

#define MASTERS    3
#define NOTICED_MS 15000 /* 3 s of silence, 5 s to connect, and a refresh before each of them */
#define PUSHED_MS  500   /* a refresh, each second, is too late */

/* Masters for which this many notification connections were made. */
static unsigned masters_subscribed(unsigned roads)
{
    unsigned masters = 0;
    for (unsigned i = 0; i < MASTERS; i++)
        masters += proxy_roads(scene.roads[i], SUBSCRIPTION_ROADS) >= roads;
    return masters;
}

/* Something between drops them, as a router does that was restarted. */
SCENE(test_connections_that_are_dropped_silently, .masters = MASTERS)
{
    struct user holds, waits;
    struct take holder, waiter;
    scene_enter(&scene, &holds, "holder", 0);
    scene_enter(&scene, &waits, "waiter", ALL);
    scene_enqueue_behind(&scene, &holder, &holds, &waiter, &waits);
    scene_hand_over_by_push(&scene, &holder, &waiter, PUSHED_MS);

    scene_enqueue_behind(&scene, &holder, &holds, &waiter, &waits);
    for (unsigned i = 0; i < MASTERS; i++)
        proxy_blind(scene.roads[i], SUBSCRIPTION_ROADS);
    AWAIT_MS(&waits, masters_subscribed(2) == MASTERS, NOTICED_MS);
    for (unsigned i = 0; i < MASTERS; i++) /* the master still has the old one */
        AWAIT(&waits, scene_subscriptions(&scene, i, "waiter") >= 2);
    scene_settle(&waits);
    scene_hand_over_by_push(&scene, &holder, &waiter, PUSHED_MS);
    scene_leave(&waits);
    scene_leave(&holds);
}

/* The master accepts them, and that is all. */
SCENE(test_connections_that_are_never_answered, .masters = MASTERS)
{
    struct user holds, waits;
    struct take holder, waiter;
    redlock_lease_options terms = lease_terms(10000, REDLOCK_FOREVER);
    scene_enter(&scene, &holds, "holder", 0);
    scene_enter(&scene, &waits, "waiter", ALL);
    proxy_hold(scene.roads[0], SUBSCRIPTION_ROADS, REPLIES);
    assert_code(take_lock(&holder, &holds, "name", NULL), REDLOCK_OK);
    take_ask(&waiter, &waits, "name", &terms);
    AWAIT_MS(&waits, proxy_roads(scene.roads[0], SUBSCRIPTION_ROADS) >= 2, NOTICED_MS);
    assert_int_equal(waiter.outcomes, 0);
    assert_code(take_release(&holder), REDLOCK_OK);
    AWAIT(&waits, has(&waiter));
    assert_code(take_release(&waiter), REDLOCK_OK);
    scene_leave(&waits);
    scene_leave(&holds);
}

PROGRAM(.masters = 0)
