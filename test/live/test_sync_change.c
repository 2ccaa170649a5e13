/*
 * Threads that make a lease shared, or exclusive. Other threads read the mode, the validity and the
 * fence; each call has its outcome, whatever masters or other threads do meanwhile.
 */
#include "fixture.h"
#include "sync_user.h"

static redlock_lease_options fenced(bool shared)
{
    redlock_lease_options options = terms(10000, 10000);
    options.fence = true;
    options.mode = mode_of(shared);
    return options;
}

static redlock_sync_lease *take_shared(redlock_sync *client, const char *name)
{
    redlock_lease_options options = fenced(true);
    return take(client, name, &options);
}

static redlock_sync_lease *take_alone(redlock_sync *client, const char *name)
{
    redlock_lease_options options = fenced(false);
    return take(client, name, &options);
}

static void assert_reads(const redlock_sync_lease *lease)
{
    assert_int_equal(redlock_sync_lease_exclusive_for(lease), 0);
    assert_true(redlock_sync_lease_valid_for(lease) > 0);
}

static void assert_writes(const redlock_sync_lease *lease)
{
    assert_in_range(redlock_sync_lease_exclusive_for(lease), 1, 9898);
    assert_in_range(redlock_sync_lease_valid_for(lease), 1, 9898);
}

static void assert_kept_out(redlock_sync *client, const char *name, bool shared)
{
    redlock_sync_lease *lease;
    redlock_lease_options options = fenced(shared);
    options.wait_ms = 0;
    assert_code(redlock_sync_acquire(client, &lease, name, &options, NULL), REDLOCK_E_HELD);
}

/* ---- A call that waits in a thread of its own ---- */

static redlock_code downgrade_it(struct call *call)
{
    return redlock_sync_lease_downgrade(call->lease, &call->result);
}

static redlock_code upgrade_it(struct call *call)
{
    return redlock_sync_lease_upgrade(call->lease, &call->result);
}

static redlock_code take_it_shared(struct call *call)
{
    redlock_lease_options options = fenced(true);
    return redlock_sync_acquire(call->client, &call->lease, "let-in", &options, &call->result);
}

static void begin(struct call *call, redlock_code (*act)(struct call *), redlock_sync *client,
                  redlock_sync_lease *lease)
{
    *call = (struct call){.act = act, .client = client, .lease = lease};
    call_begin(call);
}

/* Two upgrades while a quorum is hung: the one that came later is refused, the other is under
 * way. */
static struct call *two_upgrades(struct call two[2], redlock_sync_lease *lease)
{
    begin(&two[0], upgrade_it, NULL, lease);
    begin(&two[1], upgrade_it, NULL, lease);
    AWAIT(atomic_load(&two[0].done) || atomic_load(&two[1].done));
    struct call *refused = atomic_load(&two[0].done) ? &two[0] : &two[1];
    assert_code(call_end(refused), REDLOCK_E_STATE);
    assert_says(refused->result.text, "one change at a time");
    return refused == two ? two + 1 : two;
}

/* ---- Readers and a writer ---- */

WITH_CLEAN_CLIENT(a_downgrade_lets_a_waiting_reader_in)
{
    redlock_sync *elsewhere = open_on(&cluster);
    redlock_sync_lease *lease = take_alone(client, "let-in");
    redlock_sync_result result = {.size = sizeof(redlock_sync_result)};
    int64_t fence = redlock_sync_lease_fence(lease);
    struct call reader;
    begin(&reader, take_it_shared, elsewhere, NULL);
    AWAIT(stats_now(elsewhere).waiting == 1);
    assert_writes(lease);
    assert_code(redlock_sync_lease_downgrade(lease, &result), REDLOCK_OK);
    assert_code(result.code, REDLOCK_OK);
    assert_says(result.text, "shared from now on");
    assert_true(result.granted >= 3);
    assert_reads(lease);
    assert_code(call_end(&reader), REDLOCK_OK);
    assert_reads(reader.lease);
    assert_reads(lease);
    assert_int_equal(redlock_sync_lease_fence(lease), fence);
    assert_kept_out(elsewhere, "let-in", false);
    give_back(reader.lease);
    give_back(lease);
    close_and_free(elsewhere);
}

WITH_CLEAN_CLIENT(the_only_reader_becomes_the_writer)
{
    redlock_sync_lease *lease = take_shared(client, "only");
    redlock_sync_result result = {.size = sizeof(redlock_sync_result)};
    int64_t fence = redlock_sync_lease_fence(lease);
    assert_true(fence > 0);
    assert_reads(lease);
    assert_code(redlock_sync_lease_upgrade(lease, &result), REDLOCK_OK);
    assert_says(result.text, "exclusive from now on");
    assert_writes(lease);
    assert_in_range(result.valid_ms, 1, 9898);
    assert_true(redlock_sync_lease_fence(lease) > fence);
    assert_kept_out(client, "only", true);
    assert_code(redlock_sync_lease_release(lease, NULL), REDLOCK_OK);
    assert_int_equal(redlock_sync_lease_exclusive_for(lease), 0);
    redlock_sync_lease_free(lease);
}

/* ---- Refusals ---- */

CASE(what_is_no_change_is_refused)
{
    redlock_sync *client = open_on(&cluster);
    redlock_sync_lease *reader = take_shared(client, "reads"),
                       *writer = take_alone(client, "writes");
    redlock_sync_result result = {.size = sizeof(redlock_sync_result)}, no_size = {0};
    assert_code(redlock_sync_lease_downgrade(reader, &result), REDLOCK_E_STATE);
    assert_says(result.text, "shared already");
    assert_code(redlock_sync_lease_upgrade(writer, &result), REDLOCK_E_STATE);
    assert_says(result.text, "no name of the lease is shared");
    assert_code(redlock_sync_lease_downgrade(writer, &no_size), REDLOCK_E_ARGUMENT);
    assert_code(redlock_sync_lease_upgrade(reader, &no_size), REDLOCK_E_ARGUMENT);
    assert_code(redlock_sync_lease_downgrade(NULL, &result), REDLOCK_E_ARGUMENT);
    assert_code(redlock_sync_lease_upgrade(NULL, &result), REDLOCK_E_ARGUMENT);
    assert_int_equal(redlock_sync_lease_exclusive_for(NULL), 0);
    assert_reads(reader);
    assert_writes(writer);
    assert_code(redlock_sync_lease_release(writer, NULL), REDLOCK_OK);
    assert_code(redlock_sync_lease_downgrade(writer, &result), REDLOCK_E_STATE);
    assert_code(redlock_sync_lease_release(reader, NULL), REDLOCK_OK);
    assert_code(redlock_sync_lease_upgrade(reader, NULL), REDLOCK_E_STATE);
    close_clean(client, &cluster);
    assert_code(redlock_sync_lease_downgrade(writer, NULL), REDLOCK_E_CLOSED);
    assert_code(redlock_sync_lease_upgrade(reader, NULL), REDLOCK_E_CLOSED);
    redlock_sync_lease_free(writer);
    redlock_sync_lease_free(reader);
}

struct inside {
    redlock_sync_lease *lease;
    redlock_code downgrade, upgrade;
    int64_t exclusive;
};

static void change_from_inside(redlock *client, void *data)
{
    struct inside *inside = data;
    (void)client;
    inside->downgrade = redlock_sync_lease_downgrade(inside->lease, NULL);
    inside->upgrade = redlock_sync_lease_upgrade(inside->lease, NULL);
    inside->exclusive = redlock_sync_lease_exclusive_for(inside->lease);
}

WITH_CLEAN_CLIENT(a_callback_cannot_wait_for_a_change)
{
    struct inside inside = {.lease = take_alone(client, "inside")};
    assert_code(redlock_sync_run(client, change_from_inside, &inside), REDLOCK_OK);
    assert_code(inside.downgrade, REDLOCK_E_STATE);
    assert_code(inside.upgrade, REDLOCK_E_STATE);
    assert_true(inside.exclusive > 0);
    give_back(inside.lease);
}

/* ---- Reading in other threads ---- */

static void look_inside(redlock *client, void *data)
{
    struct call *call = data;
    (void)client;
    call->result.valid_ms = redlock_sync_lease_exclusive_for(call->lease);
}

static redlock_code look_at_it(struct call *call)
{
    return redlock_sync_run(call->client, look_inside, call);
}

/* The value that a thread reads when a change has begun. The change and the look wait together
 * until the background thread goes on, which starts both before it sends anything. */
static int64_t exclusive_at_once(redlock_sync *client, redlock_sync_lease *lease,
                                 redlock_code (*change)(struct call *))
{
    struct call changes, look;
    struct pause pause;
    pause_begin(&pause, client);
    begin(&changes, change, client, lease);
    AWAIT(call_is_asleep(&changes));
    begin(&look, look_at_it, client, lease);
    AWAIT(call_is_asleep(&look));
    pause_end(&pause);
    assert_code(call_end(&changes), REDLOCK_OK);
    assert_code(call_end(&look), REDLOCK_OK);
    return look.result.valid_ms;
}

WITH_CLEAN_CLIENT(before_any_request_leaves_it_is_a_reader)
{
    redlock_sync_lease *lease = take_alone(client, "at-once");
    assert_int_equal(exclusive_at_once(client, lease, downgrade_it), 0);
    assert_reads(lease);
    assert_int_equal(exclusive_at_once(client, lease, upgrade_it), 0);
    assert_writes(lease);
    assert_true(exclusive_at_once(client, lease, extend_it) > 0);
    give_back(lease);
}

enum step { WRITES, BECOMES_READER, READS, BECOMES_WRITER, STEPS };

struct watch {
    redlock_sync_lease *lease;
    atomic_uint phase; /* a step, and STEPS more with each round */
    atomic_bool stop;
    _Atomic int64_t reader_fence;
    atomic_uint looks[STEPS], ended, exclusive_reader, shared_writer, old_fence;
};

static void judge(struct watch *watch, enum step step, int64_t exclusive, bool is_old)
{
    watch->looks[step]++;
    watch->exclusive_reader += step == READS && exclusive > 0;
    watch->shared_writer += step == WRITES && exclusive == 0;
    watch->old_fence += (step == BECOMES_WRITER || step == WRITES) && exclusive > 0 && is_old;
}

/* A reading counts if the step was the same before and after. */
static void *watch_mode(void *data)
{
    struct watch *watch = data;
    while (!atomic_load(&watch->stop)) {
        unsigned phase = atomic_load(&watch->phase);
        int64_t exclusive = redlock_sync_lease_exclusive_for(watch->lease);
        bool is_old = redlock_sync_lease_fence(watch->lease) <= atomic_load(&watch->reader_fence);
        watch->ended += redlock_sync_lease_valid_for(watch->lease) == 0;
        if (phase == atomic_load(&watch->phase))
            judge(watch, phase % STEPS, exclusive, is_old);
    }
    return NULL;
}

static void go_on_when_seen(struct watch *watch, enum step step)
{
    unsigned looks = atomic_load(&watch->looks[step]);
    AWAIT(atomic_load(&watch->looks[step]) >= looks + 20);
    atomic_fetch_add(&watch->phase, 1);
}

static void read_beside(redlock_sync *other, redlock_sync_lease *lease)
{
    redlock_sync_lease *beside = take_shared(other, "watched");
    assert_code(redlock_sync_lease_upgrade(lease, NULL), REDLOCK_E_HELD);
    give_back(beside);
}

static void change_and_back(struct watch *watch, redlock_sync *other, bool beside)
{
    assert_code(redlock_sync_lease_downgrade(watch->lease, NULL), REDLOCK_OK);
    atomic_store(&watch->reader_fence, redlock_sync_lease_fence(watch->lease));
    atomic_fetch_add(&watch->phase, 1);
    if (beside)
        read_beside(other, watch->lease);
    go_on_when_seen(watch, READS);
    assert_code(redlock_sync_lease_upgrade(watch->lease, NULL), REDLOCK_OK);
    atomic_fetch_add(&watch->phase, 1);
    go_on_when_seen(watch, WRITES);
}

WITH_CLEAN_CLIENT(no_thread_reads_a_mode_that_is_not)
{
    redlock_sync *other = open_on(&cluster);
    static struct watch watch; /* as the threads outlive a case that fails */
    pthread_t threads[2];
    watch.lease = take_alone(client, "watched");
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, watch_mode, &watch);
    go_on_when_seen(&watch, WRITES);
    for (int i = 0; i < 100; i++)
        change_and_back(&watch, other, i % 2);
    atomic_store(&watch.stop, true);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(watch.ended, 0);
    assert_int_equal(watch.exclusive_reader, 0);
    assert_int_equal(watch.shared_writer, 0);
    assert_int_equal(watch.old_fence, 0);
    give_back(watch.lease);
    close_and_free(other);
}

struct extender {
    redlock_sync_lease *lease;
    atomic_bool stop;
    atomic_uint extended, wrong;
};

/* One thread: two would refuse each other without a pause, and starve the masters. */
static void *extend_often(void *data)
{
    struct extender *extender = data;
    while (!atomic_load(&extender->stop)) {
        redlock_code code = redlock_sync_lease_extend(extender->lease, 0, NULL);
        extender->extended += code == REDLOCK_OK;
        extender->wrong += code != REDLOCK_OK;
    }
    return NULL;
}

WITH_CLEAN_CLIENT(extends_and_changes_both_end)
{
    static struct extender extender; /* as the thread outlives a case that fails */
    pthread_t thread;
    extender.lease = take_alone(client, "extended");
    pthread_create(&thread, NULL, extend_often, &extender);
    for (int i = 0; i < 200 || atomic_load(&extender.extended) < 200; i++) {
        assert_code(redlock_sync_lease_downgrade(extender.lease, NULL), REDLOCK_OK);
        assert_reads(extender.lease);
        assert_code(redlock_sync_lease_upgrade(extender.lease, NULL), REDLOCK_OK);
        assert_writes(extender.lease);
    }
    atomic_store(&extender.stop, true);
    pthread_join(thread, NULL);
    assert_int_equal(extender.wrong, 0);
    give_back(extender.lease);
}

/* ---- Hung masters ---- */

WITH_CLEAN_CLIENT(a_hung_minority_is_not_waited_for)
{
    redlock_sync_lease *lease = take_alone(client, "minority");
    cluster_do(&cluster, "pause 1 2");
    int64_t since = now_us();
    redlock_code down = redlock_sync_lease_downgrade(lease, NULL),
                 up = redlock_sync_lease_upgrade(lease, NULL);
    int64_t took = now_us() - since;
    cluster_do(&cluster, "resume 1 2");
    assert_code(down, REDLOCK_OK);
    assert_code(up, REDLOCK_OK);
    assert_true(took < 2500 * MS_US);
    assert_writes(lease);
    give_back(lease);
}

WITH_CLEAN_CLIENT(a_downgrade_waits_for_a_hung_quorum_as_a_reader)
{
    redlock_sync_lease *lease = take_alone(client, "hung");
    struct call downgrade, extend;
    cluster_do(&cluster, "pause 1 2 3");
    begin(&downgrade, downgrade_it, NULL, lease);
    AWAIT(redlock_sync_lease_exclusive_for(lease) == 0);
    bool valid = redlock_sync_lease_valid_for(lease) > 0;
    redlock_code again = redlock_sync_lease_downgrade(lease, NULL),
                 up = redlock_sync_lease_upgrade(lease, NULL);
    begin(&extend, extend_it, NULL, lease);
    bool done = atomic_load(&downgrade.done);
    cluster_do(&cluster, "resume 1 2 3");
    assert_true(valid);
    assert_false(done);
    assert_code(again, REDLOCK_E_STATE);
    assert_code(up, REDLOCK_E_STATE);
    assert_code(call_end(&downgrade), REDLOCK_OK);
    assert_code(call_end(&extend), REDLOCK_OK);
    assert_reads(lease);
    give_back(lease);
}

WITH_CLEAN_CLIENT(a_downgrade_ends_with_its_lease)
{
    redlock_lease_options options = terms(5000, 0); /* it lasts while masters are paused */
    redlock_sync_lease *lease = take(client, "ends", &options);
    redlock_sync_result result = {.size = sizeof(redlock_sync_result)};
    cluster_do(&cluster, "pause 1 2 3");
    redlock_code code = redlock_sync_lease_downgrade(lease, &result);
    int64_t valid = redlock_sync_lease_valid_for(lease);
    cluster_do(&cluster, "resume 1 2 3");
    assert_code(code, REDLOCK_E_EXPIRED);
    assert_code(result.code, REDLOCK_E_EXPIRED);
    assert_int_equal(valid, 0);
    redlock_sync_lease_free(lease);
    AWAIT(cluster_keys(&cluster) == 0);
}

CASE(an_upgrade_without_a_quorum_changes_nothing)
{
    redlock_sync *client = open_patient(&cluster, 700);
    redlock_sync_lease *lease = take_shared(client, "no-quorum");
    redlock_sync_result result = {.size = sizeof(redlock_sync_result)};
    struct call upgrade;
    cluster_do(&cluster, "pause 1 2 3");
    begin(&upgrade, upgrade_it, NULL, lease);
    unsigned exclusive = 0;
    for (bool done = false; !done;) {
        done = atomic_load(&upgrade.done);
        exclusive += redlock_sync_lease_exclusive_for(lease) > 0;
    }
    redlock_code code = call_end(&upgrade);
    int64_t valid = redlock_sync_lease_valid_for(lease);
    cluster_do(&cluster, "resume 1 2 3");
    assert_code(code, REDLOCK_E_UNAVAILABLE);
    assert_says(upgrade.result.votes, " timeout\n");
    assert_true(valid > 0);
    assert_int_equal(exclusive, 0);
    AWAIT(redlock_sync_lease_upgrade(lease, &result) == REDLOCK_OK);
    assert_writes(lease);
    give_back(lease);
    close_clean(client, &cluster);
}

WITH_CLEAN_CLIENT(one_upgrade_at_a_time)
{
    redlock_sync_lease *lease = take_shared(client, "twice");
    struct call two[2], extend;
    cluster_do(&cluster, "pause 1 2 3");
    struct call *upgrade = two_upgrades(two, lease);
    redlock_code down = redlock_sync_lease_downgrade(lease, NULL);
    begin(&extend, extend_it, NULL, lease);
    AWAIT(call_is_asleep(&extend));
    int64_t exclusive = redlock_sync_lease_exclusive_for(lease);
    cluster_do(&cluster, "resume 1 2 3");
    assert_code(down, REDLOCK_E_STATE);
    assert_int_equal(exclusive, 0);
    assert_code(call_end(upgrade), REDLOCK_OK);
    assert_code(call_end(&extend), REDLOCK_OK);
    assert_writes(lease);
    give_back(lease);
}

WITH_CLEAN_CLIENT(a_release_ends_a_change)
{
    redlock_sync_lease *lease = take_shared(client, "released");
    struct call two[2], release;
    cluster_do(&cluster, "pause 1 2 3");
    struct call *upgrade = two_upgrades(two, lease);
    begin(&release, release_it, NULL, lease);
    AWAIT(redlock_sync_lease_valid_for(lease) == 0);
    AWAIT(call_is_asleep(&release));
    cluster_do(&cluster, "resume 1 2 3");
    assert_code(call_end(upgrade), REDLOCK_E_CANCELLED);
    assert_code(call_end(&release), REDLOCK_OK);
    assert_int_equal(redlock_sync_lease_exclusive_for(lease), 0);
    redlock_sync_lease_free(lease);
}

static void close_during_an_upgrade(int64_t patience_ms)
{
    redlock_sync *client = open_on(&cluster);
    redlock_sync_lease *lease = take_shared(client, "closing");
    struct call two[2];
    cluster_do(&cluster, "pause 1 2 3");
    struct call *upgrade = two_upgrades(two, lease);
    int64_t since = now_us();
    redlock_sync_close(client, patience_ms);
    redlock_code code = call_end(upgrade);
    int64_t took = now_us() - since;
    cluster_do(&cluster, "resume 1 2 3");
    assert_code(code, REDLOCK_E_CANCELLED);
    assert_true(took < (patience_ms + 2500) * MS_US);
    assert_int_equal(redlock_sync_lease_exclusive_for(lease), 0);
    assert_int_equal(redlock_sync_lease_valid_for(lease), 0);
    assert_code(redlock_sync_lease_upgrade(lease, NULL), REDLOCK_E_CLOSED);
    redlock_sync_free(client);
    redlock_sync_lease_free(lease);
    cluster_tell_all(&cluster, "DEL closing redlock:holders:closing");
    AWAIT(cluster_keys(&cluster) == 0);
}

CASE(closing_ends_an_upgrade)
{
    close_during_an_upgrade(0);
    close_during_an_upgrade(300);
}

PROGRAM(.masters = 5, .begun = make_them_old)
