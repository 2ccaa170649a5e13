/*
 * A master lies about its logical clock. Fences still grow, and no other clock moves further beyond
 * its master's wall clock than the window.
 * rule: F15
 */
#include "fixture.h"
#include "fences.h"

#include "liar.h"

#define MASTERS 5
#define HOUR_US INT64_C(3600000000)

/* A user of the first `count` masters, and of the liar if there is one. */
static void open_some(struct user *user, unsigned count, const struct liar *liar)
{
    char nodes[5 * URI_SIZE];
    size_t used = 0;
    redlock_options options = fence_options();
    for (unsigned i = 0; i < count; i++)
        used += (size_t)snprintf(nodes + used, sizeof nodes - used, URI_FORMAT, cluster_scheme(),
                                 cluster.passwords[i], cluster.ports[i]);
    if (liar)
        snprintf(nodes + used, sizeof nodes - used, "%s://127.0.0.1:%d", cluster_scheme(),
                 liar_port(liar));
    options.nodes = nodes;
    options.fleet = ""; /* the lies are for its requests by number */
    user_open(user, NULL, &options);
}

static void lie_about_the_clock(int64_t lie)
{
    struct user user;
    struct take take;
    redlock_lease_options terms = fence_terms(0);
    struct liar *liar = liar_start(NULL);
    settle_clocks(&cluster);
    liar_set_clock(liar, lie);
    open_some(&user, 4, liar);
    int64_t last = 0;
    for (unsigned try = 0; try < 10; try++) {
        int64_t fence = fence_once(&user, "lied about");
        assert_true(fence > last);
        last = fence;
    }
    for (unsigned i = 0; i < 4; i++)
        assert_true(clock_ahead(&cluster, i) < BUSY_US); /* nowhere near the window */
    user_close_clean(&user, &cluster);

    /* Its grant does not count where it would be needed, and is released. */
    open_some(&user, 1, liar);
    assert_code(take_lock(&take, &user, "lied about", &terms), REDLOCK_E_UNAVAILABLE);
    assert_vote(&take.told[REDLOCK_NOT_ACQUIRED].votes[1], REDLOCK_VOTE_REFUSED);
    assert_says(take.told[REDLOCK_NOT_ACQUIRED].votes[1].text, "clock is out of all reason");
    assert_int_equal(redlock_lease_fence(take.lease), 0);
    take_free(&take);
    user_close_clean(&user, &cluster);
    liar_stop(liar);
}

CASE(test_a_lying_clock)
{
    lie_about_the_clock(wall_clock(&cluster, 0) + 24 * HOUR_US);
    lie_about_the_clock(INT64_C(1) << 53);
}

static void assert_is_within_window(unsigned master)
{
    int64_t beyond = clock_ahead(&cluster, master) - WINDOW_US;
    if (beyond > 0)
        fail_msg("the clock of master %u is %lld us beyond the window", master, (long long)beyond);
}

/* An honest master may be that far ahead, as a restart adds to the window: it counts, and others
 * follow no further than the window. */
CASE(test_a_clock_ahead_within_reason)
{
    struct user user;
    struct liar *liar = liar_start(NULL);
    settle_clocks(&cluster);
    liar_set_clock(liar, wall_clock(&cluster, 0) + WINDOW_US + FENCE_TTL * 1000 / 2);
    open_some(&user, 1, liar);
    int64_t last = 0;
    for (unsigned try = 0; try < 10; try++) {
        int64_t fence = fence_once(&user, "led");
        assert_true(fence > last);
        last = fence;
    }
    user_close_clean(&user, &cluster);
    open_some(&user, MASTERS, NULL);
    fence_once(&user, "led");
    for (unsigned i = 1; i < MASTERS; i++)
        assert_is_within_window(i);
    user_close_clean(&user, &cluster);
    liar_stop(liar);
}

PROGRAM(.masters = MASTERS, .fenced = true)
