/*
 * Threads that wait: each call ends with the right code and in time, whatever other threads,
 * masters or a close do. No thread reads more validity than there is.
 */

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "fixture.h"
#include "sync_user.h"

#define THREADS 8

/* As much validity as a busy machine may have cost since then. */
static int64_t ms_since(int64_t since)
{
    return (now_us() - since) / MS_US + 1;
}

/* ---- One thread ---- */

WITH_CLEAN_CLIENT(a_lease_from_acquire_to_free)
{
    redlock_sync_lease *lease;
    redlock_sync_result result = {.size = sizeof(redlock_sync_result)};
    int64_t since = now_us();
    assert_code(redlock_sync_acquire(client, &lease, "one", NULL, &result), REDLOCK_OK);
    assert_code(result.code, REDLOCK_OK);
    assert_int_equal(result.masters, 5);
    assert_int_equal(result.quorum, 3);
    assert_true(result.granted >= 3);
    assert_in_range(result.valid_ms, 9897 - ms_since(since), 9898);
    int64_t valid = redlock_sync_lease_valid_for(lease);
    assert_in_range(valid, 9897 - ms_since(since), 9898);
    assert_says(result.votes, cluster_is_inside() ? "memory:" : "127.0.0.1:");
    assert_says(result.votes, " granted\n");
    assert_true(cluster_holders(&cluster, "one", redlock_sync_lease_token(lease)) >= 3);
    since = now_us();
    assert_code(redlock_sync_lease_extend(lease, 20000, &result), REDLOCK_OK);
    valid = redlock_sync_lease_valid_for(lease);
    assert_in_range(valid, 19797 - ms_since(since), 19798);
    assert_code(redlock_sync_lease_release(lease, &result), REDLOCK_OK);
    assert_int_equal(redlock_sync_lease_valid_for(lease), 0);
    assert_code(redlock_sync_lease_release(lease, &result), REDLOCK_E_STATE);
    assert_true(result.text[0]);
    assert_code(redlock_sync_lease_extend(lease, 0, &result), REDLOCK_E_STATE);
    redlock_sync_lease_free(lease);
}

WITH_CLEAN_CLIENT(freed_while_held_it_is_released)
{
    redlock_sync_lease_free(take(client, "dropped", NULL));
    AWAIT(cluster_keys(&cluster) == 0);
}

CASE(bad_clients_are_refused)
{
    char why[256] = "";
    redlock_sync *client = (redlock_sync *)state;
    redlock_options options = {.size = sizeof(redlock_options)};
    options.nodes = "redis://";
    assert_code(redlock_sync_open(&client, &options, why, sizeof why), REDLOCK_E_NODES);
    assert_null(client);
    assert_true(why[0]);
    assert_code(redlock_sync_open(NULL, &options, why, sizeof why), REDLOCK_E_ARGUMENT);
    options.nodes = cluster.nodes;
    options.drift_factor = 2;
    assert_code(redlock_sync_open(&client, &options, NULL, 0), REDLOCK_E_ARGUMENT);
    options = (redlock_options){.nodes = cluster.nodes};
    assert_code(redlock_sync_open(&client, &options, why, sizeof why), REDLOCK_E_ARGUMENT);
    assert_null(client);
    assert_code(redlock_sync_ready(NULL, 0, why, sizeof why), REDLOCK_E_ARGUMENT);
    assert_code(redlock_sync_run(NULL, NULL, NULL), REDLOCK_E_ARGUMENT);
    assert_int_equal(redlock_sync_cancel(NULL, NULL), 0);
    assert_int_equal(redlock_sync_close(NULL, 0), 0);
    redlock_sync_free(NULL);
}

static void refuse_acquire(redlock_sync *client, const char *name,
                           const redlock_lease_options *options, redlock_code code)
{
    redlock_sync_lease *lease = (redlock_sync_lease *)client;
    redlock_sync_result result = {.size = sizeof(redlock_sync_result)};
    assert_code(redlock_sync_acquire(client, &lease, name, options, &result), code);
    assert_code(result.code, code);
    assert_true(result.text[0]);
    assert_int_equal(result.masters, 0);
    assert_null(lease);
}

/* The limit that leaves this many descriptors free. */
static rlim_t limit_for(unsigned left)
{
    rlim_t fd = 0;
    for (; fcntl((int)fd, F_GETFD) >= 0 || left; fd++)
        left -= fcntl((int)fd, F_GETFD) < 0;
    return fd;
}

/* Of a client itself: three for its loop, and one for mail. */
#define OWN 4

static struct rlimit usual;

static void leave_as_many_as_usual(void)
{
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &usual), 0);
}

static redlock_code open_with_descriptors(redlock_sync **client, unsigned left, char why[200])
{
    redlock_options options = {.size = sizeof(redlock_options)};
    options.nodes = cluster.nodes;
    options.request_timeout_ms = 5000;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &usual), 0);
    struct rlimit few = {limit_for(left), usual.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    return redlock_sync_open(client, &options, why, 200);
}

CASE(without_descriptors_none_is_opened)
{
    for (unsigned left = 0; left < OWN; left++) {
        redlock_sync *client;
        char why[200] = "";
        redlock_code code = open_with_descriptors(&client, left, why);
        leave_as_many_as_usual();
        assert_code(code, REDLOCK_E_SYSTEM);
        assert_null(client);
        assert_says(why, "Too many open files");
    }
}

CASE(without_descriptors_for_masters_it_goes_on_trying)
{
    redlock_sync *client;
    redlock_sync_lease *lease;
    redlock_sync_result result = {.size = sizeof(redlock_sync_result)};
    char why[200] = "";
    redlock_code code = open_with_descriptors(&client, OWN, why);
    if (!code)
        code = redlock_sync_acquire(client, &lease, "too many files", NULL, &result);
    leave_as_many_as_usual();
    assert_string_equal(why, "");
    assert_code(code, REDLOCK_E_UNAVAILABLE);
    assert_says(result.votes, "Too many open files");
    AWAIT(redlock_sync_ready(client, 1000, NULL, 0) == REDLOCK_OK);
    give_back(take(client, "too many files", NULL));
    close_clean(client, &cluster);
}

WITH_CLEAN_CLIENT(bad_leases_are_refused)
{
    redlock_sync_lease *lease;
    redlock_sync_result result = {0};
    redlock_lease_options options = terms(40000, 0);
    refuse_acquire(client, "x", &options, REDLOCK_E_TTL);
    options = terms(1000, -1);
    refuse_acquire(client, "x", &options, REDLOCK_E_ARGUMENT);
    options.size = 0;
    refuse_acquire(client, "x", &options, REDLOCK_E_ARGUMENT);
    refuse_acquire(client, "", NULL, REDLOCK_E_NAME);
    refuse_acquire(client, "redlock:x", NULL, REDLOCK_E_NAME);
    refuse_acquire(NULL, "x", NULL, REDLOCK_E_ARGUMENT);
    assert_int_not_equal(redlock_sync_acquire(client, &lease, NULL, NULL, NULL), REDLOCK_OK);
    assert_null(lease);
    assert_code(redlock_sync_acquire(client, NULL, "x", NULL, NULL), REDLOCK_E_ARGUMENT);
    assert_code(redlock_sync_acquire(client, &lease, "x", NULL, &result), REDLOCK_E_ARGUMENT);
    assert_code(redlock_sync_run(client, NULL, NULL), REDLOCK_E_ARGUMENT);
    assert_code(redlock_sync_ready(client, -1, NULL, 0), REDLOCK_E_ARGUMENT);
    lease = take(client, "x", NULL);
    assert_code(redlock_sync_lease_extend(lease, 40000, NULL), REDLOCK_E_TTL);
    assert_code(redlock_sync_lease_extend(lease, 0, &result), REDLOCK_E_ARGUMENT);
    assert_code(redlock_sync_lease_release(lease, &result), REDLOCK_E_ARGUMENT);
    assert_true(redlock_sync_lease_valid_for(lease) > 0);
    give_back(lease);
    assert_code(redlock_sync_lease_extend(NULL, 0, NULL), REDLOCK_E_ARGUMENT);
    assert_code(redlock_sync_lease_release(NULL, NULL), REDLOCK_E_ARGUMENT);
    assert_int_equal(redlock_sync_lease_valid_for(NULL), 0);
    redlock_sync_lease_free(NULL);
}

WITH_CLEAN_CLIENT(a_result_of_unknown_size_is_left_alone)
{
    static const size_t wrong[] = {0, 3, offsetof(redlock_sync_result, rounds), SIZE_MAX};
    redlock_sync_lease *lease;
    redlock_sync_result result, before;
    for (unsigned i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        memset(&result, 'x', sizeof result);
        result.size = wrong[i];
        memcpy(&before, &result, sizeof before);
        assert_code(redlock_sync_acquire(client, &lease, "sized", NULL, &result),
                    REDLOCK_E_ARGUMENT);
        assert_memory_equal(&result, &before, sizeof before);
    }
}

/* ---- Waiting, and its end ---- */

CASE(waiting_ends_in_time)
{
    redlock_sync *holder = open_on(&cluster), *client = open_on(&cluster);
    redlock_sync_lease *other, *lease = take(holder, "busy", NULL);
    redlock_sync_result result = {.size = sizeof(redlock_sync_result)};
    for (int64_t wait = 0; wait <= 400; wait += 400) {
        redlock_lease_options options = terms(10000, wait);
        int64_t since = now_us();
        assert_code(redlock_sync_acquire(client, &other, "busy", &options, &result),
                    REDLOCK_E_HELD);
        assert_in_range(now_us() - since, wait * MS_US, (wait + 1500) * MS_US);
        assert_null(other);
        assert_says(result.votes, redlock_sync_lease_token(lease));
        assert_says(result.votes, " ms left\n");
    }
    give_back(lease);
    redlock_sync_free(holder);
    close_clean(client, &cluster);
}

CASE(readiness_is_told)
{
    char why[1024];
    redlock_sync *client;
    redlock_options options = {.size = sizeof(redlock_options)};
    options.nodes = "redis://127.0.0.1:1,redis://127.0.0.1:2,redis://127.0.0.1:3";
    assert_code(redlock_sync_open(&client, &options, NULL, 0), REDLOCK_OK);
    assert_code(redlock_sync_ready(client, REDLOCK_FOREVER, why, sizeof why),
                REDLOCK_E_UNAVAILABLE);
    assert_says(why, "127.0.0.1:3");
    redlock_sync_close(client, 0);
    assert_code(redlock_sync_ready(client, 0, why, sizeof why), REDLOCK_E_CLOSED);
    redlock_sync_free(client);
    options.nodes = cluster.nodes;
    assert_code(redlock_sync_open(&client, &options, NULL, 0), REDLOCK_OK);
    redlock_sync_ready(client, 0, why, sizeof why); /* at once, whatever it says */
    assert_code(redlock_sync_ready(client, 5000, why, sizeof why), REDLOCK_OK);
    assert_says(why, " votes");
    close_clean(client, &cluster);
}

static redlock_code wait_for_ever(struct call *call)
{
    redlock_lease_options options = terms(6000, REDLOCK_FOREVER);
    options.data = call;
    return redlock_sync_acquire(call->client, &call->lease, call->name, &options, NULL);
}

static void start_waiter(struct call *waiter, redlock_sync *client, const char *name)
{
    *waiter = (struct call){.act = wait_for_ever, .client = client, .name = name};
    call_begin(waiter);
}

WITH_CLEAN_CLIENT(one_of_two_is_cancelled)
{
    redlock_sync_lease *lease = take(client, "queue", NULL);
    struct call first, second;
    start_waiter(&first, client, "queue");
    start_waiter(&second, client, "queue");
    AWAIT(redlock_sync_cancel(client, &first) == 1);
    assert_code(call_end(&first), REDLOCK_E_CANCELLED);
    assert_null(first.lease);
    assert_int_equal(redlock_sync_cancel(client, &first), 0);
    assert_int_equal(redlock_sync_cancel(client, NULL), 0);
    assert_false(atomic_load(&second.done));
    give_back(lease);
    assert_code(call_end(&second), REDLOCK_OK);
    give_back(second.lease);
}

static void close_with_all_waiting(int64_t patience_ms)
{
    redlock_sync *client = open_on(&cluster);
    redlock_lease_options options = terms(2000, 0);
    redlock_sync_lease *lease = take(client, "closing", &options);
    struct call waiters[THREADS];
    for (int i = 0; i < THREADS; i++)
        start_waiter(&waiters[i], client, "closing");
    AWAIT(stats_now(client).waiting == THREADS);
    redlock_sync_close(client, patience_ms);
    for (int i = 0; i < THREADS; i++) {
        assert_code(call_end(&waiters[i]), REDLOCK_E_CLOSED);
        assert_null(waiters[i].lease);
    }
    if (patience_ms)
        assert_int_equal(cluster_keys(&cluster), 0);
    refuse_acquire(client, "closing", NULL, REDLOCK_E_CLOSED);
    assert_int_equal(redlock_sync_cancel(client, &waiters[0]), 0);
    redlock_sync_close(client, patience_ms);
    redlock_sync_free(client);
    /* A lease may outlive its client. */
    assert_int_equal(redlock_sync_lease_valid_for(lease), 0);
    assert_code(redlock_sync_lease_extend(lease, 0, NULL), REDLOCK_E_CLOSED);
    assert_code(redlock_sync_lease_release(lease, NULL), REDLOCK_E_CLOSED);
    redlock_sync_lease_free(lease);
    AWAIT(cluster_keys(&cluster) == 0);
}

CASE(closing_wakes_all_who_wait)
{
    close_with_all_waiting(5000);
    close_with_all_waiting(0);
}

CASE(closing_without_patience_waits_for_no_master)
{
    redlock_sync *client = open_on(&cluster);
    redlock_lease_options options = terms(20000, 0); /* a release waits for a master for 5 s */
    struct call releasing = {.act = release_it, .lease = take(client, "hung-1", &options)};
    redlock_sync_lease *held = take(client, "hung-2", &options);
    cluster_do(&cluster, "pause 1 2 3");
    call_begin(&releasing);
    AWAIT(redlock_sync_lease_valid_for(releasing.lease) == 0);
    int64_t since = now_us();
    redlock_sync_close(client, 0);
    int64_t valid = redlock_sync_lease_valid_for(held);
    call_end(&releasing);
    int64_t took = now_us() - since;
    cluster_do(&cluster, "resume 1 2 3");
    if (releasing.code != REDLOCK_E_UNAVAILABLE) /* the close may find it out first */
        assert_code(releasing.code, REDLOCK_E_CLOSED);
    assert_int_equal(valid, 0);
    assert_true(took < 2500 * MS_US);
    redlock_sync_free(client);
    redlock_sync_lease_free(releasing.lease);
    redlock_sync_lease_free(held);
    cluster_tell_all(&cluster, "DEL hung-1 hung-2");
    AWAIT(cluster_keys(&cluster) == 0);
}

/* While threads take and give back, several close at once: every call still ends. */
static redlock_code take_until_closed(struct call *call)
{
    redlock_code code;
    while ((code = wait_for_ever(call)) == REDLOCK_OK) {
        redlock_sync_lease_extend(call->lease, 0, NULL);
        redlock_sync_lease_release(call->lease, NULL);
        redlock_sync_lease_free(call->lease);
    }
    return code;
}

CASE(closing_in_full_swing)
{
    static const char *const names[] = {"swing-1", "swing-2", "swing-3"};
    for (int round = 0; round < 20; round++) {
        redlock_sync *client = open_on(&cluster);
        struct call threads[THREADS], closers[2];
        for (int i = 0; i < THREADS; i++) {
            threads[i] =
                (struct call){.act = take_until_closed, .client = client, .name = names[i % 3]};
            call_begin(&threads[i]);
        }
        usleep((useconds_t)round * 2000);
        calls_begin(closers, 2, &(struct call){.act = close_it, .client = client});
        calls_end(closers, 2);
        for (int i = 0; i < THREADS; i++)
            if (call_end(&threads[i]) !=
                REDLOCK_E_TOO_SLOW) /* acquired, and closed before it ran */
                assert_code(threads[i].code, REDLOCK_E_CLOSED);
        close_clean(client, &cluster);
    }
}

/* ---- Exclusion, and validity for all threads ---- */

static atomic_int inside, overlaps;
static int counted; /* guarded by nothing but the lock */

static void count_one(void)
{
    if (atomic_fetch_add(&inside, 1) != 0)
        atomic_fetch_add(&overlaps, 1);
    counted++;
    atomic_fetch_sub(&inside, 1);
}

/* Its code is that of the last failure, if any. */
static redlock_code count_up(struct call *call)
{
    redlock_code failure = REDLOCK_OK;
    redlock_lease_options options = terms(20000, REDLOCK_FOREVER);
    for (int i = 0; i < 200; i++) {
        redlock_sync_lease *lease;
        redlock_code code = redlock_sync_acquire(call->client, &lease, "counter", &options, NULL);
        if (code == REDLOCK_OK) {
            count_one();
            code = redlock_sync_lease_release(lease, NULL);
            redlock_sync_lease_free(lease);
        }
        failure = code ? code : failure;
    }
    return failure;
}

WITH_CLEAN_CLIENT(eight_threads_count)
{
    struct call threads[THREADS];
    calls_begin(threads, THREADS, &(struct call){.act = count_up, .client = client});
    calls_end(threads, THREADS);
    assert_int_equal(counted, THREADS * 200);
    assert_int_equal(atomic_load(&overlaps), 0);
}

enum phase { HELD, BEING_RELEASED, RELEASED, STOP };

struct watch {
    redlock_sync_lease *lease;
    _Atomic enum phase phase;
    int64_t most, least;
    atomic_uint looks_after_release;
    unsigned after_release; /* times valid though it was released */
};

static void *watch_validity(void *data)
{
    struct watch *watch = data;
    enum phase before;
    watch->least = INT64_MAX;
    while ((before = atomic_load(&watch->phase)) != STOP) {
        int64_t valid = redlock_sync_lease_valid_for(watch->lease);
        if (valid > watch->most)
            watch->most = valid;
        if (valid < watch->least && atomic_load(&watch->phase) == HELD)
            watch->least = valid;
        watch->after_release += before == RELEASED && valid > 0;
        watch->looks_after_release += before == RELEASED;
    }
    return NULL;
}

/* ttl 6000 less a drift of 62: never more than that, and renewals raise it again. */
WITH_CLEAN_CLIENT(renewals_are_seen_by_all_threads)
{
    redlock_lease_options options = terms(6000, 0);
    struct watch watch = {.lease = take(client, "renewed", &options)};
    pthread_t thread;
    pthread_create(&thread, NULL, watch_validity, &watch);
    AWAIT_MS(stats_now(client).renewals >= 4, 30000); /* without them it would have ended */
    atomic_store(&watch.phase, BEING_RELEASED);
    assert_code(redlock_sync_lease_release(watch.lease, NULL), REDLOCK_OK);
    atomic_store(&watch.phase, RELEASED);
    AWAIT(atomic_load(&watch.looks_after_release) >= 1000);
    atomic_store(&watch.phase, STOP);
    pthread_join(thread, NULL);
    assert_in_range(watch.most, 4500, 5938);
    assert_true(watch.least > 0);
    assert_int_equal(watch.after_release, 0);
    redlock_sync_lease_free(watch.lease);
}

static int by_size(const void *a, const void *b)
{
    long long x = *(const long long *)a, y = *(const long long *)b;
    return (x > y) - (x < y);
}

/* The quorum-th longest time that masters will keep the name, counted from `since`. */
static int64_t kept_by_masters(const char *name, int64_t since)
{
    long long left[5];
    for (unsigned i = 0; i < 5; i++)
        left[i] = cluster_count(&cluster, i, "PTTL %s", name);
    qsort(left, 5, sizeof *left, by_size);
    return left[2] + (now_us() - since) / MS_US + 1;
}

WITH_CLEAN_CLIENT(never_more_than_the_masters_keep)
{
    redlock_lease_options options = terms(2000, 0);
    options.no_renew = true;
    redlock_sync_lease *lease = take(client, "kept", &options);
    int64_t begin = now_us();
    for (int64_t valid = 1; valid > 0;) {
        int64_t since = now_us();
        valid = redlock_sync_lease_valid_for(lease);
        if (valid > 0)
            assert_true(valid <= kept_by_masters("kept", since));
    }
    assert_true(now_us() - begin > 1000 * MS_US);
    assert_code(redlock_sync_lease_release(lease, NULL), REDLOCK_E_GONE);
    redlock_sync_lease_free(lease);
}

/* More of them than are looked at in every iteration of the loop. */
WITH_CLEAN_CLIENT(many_leases_are_kept_up_to_date)
{
    enum { MANY = 200 };
    redlock_sync_lease *leases[MANY];
    redlock_lease_options options = terms(4000, 0);
    char name[24];
    for (int i = 0; i < MANY; i++) {
        snprintf(name, sizeof name, "many-%d", i);
        leases[i] = take(client, name, &options);
    }
    int64_t end = now_us() + 5000 * MS_US;
    while (now_us() < end) {
        for (int i = 0; i < MANY; i++)
            assert_in_range(redlock_sync_lease_valid_for(leases[i]), 100, 3958);
        usleep(20000);
    }
    for (int i = 0; i < MANY; i++)
        give_back(leases[i]);
}

static redlock_code extend_often(struct call *call)
{
    for (int i = 0; i < 50; i++) {
        redlock_code code = redlock_sync_lease_extend(call->lease, 0, NULL);
        if (code != REDLOCK_OK && code != REDLOCK_E_STATE)
            return code;
    }
    return REDLOCK_OK;
}

WITH_CLEAN_CLIENT(threads_share_a_lease)
{
    redlock_sync_lease *lease = take(client, "shared", NULL);
    struct call threads[4];
    calls_begin(threads, 4, &(struct call){.act = extend_often, .lease = lease});
    calls_end(threads, 4);
    give_back(lease);
}

/* ---- Loss ---- */

struct loss {
    redlock_sync_lease *_Atomic lease;
    atomic_uint lost;
    redlock_code code;
    int64_t valid_ms, seen; /* as the event told, and as any thread saw it then */
};

static void on_event(const redlock_event *event, void *data)
{
    struct loss *loss = data;
    if (event->kind != REDLOCK_LOST)
        return;
    loss->code = event->code;
    loss->valid_ms = event->valid_ms;
    loss->seen = redlock_sync_lease_valid_for(atomic_load(&loss->lease));
    atomic_fetch_add(&loss->lost, 1);
}

static redlock_sync_lease *take_and_watch(redlock_sync *client, const char *text, struct loss *loss)
{
    redlock_sync_lease *lease;
    redlock_lease_options options = terms(3000, 0);
    options.margin_ms = 1000; /* a busy machine does not tell it that late */
    options.on_event = on_event;
    options.data = loss;
    assert_code(redlock_sync_acquire(client, &lease, text, &options, NULL), REDLOCK_OK);
    atomic_store(&loss->lease, lease);
    return lease;
}

CASE(loss_of_a_quorum_is_told_before_the_end)
{
    struct cluster mortal;
    cluster_start(&mortal, 5, NULL);
    redlock_sync *client = open_on(&mortal);
    struct loss loss = {.code = REDLOCK_OK};
    redlock_sync_lease *other, *lease = take_and_watch(client, "mortal", &loss);
    redlock_sync_result result = {.size = sizeof(redlock_sync_result)};
    cluster_do(&mortal, "kill 1 2 3");
    AWAIT(atomic_load(&loss.lost));
    assert_code(loss.code, REDLOCK_E_EXPIRED);
    assert_in_range(loss.valid_ms, 1, 1000);
    assert_int_equal(loss.seen, 0);
    assert_int_equal(redlock_sync_lease_valid_for(lease), 0);
    assert_code(redlock_sync_lease_extend(lease, 0, NULL), REDLOCK_E_STATE);
    assert_int_not_equal(redlock_sync_lease_release(lease, NULL), REDLOCK_OK);
    redlock_sync_lease_free(lease);
    assert_code(redlock_sync_acquire(client, &other, "mortal", NULL, &result),
                REDLOCK_E_UNAVAILABLE);
    assert_says(result.votes, " unreachable");
    assert_int_equal(atomic_load(&loss.lost), 1);
    redlock_sync_close(client, 100);
    redlock_sync_free(client);
    cluster_stop(&mortal);
}

/* Somebody overwrote the key: validity ends when the masters say so, not at the ttl. */
WITH_CLEAN_CLIENT(a_lock_taken_away_is_seen)
{
    struct loss loss = {.code = REDLOCK_OK};
    redlock_sync_lease *lease = take_and_watch(client, "stolen", &loss);
    for (unsigned i = 0; i < 3; i++)
        cluster_tell(&cluster, i, "SET stolen thief");
    AWAIT(atomic_load(&loss.lost));
    assert_code(loss.code, REDLOCK_E_GONE);
    assert_int_equal(loss.seen, 0);
    assert_code(redlock_sync_lease_release(lease, NULL), REDLOCK_E_GONE);
    redlock_sync_lease_free(lease);
    cluster_tell_all(&cluster, "DEL stolen");
}

/* ---- Callbacks ---- */

static void *free_in_callback(const redlock_event *event, redlock_sync_lease *lease)
{
    if (event->kind == REDLOCK_LOST)
        redlock_sync_lease_free(lease);
    return NULL;
}

struct freed {
    redlock_sync_lease *_Atomic lease;
    atomic_bool done;
};

static void on_event_free(const redlock_event *event, void *data)
{
    struct freed *freed = data;
    if (event->kind != REDLOCK_LOST)
        return;
    free_in_callback(event, atomic_load(&freed->lease));
    atomic_store(&freed->done, true);
}

WITH_CLEAN_CLIENT(a_lease_may_be_freed_by_its_callback)
{
    struct freed freed = {.done = false};
    redlock_sync_lease *lease;
    redlock_lease_options options = terms(1000, 0);
    options.no_renew = true;
    options.on_event = on_event_free;
    options.data = &freed;
    assert_code(redlock_sync_acquire(client, &lease, "freed", &options, NULL), REDLOCK_OK);
    atomic_store(&freed.lease, lease);
    AWAIT(atomic_load(&freed.done));
}

struct inside {
    redlock_sync *client;
    redlock_sync_lease *lease;
    redlock_code acquire, extend, release, run, ready;
    int64_t valid;
    unsigned nodes, left;
};

static void call_from_inside(redlock *redlock, void *data)
{
    struct inside *inside = data;
    redlock_sync_lease *other;
    inside->nodes = redlock_node_count(redlock);
    inside->acquire = redlock_sync_acquire(inside->client, &other, "inside", NULL, NULL);
    inside->extend = redlock_sync_lease_extend(inside->lease, 0, NULL);
    inside->release = redlock_sync_lease_release(inside->lease, NULL);
    inside->run = redlock_sync_run(inside->client, call_from_inside, NULL);
    inside->ready = redlock_sync_ready(inside->client, REDLOCK_FOREVER, NULL, 0);
    inside->left = redlock_sync_close(inside->client, 0);
    redlock_sync_free(inside->client);
    inside->valid = redlock_sync_lease_valid_for(inside->lease);
}

WITH_CLEAN_CLIENT(a_callback_cannot_wait)
{
    struct inside inside = {.client = client, .lease = take(client, "inside", NULL)};
    assert_code(redlock_sync_run(client, call_from_inside, &inside), REDLOCK_OK);
    assert_int_equal(inside.nodes, 5);
    assert_code(inside.acquire, REDLOCK_E_STATE);
    assert_code(inside.extend, REDLOCK_E_STATE);
    assert_code(inside.release, REDLOCK_E_STATE);
    assert_code(inside.run, REDLOCK_E_STATE);
    assert_code(inside.ready, REDLOCK_E_STATE);
    assert_true(inside.valid > 8000);
    give_back(inside.lease);
}

/* ---- What it leaves behind, and what it does to its process ---- */

static unsigned entries(const char *path)
{
    unsigned count = 0;
    DIR *folder = opendir(path);
    assert_non_null(folder);
    while (readdir(folder))
        count++;
    closedir(folder);
    return count;
}

CASE(opened_and_closed_200_times)
{
    redlock_options options = {.size = sizeof(redlock_options)};
    options.nodes = cluster.nodes;
    options.connect_timeout_ms = options.request_timeout_ms = 5000;
    redlock_lease_options brief = terms(5000, 0);
    unsigned descriptors = 0, threads = entries("/proc/self/task");
    for (int i = 0; i < 200; i++) {
        redlock_sync *client;
        assert_code(redlock_sync_open(&client, &options, NULL, 0), REDLOCK_OK);
        if (i % 4 == 1)
            redlock_sync_lease_free(take(client, "again", &brief));
        if (i % 4 == 2)
            redlock_sync_close(client, 1000);
        redlock_sync_free(client);
        if (i == 20) {
            AWAIT(entries("/proc/self/task") == threads);
            descriptors = entries("/proc/self/fd");
        }
    }
    AWAIT(entries("/proc/self/task") == threads);
    assert_int_equal(entries("/proc/self/fd"), descriptors);
    AWAIT(cluster_keys(&cluster) == 0);
}

/* That the application closes what the client uses, and that a number is another file's a moment
 * later, are races, as the thread sanitizer says.  It has to see each close() all the same. */
__attribute__((visibility("default"))) const char *__tsan_default_suppressions(void);
const char *__tsan_default_suppressions(void)
{
    return "race:the_application_closes_its_descriptors";
}

/* All that the client itself has open, but no connection. */
static unsigned close_own_descriptors(void)
{
    unsigned closed = 0;
    for (int fd = 3; fd < 100; fd++) {
        char path[64], to[64] = "";
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        if (readlink(path, to, sizeof to - 1) > 0 && strncmp(to, "anon_inode:", 11) == 0)
            closed += close(fd) == 0;
    }
    return closed;
}

static int64_t cpu_us(void)
{
    struct timespec used;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return used.tv_sec * INT64_C(1000000) + used.tv_nsec / 1000;
}

/* As a function does that makes a daemon.  A lease ends in time, a call does not wait for ever, and
 * the thread does not spin. */
CASE(the_application_closes_its_descriptors)
{
    NEEDS_SERVERS();
    redlock_lease_options short_lease = terms(1000, 0);
    redlock_sync *client = open_on(&cluster);
    redlock_sync_lease *lease = take(client, "closed", &short_lease), *other;
    int64_t cpu = cpu_us(), begin = now_us();
    assert_int_equal(close_own_descriptors(), OWN);
    AWAIT(redlock_sync_lease_valid_for(lease) == 0);
    assert_true(cpu_us() - cpu < (now_us() - begin) / 2);
    assert_int_not_equal(redlock_sync_acquire(client, &other, "closed", NULL, NULL), REDLOCK_OK);
    redlock_sync_lease_free(lease);
    redlock_sync_close(client, 0);
    redlock_sync_free(client);
}

/* The client's eventfds; that by which calls wake the thread is the first. */
static int first_eventfd(void)
{
    for (int fd = 3; fd < 100; fd++) {
        char path[64], to[64] = "";
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        if (readlink(path, to, sizeof to - 1) > 0 && strcmp(to, "anon_inode:[eventfd]") == 0)
            return fd;
    }
    fail_msg("there is no eventfd");
    return -1;
}

static redlock_code ask_for_readiness(struct call *call)
{
    redlock_sync_ready(call->client, 0, NULL, 0);
    return REDLOCK_OK;
}

/* Nothing that is written to a pipe's end makes it readable. */
CASE(a_call_ends_though_a_pipe_has_the_number_of_the_bell)
{
    int ends[2];
    struct call asks = {.act = ask_for_readiness, .client = open_on(&cluster)};
    assert_int_equal(pipe(ends), 0);
    assert_true(syscall(SYS_dup3, ends[1], first_eventfd(), O_CLOEXEC) >= 0);
    call_begin(&asks);
    AWAIT(atomic_load(&asks.done));
    call_end(&asks);
    redlock_sync_close(asks.client, 0);
    redlock_sync_free(asks.client);
    close(ends[0]);
    close(ends[1]);
}

/* Of the thread of that name, or 0. */
static unsigned long long blocked_signals(const char *thread, const char *name)
{
    char path[300], line[128], comm[32] = "";
    unsigned long long mask = 0;
    snprintf(path, sizeof path, "/proc/self/task/%s/status", thread);
    FILE *file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file)) {
        sscanf(line, "Name: %31s", comm);
        sscanf(line, "SigBlk: %llx", &mask);
    }
    if (file)
        fclose(file);
    return strcmp(comm, name) == 0 ? mask : 0;
}

WITH_CLEAN_CLIENT(signals_go_to_other_threads)
{
    unsigned long long mask = 0;
    DIR *folder = opendir("/proc/self/task");
    assert_non_null(folder);
    for (struct dirent *entry; (entry = readdir(folder));)
        mask |= blocked_signals(entry->d_name, "redlock");
    closedir(folder);
    static const int expected[] = {SIGINT, SIGTERM, SIGUSR1, SIGALRM, SIGCHLD, SIGPIPE, SIGHUP};
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++)
        assert_true(mask & 1ULL << (expected[i] - 1));
    assert_false(mask & 1ULL << (SIGSEGV - 1));
}

/* In the child, which may take no memory: the number of the first thing that is wrong. */
static int check_handles_as_child(redlock_sync *client, redlock_sync_lease *lease)
{
    redlock_sync_lease *other;
    if (redlock_sync_lease_valid_for(lease) != 0 || redlock_sync_lease_exclusive_for(lease) != 0)
        return 1;
    if (redlock_sync_acquire(client, &other, "child", NULL, NULL) != REDLOCK_E_FORKED)
        return 2;
    if (redlock_sync_lease_extend(lease, 0, NULL) != REDLOCK_E_FORKED ||
        redlock_sync_lease_downgrade(lease, NULL) != REDLOCK_E_FORKED ||
        redlock_sync_lease_upgrade(lease, NULL) != REDLOCK_E_FORKED)
        return 3;
    if (redlock_sync_lease_release(lease, NULL) != REDLOCK_E_FORKED)
        return 4;
    if (redlock_sync_ready(client, 0, NULL, 0) != REDLOCK_E_FORKED)
        return 5;
    redlock_sync_lease_free(lease);
    redlock_sync_close(client, 1000);
    redlock_sync_free(client);
    return 0;
}

static int check_as_child(redlock_sync *client, redlock_sync_lease *lease)
{
    int wrong = check_handles_as_child(client, lease);
    if (wrong)
        return wrong;
#ifndef __SANITIZE_THREAD__ /* it allows no new thread in a child */
    redlock_sync_lease *other;
    redlock_options options = {.size = sizeof(redlock_options)};
    options.nodes = cluster.nodes;
    options.connect_timeout_ms = options.request_timeout_ms = 5000;
    if (redlock_sync_open(&client, &options, NULL, 0))
        return 6;
    if (redlock_sync_acquire(client, &other, "parent", NULL, NULL) != REDLOCK_E_HELD)
        return 7;
    if (redlock_sync_acquire(client, &other, "child", NULL, NULL) ||
        redlock_sync_lease_release(other, 0))
        return 8;
    /* Else it may end before each master has its release. */
    if (redlock_sync_close(client, 5000) != 0)
        return 9;
#endif
    return 0;
}

static void expect_nothing_in_child(pid_t (*make)(void),
                                    int (*check)(redlock_sync *, redlock_sync_lease *))
{
    int status;
    redlock_sync *client = open_on(&cluster);
    redlock_sync_lease *lease = take(client, "parent", NULL);
    pid_t child = make();
    assert_true(child >= 0);
    if (child == 0)
        _exit(check(client, lease));
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    assert_true(redlock_sync_lease_valid_for(lease) > 5000);
    assert_code(redlock_sync_lease_extend(lease, 0, NULL), REDLOCK_OK);
    give_back(lease);
    close_clean(client, &cluster);
}

CASE(a_forked_child_holds_nothing)
{
    expect_nothing_in_child(fork, check_as_child);
}

/* fork() without the handlers of pthread_atfork(): as _Fork(), or clone() by hand. */
static pid_t quiet_fork(void)
{
    return (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
}

CASE(a_quietly_forked_child_holds_nothing)
{
    expect_nothing_in_child(quiet_fork, check_handles_as_child);
}

PROGRAM(.masters = 5)
