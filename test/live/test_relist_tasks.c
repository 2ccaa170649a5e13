/*
 * A client is left for another one, of the next list: its observers go over, with what they told.
 * rule: D9
 */
#include "recipe_user.h"
#include "relisted.h"

#define TTL 30000

/* ---- observers ------------------------------------------------------------------------ */

static struct take leader;
static struct watch watch;
static int64_t term;

/* No term goes back. */
static void begin_watch(struct watch *it, struct user *user)
{
    watch_begin(it, user, "name");
    it->highest = term;
}

static bool hears(const struct watch *it, const char *value)
{
    return watch_hears(it, value) && it->last.term == term;
}

static void announce(const char *value)
{
    take_announce(&leader, value);
}

static void lead(struct user *user)
{
    take_lead(&leader, user, "name", TTL, 0);
    term = redlock_lease_fence(leader.lease);
}

static void stop_leading(void)
{
    assert_code(take_release(&leader), REDLOCK_OK);
}

static void begin_to_observe(void)
{
    relisted_begin();
    lead(&other);
    announce("a");
    begin_watch(&watch, &former);
    AWAIT(&former, hears(&watch, "a"));
    assert_int_equal(watch.times, 1);
}

SCENE(test_an_observer_goes_over, .masters = MASTERS)
{
    begin_to_observe();
    relisted_ask();
    relisted_leave();
    AWAIT(&next, user_is_quiet(&next));
    assert_int_equal(watch.times, 1);
    relisted_kill_former();
    announce("b");
    AWAIT(&next, hears(&watch, "b"));
    assert_int_equal(watch.times, 2);
    redlock_observer_free(watch.observer);
    stop_leading();
    relisted_end_with_dead();
}

/* One that has heard nothing yet, and one of the same name. */
SCENE(test_all_observers_go_over, .masters = MASTERS)
{
    struct watch fresh;
    begin_to_observe();
    begin_watch(&fresh, &former);
    relisted_ask();
    relisted_leave();
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
    relisted_end();
}

/* Without a leader, and a push. */
static void say(const char *record)
{
    cluster_tell_all(&scene.cluster, "SET redlock:leader:name %s PX 60000", record);
}

static void begin_to_observe_a_record(void)
{
    relisted_begin();
    say("7 2 token a");
    term = 7;
    begin_watch(&watch, &former);
    AWAIT(&former, hears(&watch, "a"));
}

static void end_with_nobody(void)
{
    relisted_ask();
    relisted_leave();
    AWAIT(&next, watch_hears_nobody(&watch));
    assert_int_equal(watch.times, 2);
    redlock_observer_free(watch.observer);
    relisted_end();
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
    relisted_begin_without_next();
    begin_watch(&watch, &former);
    relisted_ask();
    lead(&other);
    announce("a");
    AWAIT(&former, hears(&watch, "a"));
    unsigned times = watch.times;
    assert_int_equal(former_closed, 0);
    relisted_run_next();
    relisted_leave();
    announce("b");
    AWAIT(&next, hears(&watch, "b"));
    assert_int_equal(watch.times, times + 1);
    redlock_observer_free(watch.observer);
    stop_leading();
    relisted_end();
}

/* ---- their users ------------------------------------------------------------------------ */

SCENE(test_an_observer_is_freed_in_its_callback, .masters = MASTERS)
{
    begin_to_observe();
    watch.frees = true;
    relisted_ask();
    relisted_leave();
    announce("b");
    AWAIT(&next, watch.times == 2);
    announce("c");
    AWAIT(&next, user_is_quiet(&next));
    assert_int_equal(watch.times, 2);
    stop_leading();
    relisted_end();
}

/* Nobody waits for the next list then. */
SCENE(test_observers_are_freed_before_they_go, .masters = MASTERS)
{
    struct watch more;
    relisted_begin_without_next();
    begin_watch(&watch, &former);
    begin_watch(&more, &former);
    redlock_observer_free(more.observer);
    relisted_ask();
    AWAIT(&former, watch.times);
    assert_int_equal(former_closed, 0);
    redlock_observer_free(watch.observer);
    AWAIT(&former, former_closed);
    redlock_free(former.client);
    relisted_run_next();
    AWAIT(&next, next.ready);
    relisted_end();
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
    relisted_ask();
    AWAIT(&next, former_closed);
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
    relisted_ask();
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
    assert_int_equal(former_closed, 0);
}

SCENE(test_an_observer_stays_if_the_other_client_is_freed, .masters = MASTERS)
{
    begin_to_observe();
    relisted_ask();
    redlock_free(next.client);
    end_at_the_former_client();
}

SCENE(test_an_observer_stays_if_the_other_client_closes, .masters = MASTERS)
{
    begin_to_observe();
    relisted_ask();
    redlock_close(next.client, 0, NULL, NULL);
    AWAIT(&former, user_is_quiet(&former));
    end_at_the_former_client();
    redlock_free(next.client);
}

/* The program closes the former client itself. */
SCENE(test_a_close_ends_the_observers_that_are_left, .masters = MASTERS)
{
    relisted_begin_without_next();
    begin_watch(&watch, &former);
    AWAIT(&former, watch.times);
    relisted_ask();
    assert_int_equal(user_end(&former, 0), 0);
    assert_int_equal(former_closed, 0);
    relisted_run_next();
    AWAIT(&next, next.ready);
    lead(&other);
    announce("b");
    assert_int_equal(watch.times, 1);
    stop_leading();
    relisted_end();
}

PROGRAM(.masters = 0)
