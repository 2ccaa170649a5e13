/*
 * Fences on real masters. They grow from holder to holder of a name, are one for several names,
 * stay with the lease, and cost plain leases nothing. They still grow when masters die, freeze or
 * restart empty.
 * rule: K4
 */
#include "fixture.h"
#include "fences.h"

#define MASTERS 5
#define NAMES   4
#define TURNS   60

static void open_fenced(struct user *user)
{
    redlock_options options = fence_options();
    user_open(user, &cluster, &options);
}

static void read_clocks(int64_t clocks[MASTERS])
{
    for (unsigned i = 0; i < MASTERS; i++)
        clocks[i] = logical_clock(&cluster, i);
}

static unsigned moved(const int64_t before[MASTERS])
{
    unsigned count = 0;
    int64_t after[MASTERS];
    read_clocks(after);
    for (unsigned i = 0; i < MASTERS; i++)
        count += after[i] != before[i];
    return count;
}

/* The names of which a bit is set. */
static void take_names(struct take *take, struct user *user, unsigned which,
                       const redlock_lease_options *terms)
{
    static const char *const all[NAMES] = {"north", "east", "south", "west"};
    redlock_name names[NAMES];
    size_t count = 0;
    for (unsigned i = 0; i < NAMES; i++)
        if (which & 1U << i)
            names[count++] = redlock_name_of(all[i]);
    take_init(take, user);
    assert_code(
        redlock_acquire_names(user->client, &take->lease, names, count, terms, take_hear, take),
        REDLOCK_OK);
    assert_int_equal(redlock_lease_fence(take->lease), 0);
    AWAIT(user, take->outcomes);
    assert_code(take->told[REDLOCK_NOT_ACQUIRED].event.code, REDLOCK_OK);
}

/* A holder of a name, alone or with other names, has a larger fence than all holders before. */
CASE(test_fences_grow)
{
    struct user users[3];
    int64_t last[NAMES] = {0};
    redlock_lease_options terms = fence_terms(0);
    for (unsigned i = 0; i < COUNT(users); i++)
        open_fenced(&users[i]);
    for (unsigned turn = 0; turn < TURNS; turn++) {
        struct take take;
        unsigned which = 1 + turn * 7 % 15;
        take_names(&take, &users[turn % COUNT(users)], which, &terms);
        int64_t fence = redlock_lease_fence(take.lease);
        assert_int_equal(take.told[REDLOCK_ACQUIRED].event.fence, fence);
        assert_true(fence < INT64_C(1) << 53);
        for (unsigned i = 0; i < NAMES; i++) {
            if (!(which & 1U << i))
                continue;
            assert_true(fence > last[i]);
            last[i] = fence;
        }
        assert_code(redlock_lease_release(take.lease), REDLOCK_OK);
        AWAIT(take.user, take.told[REDLOCK_RELEASED].times);
        assert_int_equal(redlock_lease_fence(take.lease),
                         fence); /* a fence that was given out does not change */
        take_free(&take);
    }
    for (unsigned i = 0; i < COUNT(users); i++)
        user_close(&users[i], 5000);
    assert_int_equal(cluster_keys(&cluster), 0);
}

CASE(test_plain_leases_touch_no_clock)
{
    struct user user;
    struct take take;
    int64_t before[MASTERS];
    redlock_lease_options plain = lease_terms(FENCE_TTL, 0), fenced = fence_terms(0);
    open_fenced(&user);
    read_clocks(before);
    for (unsigned turn = 0; turn < 10; turn++) {
        take_names(&take, &user, turn % 2 ? 1 : 15, &plain);
        assert_int_equal(redlock_lease_fence(take.lease), 0);
        assert_int_equal(take.told[REDLOCK_ACQUIRED].event.fence, 0);
        assert_code(redlock_lease_extend(take.lease, 0), REDLOCK_OK);
        AWAIT(&user, take.told[REDLOCK_EXTENDED].times);
        assert_int_equal(take.told[REDLOCK_EXTENDED].event.fence, 0);
        assert_code(take_release(&take), REDLOCK_OK);
    }
    assert_int_equal(moved(before), 0);
    take_names(&take, &user, 1, &fenced);
    assert_true(redlock_lease_fence(take.lease) > 0);
    AWAIT(&user, moved(before) == MASTERS);
    assert_code(take_release(&take), REDLOCK_OK);
    user_close_clean(&user, &cluster);
}

CASE(test_renewals_keep_it)
{
    struct user user;
    struct take take;
    int64_t before[MASTERS];
    redlock_lease_options terms = fence_terms(0);
    terms.ttl_ms = 1200;
    open_fenced(&user);
    assert_code(take_lock(&take, &user, "kept", &terms), REDLOCK_OK);
    int64_t fence = redlock_lease_fence(take.lease);
    AWAIT(&user, cluster_holders(&cluster, "kept", NULL) == MASTERS);
    read_clocks(before);
    AWAIT(&user, stats_of(&user).renewals >= 2);
    assert_code(redlock_lease_extend(take.lease, 1800), REDLOCK_OK);
    AWAIT(&user, take.told[REDLOCK_EXTENDED].times);
    assert_int_equal(take.told[REDLOCK_EXTENDED].event.fence, fence);
    assert_int_equal(redlock_lease_fence(take.lease), fence);
    assert_int_equal(moved(before), 0);
    assert_code(take_release(&take), REDLOCK_OK);
    assert_true(fence_once(&user, "kept") > fence);
    user_close_clean(&user, &cluster);
}

CASE(test_attaching_has_no_new_one)
{
    struct user user;
    struct take take;
    char token[REDLOCK_TOKEN_SIZE];
    redlock_name name = NAME("passed on");
    redlock_lease_options terms = fence_terms(0);
    open_fenced(&user);
    assert_code(take_lock(&take, &user, "passed on", &terms), REDLOCK_OK);
    snprintf(token, sizeof token, "%s", redlock_lease_token(take.lease));
    assert_code(redlock_lease_detach(take.lease), REDLOCK_OK);

    take_init(&take, &user);
    assert_code(redlock_attach(user.client, &take.lease, &name, 1, token, &terms, take_hear, &take),
                REDLOCK_E_ARGUMENT);
    assert_null(take.lease);
    assert_says(redlock_last_error(user.client), "knows its fence");

    terms.fence = false;
    assert_code(redlock_attach(user.client, &take.lease, &name, 1, token, &terms, take_hear, &take),
                REDLOCK_OK);
    AWAIT(&user, take.told[REDLOCK_ACQUIRED].times);
    assert_int_equal(redlock_lease_fence(take.lease), 0);
    assert_code(take_release(&take), REDLOCK_OK);
    user_close_clean(&user, &cluster);
}

/* While it abstains its clock is further ahead than the others go: not to be followed. */
CASE(test_a_master_in_quarantine_costs_no_second_rounds)
{
    struct user user;
    settle_clocks(&cluster);
    open_fenced(&user);
    fence_once(&user, "in one round");
    user_meanwhile(&user, &cluster, "restart 5 --empty");
    AWAIT(&user, node_of(&user, 4).state == REDLOCK_NODE_ABSTAINS);
    assert_true(clock_ahead(&cluster, 4) > WINDOW_US);
    uint64_t before = stats_of(&user).raises;
    unsigned leases = 0;
    for (; leases < 50 && node_of(&user, 4).state == REDLOCK_NODE_ABSTAINS; leases++)
        fence_once(&user, "in one round");
    assert_true(leases > 5);
    assert_true(stats_of(&user).raises - before <= leases / 4);
    user_close_clean(&user, &cluster);
}

/* The last one: not all masters are brought back. */
CASE(test_masters_die_and_freeze)
{
    struct user user;
    struct take take;
    redlock_options options = fence_options();
    redlock_lease_options terms = fence_terms(0);
    options.request_timeout_ms = 400;
    user_open(&user, &cluster, &options);
    int64_t last = fence_once(&user, "survivor");
    cluster_do(&cluster, "pause 5");
    for (unsigned try = 0; try < 10; try++) {
        int64_t fence = fence_once(&user, "survivor");
        assert_true(fence > last);
        last = fence;
    }
    cluster_do(&cluster, "kill 4");
    for (unsigned try = 0; try < 10; try++) {
        int64_t fence = fence_once(&user, "survivor");
        assert_true(fence > last);
        last = fence;
        for (unsigned i = 0; i < 3; i++) /* a bare quorum: stored on all of it */
            assert_true(logical_clock(&cluster, i) >= fence);
    }
    cluster_do(&cluster, "pause 3");
    assert_code(take_lock(&take, &user, "survivor", &terms), REDLOCK_E_UNAVAILABLE);
    assert_int_equal(redlock_lease_fence(take.lease), 0);
    take_free(&take);

    /* One comes back without its data: its clock starts above all that it may have forgotten. */
    cluster_do(&cluster, "resume 3 5");
    cluster_do(&cluster, "restart 4 --empty");
    AWAIT(&user, logical_clock(&cluster, 3) > last);
    for (unsigned i = 0; i < MASTERS; i++)
        AWAIT(&user, node_of(&user, i).state == REDLOCK_NODE_UP);
    cluster_do(&cluster, "kill 1 2");
    AWAIT(&user, node_of(&user, 0).state == REDLOCK_NODE_DOWN);
    AWAIT(&user, node_of(&user, 1).state == REDLOCK_NODE_DOWN);
    for (unsigned i = 2; i < MASTERS; i++) /* after a new connection one may abstain anew */
        AWAIT(&user, node_of(&user, i).state == REDLOCK_NODE_UP);
    assert_true(fence_once(&user, "survivor") > last);
    user_close(&user, 5000);
}

PROGRAM(.masters = MASTERS, .fenced = true)
