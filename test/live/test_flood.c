/*
 * A master that sends more on a notification connection than it was ever asked for.
 * rule: W31
 */
#include "scene.h"

#define MASTERS   3
#define MESSAGES  220 /* more than a master may send unasked; half of them too */
#define AGAIN_MS  5000
#define PUSHED_MS 10000

/* The channel of the only client that listens. */
static void find_channel(unsigned master, char *channel, size_t size)
{
    redisReply *reply = cluster_ask(&scene.cluster, master, "PUBSUB CHANNELS redlock:*");
    assert_non_null(reply);
    assert_int_equal(reply->elements, 1);
    snprintf(channel, size, "%s", reply->element[0]->str);
    freeReplyObject(reply);
}

/* Grants to tokens of no lease. */
static void flood(unsigned master)
{
    char channel[64];
    redisContext *context = scene.cluster.plain[master];
    find_channel(master, channel, sizeof channel);
    for (unsigned i = 0; i < MESSAGES; i++)
        redisAppendCommand(context, "PUBLISH %s %022u:nobody%s999999999", channel, i, " ");
    for (unsigned i = 0; i < MESSAGES; i++) {
        redisReply *reply;
        assert_int_equal(redisGetReply(context, (void **)&reply), REDIS_OK);
        freeReplyObject(reply);
    }
}

SCENE(test_it_is_not_heard_for_a_while, .masters = MASTERS)
{
    struct user holds, waits;
    struct take holder, waiter;
    scene_enter(&scene, &holds, "holder", 0);
    scene_enter(&scene, &waits, "waiter", 0);
    scene_enqueue_behind(&scene, &holder, &holds, &waiter, &waits);

    flood(0);
    AWAIT(&waits, scene_subscriptions(&scene, 0, "waiter") == 0);
    assert_says(waits.log, "sends more notifications than were asked for");
    assert_int_equal(waiter.outcomes, 0);
    for (unsigned i = 1; i < MASTERS; i++)
        assert_int_equal(scene_subscriptions(&scene, i, "waiter"), 1);

    /* Later it is listened to again; if it goes on, later still. */
    AWAIT_MS(&waits, scene_subscriptions(&scene, 0, "waiter") == 1, AGAIN_MS);
    scene_settle(&waits);
    flood(0);
    AWAIT(&waits, scene_subscriptions(&scene, 0, "waiter") == 0);
    assert_says(waits.log, "ignored for 2 s");

    /* The others hand over. */
    scene_hand_over_by_push(&scene, &holder, &waiter, PUSHED_MS);
    scene_leave(&waits);
    scene_leave(&holds);
}

/* A message for each handover is none too many, however many there are. */
SCENE(test_handovers_are_no_flood, .masters = MASTERS)
{
    struct user one, other;
    struct take takes[2];
    redlock_place place = {.size = sizeof place};
    redlock_lease_options terms = lease_terms(10000, REDLOCK_FOREVER);
    scene_enter(&scene, &one, "one", 0);
    scene_enter(&scene, &other, "other", 0);
    assert_code(take_lock(&takes[0], &one, "name", &terms), REDLOCK_OK);
    for (unsigned i = 1; i <= MESSAGES; i++) {
        struct user *waits = i % 2 ? &other : &one;
        struct take *holder = &takes[(i + 1) % 2], *waiter = &takes[i % 2];
        take_ask(waiter, waits, "name", &terms);
        AWAIT(waits, redlock_lease_place(waiter->lease, &place) == REDLOCK_OK);
        assert_code(redlock_lease_release(holder->lease), REDLOCK_OK);
        AWAIT(holder->user, holder->told[REDLOCK_RELEASED].times);
        take_free(holder);
        AWAIT(waits, has(waiter));
    }
    assert_code(take_release(&takes[0]), REDLOCK_OK);
    assert_null(strstr(one.log, "notifications"));
    assert_null(strstr(other.log, "notifications"));
    scene_leave(&other);
    scene_leave(&one);
}

PROGRAM(.masters = 0)
