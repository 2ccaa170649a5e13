#include "sync_user.h"

#include "fixture.h"

redlock_sync *client;

static void copy_stats(redlock *client, void *stats)
{
    redlock_stats_get(client, stats);
}

redlock_stats stats_now(redlock_sync *client)
{
    redlock_stats stats = {.size = sizeof stats};
    assert_code(redlock_sync_run(client, copy_stats, &stats), REDLOCK_OK);
    return stats;
}

redlock_sync *open_patient(const struct cluster *cluster, int64_t request_ms)
{
    char why[1024];
    redlock_sync *client;
    redlock_options options = {.size = sizeof(redlock_options)};
    options.nodes = cluster->nodes;
    options.connect_timeout_ms = 5000;
    options.request_timeout_ms = request_ms;
    if (redlock_sync_open(&client, &options, why, sizeof why))
        fail_msg("redlock_sync_open: %s", why);
    if (redlock_sync_ready(client, 10000, why, sizeof why))
        fail_msg("redlock_sync_ready: %s", why);
    return client;
}

redlock_sync *open_on(const struct cluster *cluster)
{
    return open_patient(cluster, 5000);
}

int client_open(void **state)
{
    (void)state;
    client = open_on(&cluster);
    return 0;
}

int client_close(void **state)
{
    (void)state;
    redlock_sync_close(client, 5000);
    redlock_sync_free(client);
    return 0;
}

void close_clean(redlock_sync *client, struct cluster *cluster)
{
    assert_int_equal(redlock_sync_close(client, 10000), 0);
    redlock_sync_free(client);
    assert_int_equal(cluster_keys(cluster), 0);
}

int client_close_clean(void **state)
{
    (void)state;
    close_clean(client, &cluster);
    return 0;
}

redlock_lease_options terms(int64_t ttl_ms, int64_t wait_ms)
{
    redlock_lease_options options = {.size = sizeof(redlock_lease_options)};
    options.ttl_ms = ttl_ms;
    options.wait_ms = wait_ms;
    return options;
}

redlock_sync_lease *take(redlock_sync *client, const char *name,
                         const redlock_lease_options *options)
{
    redlock_sync_lease *lease = NULL;
    redlock_sync_result result = {.size = sizeof(redlock_sync_result)};
    if (redlock_sync_acquire(client, &lease, name, options, &result))
        fail_msg("redlock_sync_acquire: %s\n%s", result.text, result.votes);
    return lease;
}

void give_back(redlock_sync_lease *lease)
{
    assert_code(redlock_sync_lease_release(lease, NULL), REDLOCK_OK);
    redlock_sync_lease_free(lease);
}
