/*
 * Other clients of the published algorithm, played with plain commands: SET name token NX
 * PX to take, compare-and-delete to release.  They exclude us, we exclude them.
 * rule: K1, V13
 */
#include "fixture.h"
#include "user.h"

#define RELEASE "EVAL %s 1 %s %s"
static const char compare_and_delete[] =
    "if redis.call('get',KEYS[1]) == ARGV[1] then return redis.call('del',KEYS[1]) "
    "else return 0 end";

/* On masters from..to-1: how many grant it. */
static unsigned foreign_lock(const char *name, const char *token, int ttl, unsigned from,
                             unsigned to)
{
    unsigned grants = 0;
    for (unsigned i = from; i < to; i++) {
        redisReply *reply = cluster_ask(&cluster, i, "SET %s %s NX PX %d", name, token, ttl);
        assert_non_null(reply);
        grants += reply->type == REDIS_REPLY_STATUS;
        freeReplyObject(reply);
    }
    return grants;
}

static unsigned foreign_release(const char *name, const char *token)
{
    long long released = 0;
    for (unsigned i = 0; i < 5; i++)
        released += cluster_count(&cluster, i, RELEASE, compare_and_delete, name, token);
    return (unsigned)released;
}

CASE(test_theirs_excludes_ours)
{
    struct take take;
    assert_int_equal(foreign_lock("shared", "their-token", 20000, 1, 4), 3);
    assert_code(take_lock(&take, &user, "shared", NULL), REDLOCK_E_HELD);
    const struct told *told = &take.told[REDLOCK_NOT_ACQUIRED];
    for (unsigned i = 1; i < 4; i++) {
        assert_vote(&told->votes[i], REDLOCK_VOTE_HELD);
        assert_string_equal(told->votes[i].holder, "their-token");
        assert_in_range(told->votes[i].remaining_ms, 10000, 20000);
    }
    assert_says(told->text, "held by their-token on 3 of 5 masters");
    take_free(&take);
    AWAIT(&user, cluster_keys(&cluster) == 3); /* our grants of the minority are released */
    assert_int_equal(foreign_release("shared", "their-token"), 3);
    assert_code(take_lock(&take, &user, "shared", NULL), REDLOCK_OK);
    assert_code(take_release(&take), REDLOCK_OK);
}

CASE(test_ours_excludes_theirs)
{
    struct take take;
    assert_code(take_lock(&take, &user, "shared", NULL), REDLOCK_OK);
    const char *token = redlock_lease_token(take.lease);
    assert_int_equal(strlen(token), 22 + strlen(":web-7:4711"));
    assert_says(token, ":web-7:4711");
    AWAIT(&user, cluster_holders(&cluster, "shared", token) == 5);
    assert_int_equal(foreign_lock("shared", "their-token", 1000, 0, 5), 0);
    /* Another client's release of another token does not hurt us; nor does its rollback. */
    assert_int_equal(foreign_release("shared", "their-token"), 0);
    assert_int_equal(cluster_holders(&cluster, "shared", token), 5);
    assert_code(redlock_lease_extend(take.lease, 0), REDLOCK_OK);
    AWAIT(&user, take.told[REDLOCK_EXTENDED].times);
    assert_true(redlock_lease_valid_for(take.lease) > 9000);
    assert_code(take_release(&take), REDLOCK_OK);
    AWAIT(&user, cluster_keys(&cluster) == 0);
    assert_int_equal(foreign_lock("shared", "their-token", 1000, 0, 5), 5);
    assert_int_equal(foreign_release("shared", "their-token"), 5);
}

/* The loop stands still meanwhile. */
CASE(test_validity_is_of_the_moment)
{
    struct take take;
    assert_code(take_lock(&take, &user, "shared", NULL), REDLOCK_OK);
    int64_t first = redlock_lease_valid_for(take.lease), begins = now_us();
    while (now_us() < begins + 20000)
        ;
    assert_true(redlock_lease_valid_for(take.lease) <= first - 20);
    assert_code(take_release(&take), REDLOCK_OK);
    AWAIT(&user, cluster_keys(&cluster) == 0);
}

/* Waiting: theirs runs out by itself, and then it is ours. */
CASE(test_waiting_for_theirs)
{
    struct take take;
    redlock_lease_options terms = lease_terms(5000, 5000);
    int64_t since = now_us();
    assert_int_equal(foreign_lock("shared", "their-token", 700, 0, 5), 5);
    assert_code(take_lock(&take, &user, "shared", &terms), REDLOCK_OK);
    assert_in_range(now_us() - since, 690000, 2000000);
    assert_code(take_release(&take), REDLOCK_OK);
    AWAIT(&user, cluster_keys(&cluster) == 0);

    assert_int_equal(foreign_lock("shared", "their-token", 20000, 0, 5), 5);
    terms.wait_ms = 300;
    since = now_us();
    assert_code(take_lock(&take, &user, "shared", &terms), REDLOCK_E_HELD);
    assert_in_range(now_us() - since, 300000, 2000000);
    take_free(&take);
    assert_int_equal(foreign_release("shared", "their-token"), 5);
}

int main(void)
{
    redlock_options options = {.size = sizeof(redlock_options)};
    options.label = "web-7:4711";
    options.request_timeout_ms = 1000;
    return RUN_WITH(.masters = 5, .has_user = true, .options = &options);
}
