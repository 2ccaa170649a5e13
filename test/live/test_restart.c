/*
 * A restarted master abstains until every lease that it may have forgotten has ended, and reports
 * for how long. It heals nothing before that and everything after it.
 *
 * The longest ttl is 5 s here, so that the quarantine is about as short. On a busy machine, masters
 * that restart one after the other still all abstain for a while.
 */
#include "fixture.h"
#include "user.h"

#define TTL           8000
#define QUARANTINE_MS 10000 /* more than ttl, drift, skew and the second that uptime rounds off */

static redlock_options short_ttl(void)
{
    redlock_options options = {.size = sizeof(redlock_options)};
    options.nodes = cluster.nodes;
    options.max_ttl_ms = TTL;
    options.clock_skew_ms = 50;
    options.request_timeout_ms = 500;
    return options;
}

static void open_short(struct user *user)
{
    redlock_options options = short_ttl();
    user_open(user, NULL, &options);
}

/* On a busy machine they may be no longer new when they have all been started. */
static void open_to_new_masters(struct user *user)
{
    open_short(user);
    for (unsigned tries = 0; user->ready_code == REDLOCK_OK && tries < 10; tries++) {
        user_close(user, 0);
        cluster_do(&cluster, "restart 1 2 3 4 5 --empty");
        open_short(user);
    }
    assert_code(user->ready_code, REDLOCK_E_UNAVAILABLE);
}

/* The masters are new, and adopted by hand; another client hears of it. */
static void adopt_them(void)
{
    struct user user, other;
    open_to_new_masters(&user);
    open_short(&other);
    assert_says(user.ready_text, "restarted, abstains");
    for (unsigned i = 0; i < 5; i++)
        assert_code(redlock_node_adopt(user.client, i), REDLOCK_OK);
    assert_code(redlock_node_adopt(user.client, 5), REDLOCK_E_ARGUMENT);
    AWAIT_AWAKE_MS(&user, user_all_up(&user), 1000);
    AWAIT_AWAKE_MS(&other, user_all_up(&other), 2000);
    user_close(&other, 0);
    user_close(&user, 0);
}

/* A new client holds "held" on all masters. */
static void hold_everywhere_for(struct user *user, struct take *held, int64_t ttl_ms)
{
    redlock_lease_options terms = lease_terms(ttl_ms, 0);
    open_short(user);
    AWAIT(user, user_all_up(user));
    assert_code(take_lock(held, user, "held", &terms), REDLOCK_OK);
    AWAIT(user, cluster_holders(&cluster, "held", NULL) == 5);
}

static void hold_everywhere(struct user *user, struct take *held)
{
    hold_everywhere_for(user, held, TTL);
}

CASE(test_two_restart_empty)
{
    struct user user, newcomer, trusting;
    struct take held, other;
    redlock_lease_options terms = lease_terms(TTL, 0);
    hold_everywhere(&user, &held);
    int64_t since = now_us();
    user_meanwhile(&user, &cluster, "restart 1 2 --empty");
    AWAIT(&user, node_of(&user, 0).state == REDLOCK_NODE_ABSTAINS &&
                     node_of(&user, 1).state == REDLOCK_NODE_ABSTAINS);
    assert_in_range(node_of(&user, 0).abstains_ms, 1, QUARANTINE_MS);
    assert_says(user.log, "s ago, abstains");

    /* A client that never met the old processes learns it too. */
    redlock_options options = short_ttl();
    user_begin(&newcomer, user.loop, NULL, &options);
    AWAIT(&user, newcomer.ready);
    assert_code(newcomer.ready_code, REDLOCK_OK);
    assert_code(take_lock(&other, &newcomer, "other", &terms), REDLOCK_OK);
    const struct told *told = &other.told[REDLOCK_ACQUIRED];
    for (unsigned i = 0; i < 2; i++) {
        assert_vote(&told->votes[i], REDLOCK_VOTE_ABSTAINS);
        assert_in_range(told->votes[i].remaining_ms, 1, QUARANTINE_MS);
    }
    assert_int_equal(cluster_count(&cluster, 0, "EXISTS other"), 0);
    assert_code(take_release(&other), REDLOCK_OK);

    /* A client that trusts its masters' disks is not affected. */
    options.restart_policy = REDLOCK_RESTART_TRUST;
    user_begin(&trusting, user.loop, NULL, &options);
    AWAIT(&user, trusting.ready);
    assert_true(user_all_up(&trusting));
    assert_code(take_lock(&other, &trusting, "trusted", &terms), REDLOCK_OK);
    AWAIT(&trusting, cluster_holders(&cluster, "trusted", NULL) == 5);
    assert_code(take_release(&other), REDLOCK_OK);

    /* Not healed before it votes again; healed soon after; and kept all the while. */
    while (node_of(&user, 0).state == REDLOCK_NODE_ABSTAINS) {
        assert_int_equal(cluster_count(&cluster, 0, "EXISTS held"), 0);
        assert_true(redlock_lease_valid_for(held.lease) > 0);
        assert_true(user_step(&user, since + 3 * QUARANTINE_MS * 1000));
    }
    assert_true(now_us() - since > TTL * 1000); /* no sooner than every old lease has ended */
    AWAIT_MS(&user, cluster_holders(&cluster, "held", redlock_lease_token(held.lease)) == 5,
             2 * TTL);
    AWAIT(&user, stats_of(&user).heals >= 2);
    AWAIT(&user, held.told[REDLOCK_HEALTHY].times);
    assert_true(held.told[REDLOCK_AT_RISK].times > 0);
    assert_int_equal(held.told[REDLOCK_LOST].times, 0);
    assert_code(take_release(&held), REDLOCK_OK);
    AWAIT(&user, cluster_keys(&cluster) == 0);
    redlock_free(trusting.client);
    redlock_free(newcomer.client);
    user_close(&user, 0);
}

/* With the quorum gone, the old lease ends before any client can have a new one. */
CASE(test_three_restart_empty)
{
    struct user user, rival;
    struct take held, wanted;
    redlock_lease_options terms = lease_terms(TTL, 0);
    open_short(&user);
    open_short(&rival);
    AWAIT(&user, user_all_up(&user));
    assert_code(take_lock(&held, &user, "held", &terms), REDLOCK_OK);
    cluster_do(&cluster, "restart 1 2 3 --empty");
    AWAIT(&rival, node_of(&rival, 2).state == REDLOCK_NODE_ABSTAINS);
    assert_code(take_lock(&wanted, &rival, "held", &terms), REDLOCK_E_UNAVAILABLE);
    assert_says(wanted.told[REDLOCK_NOT_ACQUIRED].text, "restarted, abstains");
    take_free(&wanted);
    terms.wait_ms = 3 * QUARANTINE_MS;
    take_ask(&wanted, &rival, "held", &terms);
    int64_t end = now_us() + 3 * QUARANTINE_MS * 1000, lost_at = 0;
    while (!wanted.outcomes) { /* two loops by turns */
        assert_true(user_step(&rival, end));
        user_step(&user, end);
        if (!lost_at && held.told[REDLOCK_LOST].times) {
            lost_at = held.told[REDLOCK_LOST].at_us;
            assert_code(take_release(&held), REDLOCK_E_GONE);
        }
    }
    assert_int_equal(wanted.told[REDLOCK_ACQUIRED].times, 1);
    assert_true(lost_at > 0 && lost_at < wanted.told[REDLOCK_ACQUIRED].at_us);
    assert_code(take_release(&wanted), REDLOCK_OK);
    user_close_clean(&rival, &cluster);
    user_close_clean(&user, &cluster);
}

/* A master that kept its data still has the lease: it renews, but grants nothing new. */
CASE(test_restart_with_data)
{
    struct user user;
    struct take held, other;
    redlock_lease_options terms = lease_terms(TTL, 0);
    hold_everywhere(&user, &held);
    user_meanwhile(&user, &cluster, "restart 5");
    AWAIT(&user, node_of(&user, 4).state == REDLOCK_NODE_ABSTAINS);
    assert_int_equal(cluster_count(&cluster, 4, "EXISTS held"), 1);
    assert_code(take_lock(&other, &user, "other", &terms), REDLOCK_OK);
    assert_vote(&other.told[REDLOCK_ACQUIRED].votes[4], REDLOCK_VOTE_ABSTAINS);
    assert_code(take_release(&other), REDLOCK_OK);
    while (node_of(&user, 4).state == REDLOCK_NODE_ABSTAINS) {
        assert_true(cluster_count(&cluster, 4, "PTTL held") > 0); /* longer than one ttl */
        user_step(&user, INT64_MAX);
    }
    assert_int_equal(stats_of(&user).heals, 0);
    assert_int_equal(held.told[REDLOCK_LOST].times, 0);
    assert_code(take_release(&held), REDLOCK_OK);
    user_close_clean(&user, &cluster);
}

PROGRAM(.masters = 5, .flags = "--no-adopt --persist", .begun = adopt_them)
