/*
 * Latches on real masters: arriving and waiting, the outcome of each, and restarts of masters.
 */
#include "pair.h"
#include "recipe_user.h"
#include "scene.h"

#define MASTERS 5
#define MANY    100
#define SOME    10 /* answers of 64 KiB that are read and compared within half of max_ttl */

static void begin(struct latching *call, struct user *user, latch_function *function,
                  const redlock_latch_options *options)
{
    latching_begin(call, user, function, "latch", options);
}

static redlock_latch_result tell(struct user *user, latch_function *function,
                                 const redlock_latch_options *options, redlock_code code)
{
    struct latching call;
    begin(&call, user, function, options);
    latching_end(&call, user, code);
    return call.told;
}

static redlock_latch_result make(struct user *user, int64_t arrivals)
{
    redlock_latch_options options = {.size = sizeof options};
    options.arrivals = arrivals;
    return tell(user, redlock_latch_create, &options, REDLOCK_OK);
}

static redlock_latch_result arrive(struct user *user, const char *arrival)
{
    redlock_latch_options options = {.size = sizeof options};
    options.arrival = arrival;
    return tell(user, redlock_latch_arrive, &options, REDLOCK_OK);
}

static void counts(struct user *user, unsigned arrived, bool open)
{
    redlock_latch_result tally = tell(user, redlock_latch_count, NULL, REDLOCK_OK);
    assert_int_equal(tally.arrived, arrived);
    assert_int_equal(tally.open, open);
}

static int join_anew(void **state)
{
    cluster_tell_all(&cluster, "DEL redlock:latch:latch redlock:observers:latch");
    return pair_join(state);
}

#define WITH_BOTH(name) CASE_WITH(name, join_anew, pair_leave)

WITH_BOTH(test_it_opens_when_all_have_arrived)
{
    struct latching waits;
    char arrival[16];
    make(&ours, MANY);
    begin(&waits, &theirs, redlock_latch_await, NULL);
    for (unsigned i = 0; i < MANY; i++) {
        assert_int_equal(waits.times, 0);
        snprintf(arrival, sizeof arrival, "part-%u", i);
        redlock_latch_result tally = arrive(i % 2 ? &ours : &theirs, arrival);
        assert_int_equal(tally.arrived, i + 1);
        assert_int_equal(tally.open, i + 1 == MANY);
    }
    latching_end(&waits, &ours, REDLOCK_OK);
    assert_true(waits.told.open);
    counts(&ours, MANY, true);
}

WITH_BOTH(test_who_waits_is_told_at_once)
{
    struct latching waits;
    make(&ours, 1);
    begin(&waits, &theirs, redlock_latch_await, NULL);
    AWAIT(&ours, cluster_count(&cluster, 0, "ZCARD redlock:observers:latch") >= 1);
    arrive(&ours, NULL);
    AWAIT_AWAKE_MS(&ours, waits.times, 900); /* it would ask again after 1 s at the earliest */
    latching_end(&waits, &ours, REDLOCK_OK);
}

WITH_BOTH(test_cancelling_and_closing_end_calls)
{
    struct latching first, second, third;
    make(&ours, 1);
    begin(&first, &theirs, redlock_latch_await, NULL);
    assert_code(redlock_latch_cancel(first.latch), REDLOCK_OK);
    assert_code(redlock_latch_cancel(first.latch), REDLOCK_E_STATE);
    latching_end(&first, &ours, REDLOCK_E_CANCELLED);
    struct user brief;
    user_join(&brief, ours.loop, &cluster);
    begin(&second, &brief, redlock_latch_await, NULL);
    begin(&third, &brief, redlock_latch_await, NULL);
    redlock_latch_free(third.latch);
    assert_int_equal(user_end(&brief, 10000), 0);
    assert_int_equal(second.times, 1);
    assert_code(second.told.code, REDLOCK_E_CLOSED);
    assert_int_equal(third.times, 0);
}

static void ignore(redlock_latch *latch, const redlock_latch_result *tally, void *data)
{
    (void)latch, (void)tally, (void)data;
}

WITH_BOTH(test_lives_that_are_refused)
{
    static const int64_t lives[] = {REDLOCK_ZERO, 1, 999, REDLOCK_LATCH_LIFE_MAX + 1, INT64_MAX};
    redlock_latch *latch;
    redlock_latch_options options = {.size = sizeof options};
    options.arrivals = 1;
    for (unsigned i = 0; i < sizeof lives / sizeof *lives; i++) {
        options.life_ms = lives[i];
        assert_code(redlock_latch_create(ours.client, &latch, "latch", &options, ignore, NULL),
                    REDLOCK_E_ARGUMENT);
    }
    options.life_ms = REDLOCK_LATCH_LIFE_MAX;
    tell(&ours, redlock_latch_create, &options, REDLOCK_OK);
}

#define LONGEST "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

WITH_BOTH(test_arrivals_that_are_refused)
{
    static const char *const arrivals[] = {"",   LONGEST "0", "two words", "a\nb",
                                           "\t", "a\x7f",     "\xc3\xa4",  "a\x1b[0m"};
    redlock_latch *latch;
    redlock_latch_options options = {.size = sizeof options};
    for (unsigned i = 0; i < sizeof arrivals / sizeof *arrivals; i++) {
        options.arrival = arrivals[i];
        assert_code(redlock_latch_arrive(ours.client, &latch, "latch", &options, ignore, NULL),
                    REDLOCK_E_ARGUMENT);
        options.arrival = NULL;
        options.id = arrivals[i];
        assert_code(redlock_latch_await(ours.client, &latch, "latch", &options, ignore, NULL),
                    REDLOCK_E_ARGUMENT);
        options.id = NULL;
    }
}

/* Such as what means something to scripts, and what facts look like. */
WITH_BOTH(test_odd_arrivals)
{
    static const char *const arrivals[] = {"!",    LONGEST, "open", "a:b", "%1$s\\\"'[^]*",
                                           "id:x", "0",     "00"};
    unsigned count = sizeof arrivals / sizeof *arrivals;
    make(&ours, count + 1);
    for (unsigned i = 0; i < 2 * count; i++)
        assert_string_equal(arrive(i % 2 ? &ours : &theirs, arrivals[i % count]).arrival,
                            arrivals[i % count]);
    counts(&ours, count, false);
}

WITH_BOTH(test_what_is_refused)
{
    redlock_latch *latch;
    redlock_latch_options options = {.size = sizeof options};
    assert_code(redlock_latch_create(ours.client, &latch, "latch", NULL, ignore, NULL),
                REDLOCK_E_ARGUMENT);
    assert_null(latch);
    options.arrivals = REDLOCK_ARRIVALS_MAX + 1;
    assert_code(redlock_latch_create(ours.client, &latch, "latch", &options, ignore, NULL),
                REDLOCK_E_ARGUMENT);
    options.arrivals = -1;
    assert_code(redlock_latch_create(ours.client, &latch, "latch", &options, ignore, NULL),
                REDLOCK_E_ARGUMENT);
    options.arrivals = 1;
    options.id = "mine";
    assert_code(redlock_latch_create(ours.client, &latch, "latch", &options, ignore, NULL),
                REDLOCK_E_ARGUMENT);
    options.id = NULL;
    options.timeout_ms = -2;
    assert_code(redlock_latch_create(ours.client, &latch, "latch", &options, ignore, NULL),
                REDLOCK_E_ARGUMENT);
    assert_code(redlock_latch_await(ours.client, &latch, "", NULL, ignore, NULL), REDLOCK_E_NAME);
    assert_code(redlock_latch_await(ours.client, &latch, "a", NULL, NULL, NULL),
                REDLOCK_E_ARGUMENT);
    assert_code(redlock_latch_await(NULL, &latch, "a", NULL, ignore, NULL), REDLOCK_E_ARGUMENT);
    options.size = 0;
    assert_code(redlock_latch_count(ours.client, &latch, "a", &options, ignore, NULL),
                REDLOCK_E_ARGUMENT);
    redlock_latch_free(NULL);
}

/* ---- masters that restart ------------------------------------------------------------------ */

static bool is_on(unsigned master)
{
    return cluster_count(&scene.cluster, master, "ZCOUNT redlock:latch:latch 1 1") > 0;
}

/* A call needs a quorum alone, and a latch that only a quorum has may end with one of them. */
static bool is_everywhere(void)
{
    return is_on(0) && is_on(1) && is_on(2);
}

/* Each in turn, and so all that knew of the first arrival. */
SCENE(test_it_outlasts_restarts_in_turn, .masters = 3, .max_ttl_ms = 3000)
{
    struct user user;
    struct latching waits;
    scene_enter(&scene, &user, "latch", 0);
    make(&user, 3);
    arrive(&user, "first");
    begin(&waits, &user, redlock_latch_await, NULL);
    for (unsigned i = 0; i < 3; i++) {
        AWAIT_MS(&user, is_everywhere(), 20000);
        cluster_do(&scene.cluster, "restart %u --empty", i + 1);
    }
    AWAIT_MS(&user, is_everywhere(), 20000);
    counts(&user, 1, false);
    arrive(&user, "second");
    assert_true(arrive(&user, "third").open);
    latching_end(&waits, &user, REDLOCK_OK);
    scene_leave(&user);
}

static void arrive_at_once(struct user *user, unsigned first, unsigned count)
{
    struct latching calls[SOME];
    redlock_latch_options options = {.size = sizeof options};
    char arrival[REDLOCK_LATCH_ID_SIZE];
    options.arrival = arrival;
    for (unsigned i = 0; i < count; i++) {
        snprintf(arrival, sizeof arrival, "%064u", first + i);
        begin(&calls[i], user, redlock_latch_arrive, &options);
    }
    for (unsigned i = 0; i < count; i++)
        latching_end(&calls[i], user, REDLOCK_OK);
}

/* All that a latch can count, each as long as an arrival can be. */
SCENE(test_the_largest_is_given_back, .masters = 3, .max_ttl_ms = 4000)
{
    struct user user;
    scene_enter(&scene, &user, "latch", 0);
    make(&user, REDLOCK_ARRIVALS_MAX);
    for (unsigned i = 0; i < REDLOCK_ARRIVALS_MAX; i += SOME)
        arrive_at_once(&user, i, SOME);
    AWAIT_MS(&user, (counts(&user, REDLOCK_ARRIVALS_MAX, true), is_everywhere()), 20000);
    cluster_do(&scene.cluster, "restart 1 --empty");
    AWAIT_MS(&user, (counts(&user, REDLOCK_ARRIVALS_MAX, true), is_on(0)), 20000);
    assert_int_equal(cluster_count(&scene.cluster, 0, "ZCOUNT redlock:latch:latch 0 0"),
                     REDLOCK_ARRIVALS_MAX);
    scene_leave(&user);
}

PROGRAM(.masters = MASTERS)
