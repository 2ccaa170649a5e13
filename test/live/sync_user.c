#include "sync_user.h"

#include <sys/syscall.h>

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

unsigned close_and_free(redlock_sync *client)
{
    unsigned left = redlock_sync_close(client, 10000);
    redlock_sync_free(client);
    return left;
}

int client_close(void **state)
{
    (void)state;
    close_and_free(client);
    return 0;
}

void close_clean(redlock_sync *client, struct cluster *cluster)
{
    assert_int_equal(close_and_free(client), 0);
    assert_int_equal(cluster_keys(cluster), 0);
}

int client_close_clean(void **state)
{
    (void)state;
    close_clean(client, &cluster);
    return 0;
}

void make_them_old(void)
{
    cluster_tell_all(&cluster, "HSET redlock:clock s 0 q 0 h 1");
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

/* ---- Calls in threads ---- */

static void *run_call(void *data)
{
    struct call *call = data;
    atomic_store(&call->id, (int)syscall(SYS_gettid));
    if (call->start)
        pthread_barrier_wait(call->start);
    call->code = call->act(call);
    atomic_store(&call->done, true);
    return NULL;
}

void call_begin(struct call *call)
{
    call->result.size = sizeof(redlock_sync_result);
    assert_int_equal(pthread_create(&call->thread, NULL, run_call, call), 0);
}

redlock_code call_end(struct call *call)
{
    pthread_join(call->thread, NULL);
    return call->code;
}

void calls_begin(struct call *calls, unsigned count, const struct call *like)
{
    for (unsigned i = 0; i < count; i++) {
        calls[i] = *like;
        call_begin(&calls[i]);
    }
}

void calls_end(struct call *calls, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        assert_code(call_end(&calls[i]), REDLOCK_OK);
}

bool call_is_asleep(const struct call *call)
{
    char path[64], state = '?';
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", atomic_load(&call->id));
    FILE *stat = atomic_load(&call->id) ? fopen(path, "re") : NULL;
    bool is_read = stat && fscanf(stat, "%*d (%*[^)]) %c", &state) == 1;
    if (stat)
        fclose(stat);
    return is_read && state == 'S';
}

redlock_code take_it(struct call *call)
{
    redlock_lease_options options = terms(10000, call->timeout_ms);
    return redlock_sync_acquire(call->client, &call->lease, call->name, &options, &call->result);
}

redlock_code extend_it(struct call *call)
{
    return redlock_sync_lease_extend(call->lease, 0, &call->result);
}

redlock_code release_it(struct call *call)
{
    return redlock_sync_lease_release(call->lease, &call->result);
}

redlock_code close_it(struct call *call)
{
    redlock_sync_close(call->client, 10000);
    return REDLOCK_OK;
}

redlock_code arrive(struct call *call)
{
    redlock_barrier_options options = {.size = sizeof options, .parties = 2};
    options.timeout_ms = call->timeout_ms;
    call->passage = (redlock_barrier_result){.size = sizeof call->passage};
    return redlock_sync_barrier_arrive(call->client, call->name, &options, &call->passage,
                                       &call->result);
}

redlock_code await_latch(struct call *call)
{
    redlock_latch_options options = {.size = sizeof options};
    options.timeout_ms = call->timeout_ms;
    call->tally = (redlock_latch_result){.size = sizeof call->tally};
    return redlock_sync_latch_await(call->client, call->name, &options, &call->tally,
                                    &call->result);
}

redlock_code await_leader(struct call *call)
{
    call->leader = (redlock_leader){.size = sizeof call->leader};
    return redlock_sync_leader_next(call->client, call->name, 0, call->timeout_ms, &call->leader,
                                    NULL, 0, &call->result);
}

static void stand_still(redlock *client, void *data)
{
    struct pause *pause = data;
    (void)client;
    sem_post(&pause->begun);
    sem_wait(&pause->end);
}

/* The call is the first field of its pause. */
static redlock_code pause_it(struct call *call)
{
    return redlock_sync_run(call->client, stand_still, call);
}

void pause_begin(struct pause *pause, redlock_sync *client)
{
    pause->call = (struct call){.act = pause_it, .client = client};
    sem_init(&pause->begun, 0, 0);
    sem_init(&pause->end, 0, 0);
    call_begin(&pause->call);
    sem_wait(&pause->begun);
}

void pause_end(struct pause *pause)
{
    sem_post(&pause->end);
    assert_code(call_end(&pause->call), REDLOCK_OK);
}
