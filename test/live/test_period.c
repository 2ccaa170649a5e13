/*
 * at_least on real masters: nobody else has the names within that time after ACQUIRED, however soon
 * the lease is given back.
 * rule: T6
 */
#include "pair.h"

#define MASTERS  5
#define TTL      2000
#define AT_LEAST 4000

static int leave_both(void **state)
{
    pair_leave(state);
    cluster_tell_all(&cluster, "DEL name redlock:holders:name");
    return 0;
}

static redlock_lease_options terms_of(int64_t at_least_ms, int64_t wait_ms)
{
    redlock_lease_options terms = lease_terms(TTL, wait_ms);
    terms.at_least_ms = at_least_ms;
    return terms;
}

static void lock(struct take *take, int64_t at_least_ms)
{
    redlock_lease_options terms = terms_of(at_least_ms, 0);
    assert_code(take_lock(take, &ours, "name", &terms), REDLOCK_OK);
}

/* The least that is left of the name on a quorum of masters, in ms. */
static long long left_on_quorum(void)
{
    long long left[MASTERS];
    for (unsigned i = 0; i < MASTERS; i++) {
        long long it = cluster_count(&cluster, i, "PTTL name");
        unsigned at = i;
        for (; at > 0 && left[at - 1] < it; at--)
            left[at] = left[at - 1];
        left[at] = it;
    }
    return left[MASTERS / 2];
}

/* Of the time that a lease has kept the name for since it was acquired. */
static long long rest_of(const struct take *take)
{
    return AT_LEAST - (now_us() - take->told[REDLOCK_ACQUIRED].at_us) / 1000;
}

static int64_t told_at(const struct take *take)
{
    return take->told[REDLOCK_ACQUIRED].at_us;
}

#define WITH_BOTH(name) CASE_WITH(name, pair_join, leave_both)

WITH_BOTH(test_the_masters_keep_the_rest)
{
    struct take first;
    lock(&first, AT_LEAST);
    assert_code(redlock_lease_release(first.lease), REDLOCK_OK);
    AWAIT(&ours, first.told[REDLOCK_RELEASED].times);
    assert_code(first.told[REDLOCK_RELEASED].event.code, REDLOCK_OK);
    assert_non_null(strstr(first.told[REDLOCK_RELEASED].text, "kept from others for at least"));
    long long left = left_on_quorum();
    assert_true(left > TTL && left >= rest_of(&first) - 1);
    take_free(&first);
}

/* A lease held for longer is given back at once. */
WITH_BOTH(test_a_longer_hold)
{
    struct take first, next;
    lock(&first, 1);
    AWAIT(&ours, now_us() > told_at(&first) + 1000);
    assert_code(redlock_lease_release(first.lease), REDLOCK_OK);
    AWAIT(&ours, first.told[REDLOCK_RELEASED].times);
    assert_string_equal(first.told[REDLOCK_RELEASED].text, "released");
    take_free(&first);
    lock(&next, 0);
    assert_code(take_release(&next), REDLOCK_OK);
}

/* The renewal takes them again, but another holder may have had them. */
WITH_BOTH(test_deleted_on_a_quorum)
{
    struct take first;
    lock(&first, AT_LEAST);
    AWAIT(&ours, user_is_quiet(&ours));
    for (unsigned i = 0; i < 3; i++)
        cluster_tell(&cluster, i, "DEL name");
    assert_code(redlock_lease_release(first.lease), REDLOCK_OK);
    AWAIT(&ours, first.told[REDLOCK_RELEASED].times);
    assert_code(first.told[REDLOCK_RELEASED].event.code, REDLOCK_E_GONE);
    assert_null(strstr(first.told[REDLOCK_RELEASED].text, "kept"));
    take_free(&first);
}

WITH_BOTH(test_closed)
{
    struct user user;
    struct take first;
    redlock_lease_options terms = terms_of(AT_LEAST, 0);
    user_join(&user, ours.loop, &cluster);
    assert_code(take_lock(&first, &user, "name", &terms), REDLOCK_OK);
    assert_int_equal(user_end(&user, 10000), 0);
    assert_code(first.told[REDLOCK_RELEASED].event.code, REDLOCK_OK);
    assert_true(left_on_quorum() > TTL);
}

/* The longest ttl that leases of this client may have is the longest time, too. */
WITH_BOTH(test_options)
{
    static const int64_t wrong[] = {-1, INT64_MIN, 30001, INT64_MAX};
    struct take take;
    for (unsigned i = 0; i < COUNT(wrong); i++) {
        redlock_lease_options terms = terms_of(wrong[i], 0);
        redlock_lease *lease;
        assert_code(redlock_acquire(ours.client, &lease, "name", &terms, take_hear, &take),
                    REDLOCK_E_TTL);
        assert_non_null(strstr(redlock_last_error(ours.client), "at_least_ms"));
    }
    lock(&take, 30000);
    assert_code(take_release(&take), REDLOCK_OK);
    assert_true(left_on_quorum() > 25000);
}

PROGRAM(.masters = MASTERS)
