#include "fences.h"

#include <stdio.h>

void fence_cluster(struct cluster *cluster, unsigned count, const char *flags)
{
    char ttl[16];
    snprintf(ttl, sizeof ttl, "%dms", FENCE_TTL);
    setenv("REDLOCK_MAX_TTL", ttl, 1); /* an adopting client must not tell them a longer one */
    cluster_start(cluster, count, flags);
}

redlock_options fence_options(void)
{
    redlock_options options = {.size = sizeof(redlock_options)};
    options.max_ttl_ms = FENCE_TTL;
    options.clock_skew_ms = 50;
    options.request_timeout_ms = 500;
    return options;
}

redlock_lease_options fence_terms(int64_t wait_ms)
{
    redlock_lease_options terms = lease_terms(FENCE_TTL, wait_ms);
    terms.fence = true;
    return terms;
}

int64_t fence_once(struct user *user, const char *name)
{
    struct take take;
    redlock_lease_options terms = fence_terms(0);
    if (take_lock(&take, user, name, &terms) != REDLOCK_OK)
        fail_msg("no lease on %s: %s", name, take.told[REDLOCK_NOT_ACQUIRED].text);
    int64_t fence = redlock_lease_fence(take.lease);
    assert_true(fence > 0 && fence < INT64_C(1) << 53);
    assert_int_equal(take.told[REDLOCK_ACQUIRED].event.fence, fence);
    assert_code(take_release(&take), REDLOCK_OK);
    return fence;
}

int64_t logical_clock(struct cluster *cluster, unsigned master)
{
    redisReply *reply = cluster_ask(cluster, master, "HGET redlock:clock h");
    assert_non_null(reply);
    int64_t clock = reply->type == REDIS_REPLY_STRING ? atoll(reply->str) : 0;
    freeReplyObject(reply);
    return clock;
}

int64_t wall_clock(struct cluster *cluster, unsigned master)
{
    redisReply *reply = cluster_ask(cluster, master, "TIME");
    assert_non_null(reply);
    assert_int_equal(reply->elements, 2);
    int64_t us = atoll(reply->element[0]->str) * 1000000 + atoll(reply->element[1]->str);
    freeReplyObject(reply);
    return us;
}

int64_t clock_ahead(struct cluster *cluster, unsigned master)
{
    int64_t clock = logical_clock(cluster, master);
    return clock - wall_clock(cluster, master);
}

void settle_clocks(struct cluster *cluster)
{
    for (unsigned i = 0; i < cluster->count; i++)
        cluster_tell(cluster, i, "HSET redlock:clock s 0 q 0 h %lld",
                     (long long)wall_clock(cluster, i));
}
