/*
 * A client is left for another one, of the next list: parties at barriers, arrivals at latches and
 * those who await one go over, with their time.
 * rule: D10, D11
 */
#include "recipe_user.h"
#include "relisted.h"

/* ---- parties at barriers ------------------------------------------------------------------ */

static struct arrival first, second;

static void arrive(struct arrival *arrival, struct user *user, int64_t parties, int64_t timeout_ms,
                   const char *token)
{
    redlock_barrier_options options = {.size = sizeof options};
    options.parties = parties;
    options.timeout_ms = timeout_ms;
    options.token = token;
    arrival_begin(arrival, user, "b", &options);
}

static bool are_counted(unsigned masters, long long parties)
{
    return cluster_answering(&scene.cluster, parties, "ZCOUNT redlock:barrier:0:b 1 (+inf") ==
           masters;
}

static void begin_to_wait(int64_t timeout_ms, const char *token)
{
    relisted_begin();
    arrive(&first, &former, 2, timeout_ms, token);
    AWAIT(&former, are_counted(MASTERS, 1));
}

static void let_both_pass(struct user *user)
{
    arrive(&second, &other, 2, 0, NULL);
    arrival_end(&second, user, REDLOCK_OK);
    arrival_end(&first, user, REDLOCK_OK);
}

SCENE(test_a_party_goes_over, .masters = MASTERS)
{
    begin_to_wait(0, NULL);
    relisted_ask();
    relisted_leave();
    AWAIT(&next, are_counted(5, 1));
    relisted_kill_former();
    assert_int_equal(first.times, 0);
    let_both_pass(&next);
    relisted_end_with_dead();
}

/* One of the former list, and one that has gone over. */
SCENE(test_parties_of_both_lists_pass, .masters = MASTERS)
{
    struct user another;
    begin_to_wait(0, "mine");
    relisted_join(&another, 0, 6);
    relisted_ask();
    relisted_leave();
    arrive(&second, &another, 2, 0, NULL);
    arrival_end(&second, &next, REDLOCK_OK);
    arrival_end(&first, &next, REDLOCK_OK);
    assert_string_equal(first.told.token, "mine");
    assert_int_equal(user_end(&another, 5000), 0);
    relisted_end();
}

/* The former list cannot say that nobody has counted it. */
SCENE(test_an_undecided_party_comes_back, .masters = MASTERS)
{
    begin_to_wait(5000, NULL);
    relisted_kill_former();
    relisted_ask();
    AWAIT(&next, former_closed);
    assert_int_equal(first.times, 0);
    arrival_end(&first, &next, REDLOCK_E_UNDECIDED);
    assert_true(first.told.undecided);
    redlock_free(former.client);
    char token[REDLOCK_TOKEN_SIZE];
    memcpy(token, first.told.token, sizeof token);
    arrive(&first, &next, 2, 0, token);
    let_both_pass(&next);
    relisted_end_with_dead();
}

SCENE(test_the_time_of_a_party_goes_on, .masters = MASTERS)
{
    begin_to_wait(4000, NULL);
    AWAIT(&former, now_us() >= first.at_us + 2000000);
    relisted_ask();
    AWAIT_AWAKE_MS(&next, first.times, 3500);
    arrival_end(&first, &next, REDLOCK_E_NOT_PASSED);
    assert_true(now_us() >= first.at_us + 4000000);
    relisted_leave();
    relisted_end();
}

/* In the same turn. */
SCENE(test_a_party_that_leaves_does_not_go, .masters = MASTERS)
{
    begin_to_wait(0, NULL);
    relisted_ask();
    assert_code(redlock_barrier_leave(first.party), REDLOCK_OK);
    assert_code(redlock_barrier_leave(first.party), REDLOCK_E_STATE);
    arrival_end(&first, &next, REDLOCK_E_CANCELLED);
    relisted_leave();
    relisted_end();
}

/* It leaves, to go over, and too few masters of the former list answer. */
static void begin_to_depart(void)
{
    begin_to_wait(0, NULL);
    cluster_do(&scene.cluster, "pause 1 2 3");
    relisted_ask();
    AWAIT(&former, cluster_count(&scene.cluster, 5, "EXISTS redlock:barrier:0:b") == 0);
    assert_int_equal(first.times, 0);
}

SCENE(test_a_party_stays_if_the_other_client_is_freed, .masters = MASTERS)
{
    begin_to_depart();
    redlock_free(next.client);
    cluster_do(&scene.cluster, "resume 1 2 3");
    let_both_pass(&former);
    assert_int_equal(user_end(&other, 5000), 0);
    assert_int_equal(user_end(&former, 5000), 0);
}

/* Masters that hang may be waited for as long as AWAIT() waits; those that die are not. */
SCENE(test_a_party_leaves_while_it_goes_over, .masters = MASTERS)
{
    begin_to_depart();
    assert_code(redlock_barrier_leave(first.party), REDLOCK_OK);
    relisted_kill_former();
    AWAIT(&next, first.times);
    assert_true(first.told.undecided);
    redlock_barrier_free(first.party);
    relisted_leave();
    assert_int_equal(first.times, 1);
    relisted_end_with_dead();
}

SCENE(test_a_close_tells_parties_that_go_over, .masters = MASTERS)
{
    begin_to_depart();
    user_end(&former, 5000);
    assert_int_equal(first.times, 1);
    assert_true(first.told.undecided);
    assert_int_equal(former_closed, 0);
    cluster_do(&scene.cluster, "resume 1 2 3");
    AWAIT(&next, user_all_up(&next) && user_all_up(&other));
    relisted_end();
}

SCENE(test_a_close_tells_parties_that_are_left, .masters = MASTERS)
{
    relisted_begin_without_next();
    arrive(&first, &former, 2, 0, NULL);
    AWAIT(&former, cluster_count(&scene.cluster, 3, "EXISTS redlock:barrier:0:b") == 1);
    relisted_ask();
    assert_int_equal(user_end(&former, 5000), 0); /* with the party */
    assert_int_equal(first.times, 1);
    assert_code(first.told.code, REDLOCK_E_CLOSED);
    relisted_run_next();
    AWAIT(&next, next.ready);
    relisted_end();
}

/* ---- latches -------------------------------------------------------------------------------- */

static struct latching made, waits, more;

static void ask(struct latching *latching, struct user *user, latch_function *what,
                int64_t arrivals)
{
    redlock_latch_options options = {.size = sizeof options, .arrivals = arrivals};
    latching_begin(latching, user, what, "l", &options);
}

/* A count puts it on masters that lack it. */
static bool is_on_all(void)
{
    ask(&more, &former, redlock_latch_count, 0);
    latching_end(&more, &former, REDLOCK_OK);
    return cluster_answering(&scene.cluster, 1, "EXISTS redlock:latch:l") == MASTERS;
}

/* On all masters, of which some are killed next.  A late one may lack it. */
static void make(int64_t arrivals)
{
    ask(&made, &former, redlock_latch_create, arrivals);
    latching_end(&made, &former, REDLOCK_OK);
    AWAIT(&former, is_on_all());
}

SCENE(test_an_await_goes_over, .masters = MASTERS)
{
    relisted_begin();
    make(1);
    ask(&waits, &former, redlock_latch_await, 0);
    AWAIT(&former, user_is_quiet(&former));
    relisted_ask();
    relisted_leave();
    assert_int_equal(waits.times, 0);
    relisted_kill_former();
    ask(&more, &other, redlock_latch_arrive, 0);
    latching_end(&more, &next, REDLOCK_OK);
    latching_end(&waits, &next, REDLOCK_OK);
    assert_string_equal(waits.told.id, made.told.id);
    assert_true(waits.told.open);
    relisted_end_with_dead();
}

/* The former list has no quorum left to count it. */
SCENE(test_an_arrival_goes_over, .masters = MASTERS)
{
    relisted_begin();
    make(2);
    relisted_kill_former();
    ask(&waits, &former, redlock_latch_arrive, 0);
    AWAIT(&former, cluster_count(&scene.cluster, 5, "ZCOUNT redlock:latch:l -inf +inf") > 0);
    relisted_ask();
    latching_end(&waits, &next, REDLOCK_OK);
    assert_int_equal(waits.told.arrived, 1);
    AWAIT(&next, former_closed);
    redlock_free(former.client);
    relisted_end_with_dead();
}

SCENE(test_the_time_of_an_await_goes_on, .masters = MASTERS)
{
    redlock_latch_options options = {.size = sizeof options, .timeout_ms = 4000};
    relisted_begin();
    ask(&made, &former, redlock_latch_create, 1);
    latching_end(&made, &former, REDLOCK_OK);
    int64_t asked_us = now_us();
    latching_begin(&waits, &former, redlock_latch_await, "l", &options);
    AWAIT(&former, now_us() >= asked_us + 2000000);
    relisted_ask();
    AWAIT_AWAKE_MS(&next, waits.times, 3500);
    latching_end(&waits, &next, REDLOCK_E_NOT_OPEN);
    assert_true(now_us() >= asked_us + 4000000);
    relisted_leave();
    relisted_end();
}

SCENE(test_a_creation_is_waited_for, .masters = MASTERS)
{
    relisted_begin();
    ask(&made, &former, redlock_latch_create, 1);
    ask(&more, &former, redlock_latch_count, 0);
    relisted_ask();
    AWAIT(&next, former_closed);
    assert_int_equal(more.times, 1);
    latching_end(&made, &next, REDLOCK_OK);
    redlock_free(former.client);
    relisted_end();
}

/* Only their handles are left. */
SCENE(test_results_that_were_told_hold_nothing_up, .masters = MASTERS)
{
    relisted_begin();
    ask(&made, &former, redlock_latch_create, 1);
    arrive(&first, &former, 1, 0, NULL);
    AWAIT(&former, made.times && first.times);
    relisted_ask();
    AWAIT(&next, former_closed);
    redlock_latch_free(made.latch);
    redlock_barrier_free(first.party);
    redlock_free(former.client);
    assert_int_equal(made.times, 1);
    assert_int_equal(first.times, 1);
    relisted_end();
}

PROGRAM(.masters = 0)
