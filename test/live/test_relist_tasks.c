/*
 * A client is left for another one, of the next list: its observers go over, with what they told.
 * rule: D9
 */
#include <redlock/recipes.h>

#include "scene.h"

#define FLEET   "fleet"
#define MASTERS 6
#define TTL     30000

static struct user former, next, other;
static unsigned closed;

static void join(struct user *user, unsigned first, unsigned count)
{
    scene_list(&scene, user, FLEET, first, count);
    AWAIT(user, user->ready && user_all_up(user));
}

static void hear_closed(redlock *client, unsigned left, void *data)
{
    assert_ptr_equal(client, former.client);
    assert_ptr_equal(data, &former);
    assert_int_equal(left, 0);
    closed++;
}

/* A quorum of the first list are 4 of 6 masters, of the next one 3 of the last 5. */
static void begin(void)
{
    closed = 0;
    join(&former, 0, 6);
    join(&next, 1, 5);
    join(&other, 1, 5);
}

static void relist(void)
{
    assert_code(redlock_relist(former.client, next.client, hear_closed, &former), REDLOCK_OK);
}

/* Fewer than a quorum of the former list are left, and a quorum of the next one. */
static void kill_the_former_list(void)
{
    user_meanwhile(&next, &scene.cluster, "kill 1 2 3");
    AWAIT(&next, node_of(&next, 0).state == REDLOCK_NODE_DOWN &&
                     node_of(&next, 1).state == REDLOCK_NODE_DOWN);
}

static void leave(void)
{
    AWAIT(&next, closed);
    redlock_free(former.client);
}

static void end(void)
{
    assert_int_equal(user_end(&other, 5000), 0);
    assert_int_equal(user_end(&next, 5000), 0);
}

/* Of the first list 3 of 5 masters answer, and of the next one too few: 3 of 6. */
static void begin_without_the_next_list(void)
{
    static const char *const pause[] = {"pause 1", "pause 2", "pause 6"};
    closed = 0;
    join(&former, 0, 5);
    join(&other, 0, 5);
    for (unsigned i = 0; i < COUNT(pause); i++)
        cluster_do(&scene.cluster, "%s", pause[i]);
    scene_list(&scene, &next, FLEET, 0, 6);
}

static void let_the_next_list_run(void)
{
    cluster_do(&scene.cluster, "resume 1 2 6");
}

/* ---- observers ------------------------------------------------------------------------ */

struct watch {
    redlock_observer *observer;
    unsigned times;
    int64_t term;
    redlock_code code;
    char value[32];
    bool frees; /* in its callback */
};

static struct take leader;
static struct watch watch;
static int64_t term;

/* No term goes back. */
static void hear(redlock_observer *observer, const redlock_leader *told, void *data)
{
    struct watch *it = data;
    assert_ptr_equal(observer, it->observer);
    assert_true(!told->term || told->term >= term);
    it->times++;
    it->code = told->code;
    it->term = told->term;
    snprintf(it->value, sizeof it->value, "%.*s", (int)told->length, (const char *)told->value);
    if (it->frees)
        redlock_observer_free(observer);
}

static void begin_watch(struct watch *it, struct user *user)
{
    *it = (struct watch){.code = REDLOCK_E_UNAVAILABLE};
    assert_code(redlock_observer_begin(user->client, &it->observer, "name", hear, it), REDLOCK_OK);
}

static bool hears(const struct watch *it, const char *value)
{
    return it->code == REDLOCK_OK && it->term == term && strcmp(it->value, value) == 0;
}

static bool hears_nobody(const struct watch *it)
{
    return it->code == REDLOCK_OK && it->times && !it->term;
}

static void announce(const char *value)
{
    unsigned before = leader.told[REDLOCK_ANNOUNCED].times;
    assert_code(redlock_lease_announce(leader.lease, value, strlen(value)), REDLOCK_OK);
    AWAIT(leader.user, leader.told[REDLOCK_ANNOUNCED].times == before + 1);
}

static void lead(struct user *user)
{
    redlock_lease_options terms = lease_terms(TTL, 0);
    terms.fence = true;
    assert_code(take_lock(&leader, user, "name", &terms), REDLOCK_OK);
    term = redlock_lease_fence(leader.lease);
}

static void stop_leading(void)
{
    assert_code(take_release(&leader), REDLOCK_OK);
}

static void begin_to_observe(void)
{
    begin();
    lead(&other);
    announce("a");
    begin_watch(&watch, &former);
    AWAIT(&former, hears(&watch, "a"));
    assert_int_equal(watch.times, 1);
}

SCENE(test_an_observer_goes_over, .masters = MASTERS)
{
    begin_to_observe();
    relist();
    leave();
    AWAIT(&next, user_is_quiet(&next));
    assert_int_equal(watch.times, 1);
    kill_the_former_list();
    announce("b");
    AWAIT(&next, hears(&watch, "b"));
    assert_int_equal(watch.times, 2);
    redlock_observer_free(watch.observer);
    stop_leading();
    user_end(&other, 0); /* two of its masters have gone */
    user_end(&next, 0);
}

/* One that has heard nothing yet, and one of the same name. */
SCENE(test_all_observers_go_over, .masters = MASTERS)
{
    struct watch fresh;
    begin_to_observe();
    begin_watch(&fresh, &former);
    relist();
    leave();
    AWAIT(&next, hears(&fresh, "a"));
    announce("b");
    AWAIT(&next, hears(&fresh, "b") && hears(&watch, "b"));
    assert_int_equal(fresh.times, 2);
    assert_int_equal(watch.times, 2);
    redlock_observer_free(watch.observer);
    announce("c");
    AWAIT(&next, hears(&fresh, "c"));
    assert_int_equal(watch.times, 2);
    redlock_observer_free(fresh.observer);
    stop_leading();
    end();
}

/* Without a leader, and a push. */
static void say(const char *record)
{
    cluster_tell_all(&scene.cluster, "SET redlock:leader:name %s PX 60000", record);
}

static void begin_to_observe_a_record(void)
{
    begin();
    say("7 2 token a");
    term = 7;
    begin_watch(&watch, &former);
    AWAIT(&former, hears(&watch, "a"));
}

static void end_with_nobody(void)
{
    relist();
    leave();
    AWAIT(&next, hears_nobody(&watch));
    assert_int_equal(watch.times, 2);
    redlock_observer_free(watch.observer);
    end();
}

SCENE(test_what_has_ended_is_told, .masters = MASTERS)
{
    begin_to_observe_a_record();
    cluster_tell_all(&scene.cluster, "DEL redlock:leader:name");
    end_with_nobody();
}

/* The masters were set back: they say again what was said before. */
SCENE(test_terms_do_not_go_back, .masters = MASTERS)
{
    begin_to_observe_a_record();
    say("6 9 token earlier");
    end_with_nobody();
}

SCENE(test_values_do_not_go_back, .masters = MASTERS)
{
    begin_to_observe_a_record();
    say("7 1 token earlier");
    end_with_nobody();
}

/* Until the next list has a quorum, the former client tells what is new. */
SCENE(test_an_observer_waits_for_the_new_masters, .masters = MASTERS)
{
    begin_without_the_next_list();
    begin_watch(&watch, &former);
    relist();
    lead(&other);
    announce("a");
    AWAIT(&former, hears(&watch, "a"));
    unsigned times = watch.times;
    assert_int_equal(closed, 0);
    let_the_next_list_run();
    leave();
    announce("b");
    AWAIT(&next, hears(&watch, "b"));
    assert_int_equal(watch.times, times + 1);
    redlock_observer_free(watch.observer);
    stop_leading();
    end();
}

/* ---- their users ------------------------------------------------------------------------ */

SCENE(test_an_observer_is_freed_in_its_callback, .masters = MASTERS)
{
    begin_to_observe();
    watch.frees = true;
    relist();
    leave();
    announce("b");
    AWAIT(&next, watch.times == 2);
    announce("c");
    AWAIT(&next, user_is_quiet(&next));
    assert_int_equal(watch.times, 2);
    stop_leading();
    end();
}

/* Nobody waits for the next list then. */
SCENE(test_observers_are_freed_before_they_go, .masters = MASTERS)
{
    struct watch more;
    begin_without_the_next_list();
    begin_watch(&watch, &former);
    begin_watch(&more, &former);
    redlock_observer_free(more.observer);
    relist();
    AWAIT(&former, watch.times);
    assert_int_equal(closed, 0);
    redlock_observer_free(watch.observer);
    AWAIT(&former, closed);
    redlock_free(former.client);
    let_the_next_list_run();
    AWAIT(&next, next.ready);
    end();
}

static void free_both(redlock_observer *observer, const redlock_leader *told, void *data)
{
    (void)observer, (void)told;
    *(bool *)data = true;
    redlock_free(next.client);
    redlock_free(former.client);
}

/* With the handle that has gone over. */
SCENE(test_both_are_freed_in_a_callback, .masters = MASTERS)
{
    bool told = false;
    redlock_observer *observer;
    begin_to_observe();
    relist();
    AWAIT(&next, closed);
    assert_code(redlock_observer_begin(next.client, &observer, "name", free_both, &told),
                REDLOCK_OK);
    AWAIT(&other, told);
    announce("b");
    assert_int_equal(watch.times, 1);
    stop_leading();
    assert_int_equal(user_end(&other, 5000), 0);
}

SCENE(test_both_are_freed_at_once, .masters = MASTERS)
{
    begin_to_observe();
    relist();
    redlock_free(former.client);
    redlock_free(next.client);
    announce("b");
    assert_int_equal(watch.times, 1);
    stop_leading();
    assert_int_equal(user_end(&other, 5000), 0);
}

static void end_at_the_former_client(void)
{
    announce("b");
    AWAIT(&former, hears(&watch, "b"));
    assert_int_equal(watch.times, 2);
    redlock_observer_free(watch.observer);
    stop_leading();
    assert_int_equal(user_end(&other, 5000), 0);
    assert_int_equal(user_end(&former, 5000), 0);
    assert_int_equal(closed, 0);
}

SCENE(test_an_observer_stays_if_the_other_client_is_freed, .masters = MASTERS)
{
    begin_to_observe();
    relist();
    redlock_free(next.client);
    end_at_the_former_client();
}

SCENE(test_an_observer_stays_if_the_other_client_closes, .masters = MASTERS)
{
    begin_to_observe();
    relist();
    redlock_close(next.client, 0, NULL, NULL);
    AWAIT(&former, user_is_quiet(&former));
    end_at_the_former_client();
    redlock_free(next.client);
}

/* The program closes the former client itself. */
SCENE(test_a_close_ends_the_observers_that_are_left, .masters = MASTERS)
{
    begin_without_the_next_list();
    begin_watch(&watch, &former);
    AWAIT(&former, watch.times);
    relist();
    assert_int_equal(user_end(&former, 0), 0);
    assert_int_equal(closed, 0);
    let_the_next_list_run();
    AWAIT(&next, next.ready);
    lead(&other);
    announce("b");
    assert_int_equal(watch.times, 1);
    stop_leading();
    end();
}

PROGRAM(.masters = 0)
