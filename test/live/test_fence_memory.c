/*
 * However many names were ever fenced, a master keeps one key for them all.
 *
 * REDLOCK_LONG=1: 100,000 names.
 */
#include "fixture.h"
#include "fences.h"

#define MASTERS  3
#define TOGETHER 50
#define WARM_UP  500
#define ROOM     (128 << 10) /* buffers come and go; a key takes some 100 bytes */

static long long used_memory(unsigned master)
{
    redisReply *reply = cluster_ask(&cluster, master, "INFO memory");
    assert_non_null(reply);
    const char *fact = strstr(reply->str, "used_memory:");
    assert_non_null(fact);
    long long bytes = atoll(fact + strlen("used_memory:"));
    freeReplyObject(reply);
    return bytes;
}

static void fence_some(struct user *user, unsigned from, unsigned to)
{
    static struct take takes[TOGETHER];
    char name[32];
    redlock_lease_options terms = fence_terms(0);
    for (; from < to; from += TOGETHER) {
        for (unsigned i = 0; i < TOGETHER; i++) {
            snprintf(name, sizeof name, "never again %u", from + i);
            take_ask(&takes[i], user, name, &terms);
        }
        for (unsigned i = 0; i < TOGETHER; i++) {
            AWAIT(user, takes[i].outcomes);
            assert_int_equal(takes[i].told[REDLOCK_ACQUIRED].times, 1);
            assert_code(take_release(&takes[i]), REDLOCK_OK);
        }
    }
}

CASE(test_memory_does_not_grow)
{
    struct user user;
    long long before[MASTERS];
    unsigned names = getenv("REDLOCK_LONG") ? 100000 : 5000;
    redlock_options options = fence_options();
    user_open(&user, &cluster, &options);
    fence_some(&user, 0, WARM_UP);
    for (unsigned i = 0; i < MASTERS; i++)
        before[i] = used_memory(i);
    fence_some(&user, WARM_UP, WARM_UP + names);
    assert_int_equal(user_close(&user, 10000), 0);
    for (unsigned i = 0; i < MASTERS; i++) {
        long long grown = used_memory(i) - before[i];
        print_message("    %u names: %+lld bytes on master %u\n", names, grown, i + 1);
        assert_true(grown < ROOM);
        assert_int_equal(cluster_count(&cluster, i, "DBSIZE"), 1);
        assert_int_equal(cluster_count(&cluster, i, "EXISTS redlock:clock"), 1);
    }
}

PROGRAM(.masters = MASTERS, .fenced = true)
