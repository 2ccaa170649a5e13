/*
 * A detached lease belongs to its next user alone. Once redlock_lease_detach() has returned, no
 * renewal is written or repeated. A renewal on its way heals nothing that another process has given
 * back.
 * rule: C6, K8, U5, U7, U23
 */
#include <unistd.h>

#include "scene.h"

static struct user first, second;
static struct take held;
static char token[128];

static void begin(unsigned by_road)
{
    scene_enter(&scene, &first, "first", by_road);
    scene_enter(&scene, &second, "second", 0);
}

static void end(void)
{
    assert_int_equal(user_end(&first, 5000), 0);
    assert_int_equal(user_end(&second, 5000), 0);
}

static void keep_token(void)
{
    snprintf(token, sizeof token, "%s", redlock_lease_token(held.lease));
}

/* As another process does that knows the token and nothing of the library. */
static void delete_everywhere(void)
{
    for (unsigned i = 0; i < scene.cluster.count; i++)
        assert_int_equal(cluster_count(&scene.cluster, i, "EVAL %s 1 name %s",
                                       "return redis.call('get', KEYS[1]) == ARGV[1] and "
                                       "redis.call('del', KEYS[1]) or 0",
                                       token),
                         1);
}

/* ---- A renewal that is not written yet ---- */

static struct take waiter;
static long long renewals[CLUSTER_MAX];

#define RENEWALS                                                                                   \
    "return tonumber(redis.call('info', 'commandstats'):match('cmdstat_pexpire:calls=(%d+)') or "  \
    "0)"

static long long renewals_of(unsigned master)
{
    return cluster_count(&scene.cluster, master, "EVAL %s 0", RENEWALS);
}

/* The masters hear this client on another connection, which may come first. */
static void await_renewals(void)
{
    int64_t end = now_us() + 10000000;
    for (unsigned i = 0; i < scene.cluster.count; i++)
        for (; renewals_of(i) == renewals[i]; usleep(1000))
            assert_true(now_us() < end);
}

static void hear_cancelled(redlock_lease *lease, const redlock_event *event, void *data)
{
    take_hear(lease, event, data);
    if (event->kind != REDLOCK_NOT_ACQUIRED)
        return;
    keep_token();
    assert_code(redlock_lease_detach(held.lease), REDLOCK_OK);
    await_renewals();
    delete_everywhere();
}

/* In one turn the lease is due for renewal, and another one ends: its callback detaches the first,
 * and gives it back. */
SCENE(test_nothing_is_written_after_it, .masters = 3)
{
    redlock_lease_options terms = lease_terms(10000, REDLOCK_FOREVER);
    begin(0);
    assert_code(take_lock(&held, &first, "name", NULL), REDLOCK_OK);
    take_init(&waiter, &first);
    assert_code(
        redlock_acquire(first.client, &waiter.lease, "name", &terms, hear_cancelled, &waiter),
        REDLOCK_OK);
    AWAIT(&first, scene_waiters(&scene, ALL, "first") == scene.cluster.count);
    AWAIT(&first, user_is_quiet(&first));
    for (unsigned i = 0; i < scene.cluster.count; i++)
        renewals[i] = renewals_of(i);
    assert_code(redlock_lease_extend(held.lease, 0), REDLOCK_OK);
    assert_code(redlock_lease_release(waiter.lease), REDLOCK_OK);
    AWAIT(&first, waiter.told[REDLOCK_NOT_ACQUIRED].times);
    AWAIT(&first, user_is_quiet(&first));
    assert_int_equal(cluster_holders(&scene.cluster, "name", NULL), 0);
    redlock_lease_free(waiter.lease);
    end();
}

/* ---- A renewal that the masters have no script for ---- */

static ev_prepare asleep;
static ev_check awake;

/* Before the loop waits: what was written is answered by now, and is read when the loop wakes. */
static void await_answers(struct ev_loop *loop, ev_prepare *prepare, int events)
{
    (void)events;
    if (user_is_quiet(&first))
        return;
    ev_prepare_stop(loop, prepare);
    cluster_tell_all(&scene.cluster, "PING");
    ev_check_start(loop, &awake);
}

/* Comes before what the loop reads. */
static void hear_nothing(struct ev_loop *loop, ev_check *check, int events)
{
    (void)events;
    ev_check_stop(loop, check);
    keep_token();
    assert_code(redlock_lease_detach(held.lease), REDLOCK_OK);
    delete_everywhere();
}

/* The answers have come, and are read after the call, before it is carried out. */
SCENE(test_nothing_is_repeated_after_it, .masters = 3)
{
    begin(0);
    assert_code(take_lock(&held, &first, "name", NULL), REDLOCK_OK);
    AWAIT(&first, user_is_quiet(&first));
    cluster_tell_all(&scene.cluster, "SCRIPT FLUSH");
    assert_code(redlock_lease_extend(held.lease, 0), REDLOCK_OK);
    ev_prepare_init(&asleep, await_answers);
    ev_set_priority(&asleep, EV_MINPRI);
    ev_prepare_start(first.loop, &asleep);
    ev_check_init(&awake, hear_nothing);
    ev_set_priority(&awake, EV_MAXPRI);
    AWAIT(&first, !ev_is_active(&asleep) && !ev_is_active(&awake) && user_is_quiet(&first));
    assert_int_equal(cluster_holders(&scene.cluster, "name", NULL), 0);
    end();
}

/* ---- A renewal that is on its way ---- */

static const redlock_name names[] = {NAME("name"), NAME("other")};
static const redlock_name shared[] = {SHARED_NAME("name"), SHARED_NAME("other")};

static void hold_requests(void)
{
    for (unsigned i = 0; i < scene.cluster.count; i++)
        proxy_hold(scene.roads[i], MAIN_ROADS, REQUESTS);
}

static void let_requests_go(void)
{
    for (unsigned i = 0; i < scene.cluster.count; i++)
        proxy_let_go(scene.roads[i], MAIN_ROADS, REQUESTS);
}

static void acquire(struct take *take, const redlock_name *its, size_t count)
{
    take_init(take, &first);
    assert_code(
        redlock_acquire_names(first.client, &take->lease, its, count, NULL, take_hear, take),
        REDLOCK_OK);
    AWAIT(&first, has(take));
    AWAIT(&first, user_is_quiet(&first));
}

/* The second user gives it back. */
static void give_back(const redlock_name *its, size_t count)
{
    struct take take;
    take_init(&take, &second);
    assert_code(
        redlock_release_token(second.client, &take.lease, its, count, token, take_hear, &take),
        REDLOCK_OK);
    AWAIT(&second, take.told[REDLOCK_RELEASED].times);
    assert_code(take.told[REDLOCK_RELEASED].event.code, REDLOCK_OK);
    redlock_lease_free(take.lease);
    AWAIT(&second, user_is_quiet(&second));
}

/* The second user is nearer to the masters: it gives back before the renewal arrives. */
static void overtake_renewal(const redlock_name *its, size_t count)
{
    hold_requests();
    assert_code(redlock_lease_extend(held.lease, 0), REDLOCK_OK);
    AWAIT(&first, !user_is_quiet(&first));
    keep_token();
    assert_code(redlock_lease_detach(held.lease), REDLOCK_OK);
    give_back(its, count);
    let_requests_go();
    AWAIT(&first, user_is_quiet(&first));
    for (unsigned i = 0; i < count; i++)
        assert_int_equal(cluster_holders(&scene.cluster, its[i].bytes, NULL), 0);
}

SCENE(test_one_on_its_way_heals_nothing, .masters = 3)
{
    begin(ALL);
    acquire(&held, names, 1);
    overtake_renewal(names, 1);
    acquire(&held, names, 2);
    overtake_renewal(names, 2);
    acquire(&held, shared, 1);
    overtake_renewal(shared, 1);
    end();
}

/* Taken over by its token, and detached once more. */
SCENE(test_what_was_attached_is_not_healed_either, .masters = 3)
{
    struct take taken_over;
    begin(ALL);
    assert_code(take_lock(&taken_over, &second, "name", NULL), REDLOCK_OK);
    snprintf(token, sizeof token, "%s", redlock_lease_token(taken_over.lease));
    assert_code(redlock_lease_detach(taken_over.lease), REDLOCK_OK);
    take_init(&held, &first);
    assert_code(redlock_attach(first.client, &held.lease, names, 1, token, NULL, take_hear, &held),
                REDLOCK_OK);
    AWAIT(&first, has(&held));
    AWAIT(&first, user_is_quiet(&first));
    overtake_renewal(names, 1);
    end();
}

/* ---- A request that takes the names, and comes late ---- */

/* Each is a lease that was detached, and given back. */
static struct {
    const redlock_name *names;
    size_t count;
    char token[128];
    struct take taker;
} left[2];

static void leave(unsigned i, const redlock_name *its, size_t count)
{
    left[i].names = its;
    left[i].count = count;
    acquire(&held, its, count);
    keep_token();
    snprintf(left[i].token, sizeof left[i].token, "%s", token);
    assert_code(redlock_lease_detach(held.lease), REDLOCK_OK);
    give_back(its, count);
}

static void put(unsigned master, const redlock_name *name, const char *its)
{
    bool is_shared = name->mode == REDLOCK_SHARED;
    if (is_shared)
        cluster_tell(&scene.cluster, master, "ZADD redlock:holders:%s 9007199254740991 %s",
                     name->bytes, its);
    cluster_tell(&scene.cluster, master, "SET %s %s PX 20000", name->bytes,
                 is_shared ? "redlock:shared" : its);
}

/* The first master carries out what it was asked before the detach.  The second one is yet to carry
 * out the release. */
static void take_late(unsigned i)
{
    for (size_t k = 0; k < left[i].count; k++) {
        put(0, &left[i].names[k], left[i].token);
        put(1, &left[i].names[k], left[i].token);
    }
    assert_int_equal(cluster_count(&scene.cluster, 1, "DEL redlock:released:%s", left[i].token), 1);
}

/* All in one turn. */
static void nobody_takes_over(unsigned leases)
{
    for (unsigned i = 0; i < leases; i++)
        take_late(i);
    for (unsigned i = 0; i < leases; i++) {
        take_init(&left[i].taker, &second);
        assert_code(redlock_attach(second.client, &left[i].taker.lease, left[i].names,
                                   left[i].count, left[i].token, NULL, take_hear, &left[i].taker),
                    REDLOCK_OK);
    }
    for (unsigned i = 0; i < leases; i++) {
        AWAIT(&second, left[i].taker.told[REDLOCK_NOT_ACQUIRED].times);
        assert_code(left[i].taker.told[REDLOCK_NOT_ACQUIRED].event.code, REDLOCK_E_GONE);
        redlock_lease_free(left[i].taker.lease);
    }
    cluster_tell_all(&scene.cluster, "DEL name other redlock:holders:name redlock:holders:other");
}

SCENE(test_what_is_taken_late_is_not_taken_over, .masters = 3)
{
    begin(0);
    leave(0, names, 2);
    nobody_takes_over(1);
    leave(0, shared, 1);
    nobody_takes_over(1);
    leave(0, &names[0], 1);
    leave(1, &names[1], 1);
    nobody_takes_over(2);
    leave(0, &shared[0], 1);
    leave(1, &shared[1], 1);
    nobody_takes_over(2);
    end();
}

PROGRAM(.masters = 0)
