/*
 * One master of several lies, and every lie could be true.  It costs its vote and no more.
 */
#include "scene.h"

#include <stdatomic.h>

#define DAY_MS      86400000
#define MAX_TTL_MS  1000
#define SKEW_US     (SKEW_MS * INT64_C(1000))
#define WAITS       40
#define WATCHED_US  INT64_C(4000000)
#define PLACES_MOST 500

static void take_and_give_back(struct user *user)
{
    struct take take;
    redlock_lease_options terms = lease_terms(MAX_TTL_MS, 0);
    redlock_code code = take_lock(&take, user, "other", &terms);
    if (code)
        fail_msg("%s: %s", redlock_code_name(code), take.told[REDLOCK_NOT_ACQUIRED].text);
    assert_code(take_release(&take), REDLOCK_OK);
}

/* ---- Somebody is always ahead ---- */

static atomic_uint places;

static void say_that_somebody_is_ahead(void *data, enum asked asked, struct answer *answer)
{
    int64_t clock = answer_number(answer, 1);
    (void)data;
    if (asked != ASKED_QUEUE || clock < 0)
        return;
    atomic_fetch_add(&places, 1);
    answer_set(answer, "*2\r\n:2\r\n:%lld\r\n", (long long)clock);
}

/* A master that gives the name to the waiter, and says each time that it is not the first. */
SCENE(test_somebody_is_always_ahead, .masters = 3, .forge = say_that_somebody_is_ahead)
{
    struct user holds, waits;
    struct take holder, waiter;
    redlock_lease_options terms = lease_terms(10000, REDLOCK_FOREVER);
    atomic_store(&places, 0);
    scene_enter(&scene, &holds, "holder", 0);
    scene_enter(&scene, &waits, "waiter", 1U << 2);
    assert_code(take_lock(&holder, &holds, "name", NULL), REDLOCK_OK);
    AWAIT(&holds, cluster_holders(&scene.cluster, "name", NULL) == 3);
    long long before = scene_scripts(&scene, 0);
    take_ask(&waiter, &waits, "name", &terms);
    AWAIT(&waits, atomic_load(&places) > 0);
    for (int64_t end = now_us() + WATCHED_US; user_step(&waits, end);)
        assert_int_equal(waiter.outcomes, 0);
    long long scripts = scene_scripts(&scene, 0) - before;
    print_message("    %u places, %lld scripts on an honest master\n", atomic_load(&places),
                  scripts);
    assert_in_range(atomic_load(&places), 1, PLACES_MOST - 1);
    assert_in_range(scripts, 1, 4 * PLACES_MOST);

    assert_code(take_release(&holder), REDLOCK_OK);
    AWAIT_AWAKE_MS(&waits, has(&waiter), 1000);
    assert_code(take_release(&waiter), REDLOCK_OK);
    scene_leave(&waits);
    scene_leave(&holds);
}

/* ---- What another library has is about to end ---- */

#define LOOKS_A_SECOND 30

static void say_that_it_is_about_to_end(void *data, enum asked asked, struct answer *answer)
{
    int64_t clock = answer_number(answer, 1);
    (void)data;
    if (asked != ASKED_QUEUE || clock < 0)
        return;
    atomic_fetch_add(&places, 1);
    answer_set(answer, "*5\r\n:0\r\n:%lld\r\n:0\r\n:0\r\n:1\r\n", (long long)clock);
}

/* Two honest masters name the holder and its time: the word of one liar matters little. */
SCENE(test_another_library_is_about_to_end, .masters = 3, .forge = say_that_it_is_about_to_end)
{
    struct user waits;
    struct take waiter;
    redlock_lease_options terms = lease_terms(10000, REDLOCK_FOREVER);
    atomic_store(&places, 0);
    scene_enter(&scene, &waits, "waiter", 1U << 2);
    cluster_tell_all(&scene.cluster, "SET name another's PX 60000");
    long long before = scene_scripts(&scene, 0);
    take_ask(&waiter, &waits, "name", &terms);
    AWAIT(&waits, atomic_load(&places) > 0);
    for (int64_t end = now_us() + WATCHED_US; user_step(&waits, end);)
        assert_int_equal(waiter.outcomes, 0);
    long long scripts = scene_scripts(&scene, 0) - before;
    print_message("    %u places, %lld scripts on an honest master\n", atomic_load(&places),
                  scripts);
    assert_in_range(scripts, 1, LOOKS_A_SECOND * WATCHED_US / 1000000);
    cluster_tell_all(&scene.cluster, "DEL name");
    AWAIT_AWAKE_MS(&waits, has(&waiter), 1000);
    assert_code(take_release(&waiter), REDLOCK_OK);
    scene_leave(&waits);
}

/* ---- A ttl of a day ---- */

static void speak_of_a_day(void *data, enum asked asked, struct answer *answer)
{
    (void)data;
    if (asked == ASKED_HELLO)
        answer_set_number(answer, 5, DAY_MS);
}

static void honest_masters_vote(struct user *user)
{
    for (unsigned i = 0; i < 4; i++) {
        redlock_node node = node_of(user, i);
        if (node.state != REDLOCK_NODE_UP)
            fail_msg("master %u is in state %d, abstains for %lld ms: %s", i + 1, (int)node.state,
                     (long long)node.abstains_ms, node.text);
    }
    take_and_give_back(user);
}

/* The longest ttl of any client makes a quarantine, and it is known from any master. */
SCENE(test_a_ttl_of_a_day, .masters = 5, .max_ttl_ms = MAX_TTL_MS, .forge = speak_of_a_day)
{
    struct user user, newcomer;
    scene_enter(&scene, &user, "user", 1U << 4);
    honest_masters_vote(&user);
    /* The longest pause between two questions to a master. */
    for (int64_t end = now_us() + 1500000; user_step(&user, end);)
        ;
    honest_masters_vote(&user);

    user_meanwhile(&user, &scene.cluster, "kill 5");
    AWAIT(&user, node_of(&user, 4).state == REDLOCK_NODE_DOWN);
    honest_masters_vote(&user);
    scene_enter(&scene, &newcomer, "newcomer", 0);
    honest_masters_vote(&newcomer);
    scene_leave(&newcomer);
    scene_leave(&user);
}

/* ---- Clocks ---- */

static atomic_llong clock_lie;

static void refuse_with_a_clock(void *data, enum asked asked, struct answer *answer)
{
    bool refuses = answer_number(answer, 0) == -1 || answer_number(answer, 0) == 0;
    (void)data;
    if (refuses && (asked == ASKED_GRANT || asked == ASKED_QUEUE))
        answer_set_number(answer, 1, atomic_load(&clock_lie));
}

static int64_t ttl_and_drift_us(void)
{
    return MAX_TTL_MS * INT64_C(1010) + 2000;
}

/* Ahead of the walls by no more than an honest clock can be. */
static int64_t beyond_walls(void)
{
    int64_t longest = ttl_and_drift_us() > SKEW_US ? ttl_and_drift_us() : SKEW_US;
    return wall_clock(&scene.cluster, 0) + WINDOW_US + longest - 1000;
}

/* Ahead of what a quorum of the masters has reached, by walls or by clocks. */
static int64_t beyond_clocks(void)
{
    int64_t reached = wall_clock(&scene.cluster, 0);
    for (unsigned i = 0; i < 2; i++)
        if (logical_clock(&scene.cluster, i) > reached)
            reached = logical_clock(&scene.cluster, i);
    return reached + INT64_C(2) * WINDOW_US + ttl_and_drift_us() + 2 * SKEW_US - 5000;
}

/* Its ticket is the lie, if that is what comes first. */
static void wait_in_vain(struct user *user, int64_t (*lie)(void))
{
    struct take take;
    redlock_lease_options terms = lease_terms(MAX_TTL_MS, 60);
    for (unsigned i = 0; i < WAITS; i++) {
        atomic_store(&clock_lie, lie());
        take_lock(&take, user, "name", &terms);
        assert_int_equal(take.told[REDLOCK_NOT_ACQUIRED].times, 1);
        take_free(&take);
    }
}

static int64_t fence_of_name(struct user *user)
{
    struct take take;
    redlock_lease_options terms = lease_terms(MAX_TTL_MS, 0);
    terms.fence = true;
    assert_code(take_lock(&take, user, "name", &terms), REDLOCK_OK);
    int64_t fence = redlock_lease_fence(take.lease);
    assert_code(take_release(&take), REDLOCK_OK);
    return fence;
}

/* The fence from before the honest masters forget everything is below the one after. */
static void fences_grow_in_spite_of(int64_t (*lie)(void))
{
    struct user waits, before, after;
    scene_enter(&scene, &waits, "waiter", ALL);
    cluster_tell_all(&scene.cluster, "SET name stranger's");
    proxy_delay(scene.roads[0], 5);
    proxy_delay(scene.roads[1], 5);
    wait_in_vain(&waits, lie);
    scene_leave(&waits);
    cluster_tell_all(&scene.cluster, "DEL name");

    scene_enter(&scene, &before, "before", 0);
    int64_t told = fence_of_name(&before);
    print_message("    clocks are %lld s ahead\n",
                  (long long)clock_ahead(&scene.cluster, 0) / 1000000);
    scene_leave(&before);
    cluster_do(&scene.cluster, "restart 1 2 --empty");
    scene_enter(&scene, &after, "after", 0);
    AWAIT(&after, node_of(&after, 0).state == REDLOCK_NODE_UP &&
                      node_of(&after, 1).state == REDLOCK_NODE_UP);
    int64_t then = fence_of_name(&after);
    if (then <= told)
        fail_msg("first it is %lld, and then %lld: %lld s less", (long long)told, (long long)then,
                 (long long)(told - then) / 1000000);
    scene_leave(&after);
}

SCENE(test_a_clock_beyond_the_walls, .masters = 3, .max_ttl_ms = MAX_TTL_MS,
      .forge = refuse_with_a_clock)
{
    fences_grow_in_spite_of(beyond_walls);
}

SCENE(test_a_clock_beyond_the_clocks, .masters = 3, .max_ttl_ms = MAX_TTL_MS,
      .forge = refuse_with_a_clock)
{
    fences_grow_in_spite_of(beyond_clocks);
}

PROGRAM(.masters = 0)
