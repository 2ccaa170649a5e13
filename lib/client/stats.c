/*
 * stats.c - what a client has counted, as numbers.
 */
#include <string.h>

#include "link.h"
#include "nodes.h"
#include "report.h"
#include "sized.h"

_Static_assert(REDLOCK_BUCKETS == TIME_BUCKETS && REDLOCK_BUCKET_US(0) == BUCKET_US(0) &&
                   REDLOCK_BUCKET_US(REDLOCK_BUCKETS - 2) == BUCKET_US(TIME_BUCKETS - 2),
               "times are counted as the header says");

static void copy_times(uint64_t *buckets, uint64_t *sum, const struct times *times)
{
    memcpy(buckets, times->buckets, sizeof times->buckets);
    *sum = times->sum;
}

static unsigned count_abstaining(const redlock *client)
{
    unsigned count = 0;
    for (unsigned i = 0; i < client->masters; i++) {
        redlock_node node;
        node_fill(client, i, &node);
        count += node.state == REDLOCK_NODE_ABSTAINS;
    }
    return count;
}

redlock_stats stats_collect(const redlock *client)
{
    struct counters_view now = engine_count(client->engine);
    const struct engine_counters *c = now.done;
    redlock_stats stats = {.size = sizeof stats,
                           .acquires = c->acquires,
                           .acquired = c->acquired,
                           .contended = c->contended,
                           .unavailable = c->unavailable,
                           .rounds = c->rounds,
                           .renewals = c->renewals,
                           .renewals_missed = c->renewals_missed,
                           .heals = c->heals,
                           .raises = c->raises,
                           .handoffs = c->handoffs,
                           .handoffs_here = c->handed_here,
                           .pushes = c->pushes,
                           .found = c->found,
                           .yields = c->yields,
                           .waiting = now.waiting,
                           .lost = c->lost,
                           .released = c->released,
                           .timeouts = c->timeouts,
                           .connects = c->connects,
                           .disconnects = c->disconnects,
                           .owed = c->owed,
                           .held = now.held,
                           .at_risk = now.at_risk,
                           .abstaining = count_abstaining(client)};
    copy_times(stats.acquire_times, &stats.acquire_us, &c->acquiring);
    copy_times(stats.queue_times, &stats.queue_us, &c->queued);
    copy_times(stats.hold_times, &stats.hold_us, &c->holding);
    copy_times(stats.renewal_left_times, &stats.renewal_left_us, &c->left);
    for (unsigned i = 0; i < client->masters; i++) {
        const struct link_counters *link = link_counters(client->links[i]);
        stats.requests += link->requests;
        stats.replies += link->replies;
        stats.protocol_errors += link->protocol_errors;
    }
    return stats;
}

redlock_code redlock_stats_get(redlock *client, redlock_stats *stats)
{
    static const struct sized known = SIZED(redlock_stats, renewal_left_times);
    if (!sized_is_known(&known, stats->size))
        return client_fail_size(client, &known, stats->size);
    redlock_stats all = stats_collect(client);
    sized_give(stats, &all);
    return REDLOCK_OK;
}
