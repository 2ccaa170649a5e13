/*
 * Permits as users of the library: each waiter is served, whatever its slot, and leaves nothing
 * behind.
 * rule: P13, P14
 */
#include "fixture.h"
#include "user.h"

#define MASTERS 5
#define TTL     6000
#define CROWD   250

static struct ev_loop *loop;
static struct user ours, theirs, holder; /* clients on one loop */

static int join_all(void **state)
{
    (void)state;
    loop = ev_loop_new(0);
    user_join(&ours, loop, &cluster);
    user_join(&theirs, loop, &cluster);
    user_join(&holder, loop, &cluster);
    return 0;
}

/* Only the keys with the number of permits may be left. */
static unsigned masters_with_more(void)
{
    unsigned masters = 0;
    for (unsigned i = 0; i < MASTERS; i++)
        masters += cluster_count(&cluster, i, "DBSIZE") > 2;
    return masters;
}

static int leave_all(void **state)
{
    (void)state;
    assert_int_equal(user_end(&ours, 10000), 0);
    assert_int_equal(user_end(&theirs, 10000), 0);
    assert_int_equal(user_end(&holder, 10000), 0);
    ev_loop_destroy(loop);
    assert_int_equal(masters_with_more(), 0);
    cluster_tell_all(&cluster, "DEL redlock:permits:pool");
    return 0;
}

static redlock_lease_options permits(int64_t count, int64_t wait_ms)
{
    redlock_lease_options terms = lease_terms(TTL, wait_ms);
    terms.permits = count;
    return terms;
}

static void lock(struct take *take, struct user *user, int64_t count)
{
    redlock_lease_options terms = permits(count, 0);
    assert_code(take_lock(take, user, "pool", &terms), REDLOCK_OK);
}

static void wait_for(struct take *take, struct user *user, int64_t count)
{
    redlock_lease_options terms = permits(count, REDLOCK_FOREVER);
    take_ask(take, user, "pool", &terms);
}

static bool is_enqueued(const struct take *take)
{
    redlock_place place = {.size = sizeof place};
    return redlock_lease_place(take->lease, &place) == REDLOCK_OK && user_is_quiet(take->user);
}

static long long length_of_queue(unsigned master, int slot)
{
    return cluster_count(&cluster, master, "ZCARD redlock:queue:redlock:permit:%d:pool", slot);
}

/* ---- Slots ---- */

#define WITH_ALL(name) CASE_WITH(name, join_all, leave_all)

WITH_ALL(fences_of_a_slot_grow)
{
    int64_t last[2] = {0, 0};
    redlock_lease_options terms = permits(2, 0);
    terms.fence = true;
    for (unsigned i = 0; i < 20; i++) {
        struct take take;
        assert_code(take_lock(&take, i % 3 ? &ours : &theirs, "pool", &terms), REDLOCK_OK);
        int slot = redlock_lease_slot(take.lease);
        assert_true(redlock_lease_fence(take.lease) > last[slot]);
        last[slot] = redlock_lease_fence(take.lease);
        assert_code(take_release(&take), REDLOCK_OK);
    }
}

/* ---- Waiting ---- */

/* It stands in line for another slot. It hears of the free one long before it would ask again. */
WITH_ALL(a_hint_is_followed)
{
    struct take a, b, waiter;
    lock(&a, &ours, 2);
    lock(&b, &ours, 2);
    wait_for(&waiter, &theirs, 2);
    AWAIT(&theirs, is_enqueued(&waiter));
    struct take *other = length_of_queue(0, redlock_lease_slot(a.lease)) ? &b : &a;
    int slot = redlock_lease_slot(other->lease);
    assert_int_equal(length_of_queue(0, slot), 0);
    int64_t since = now_us();
    assert_code(take_release(other), REDLOCK_OK);
    AWAIT_AWAKE_MS(&theirs, has(&waiter), 300);
    assert_true(now_us() > since);
    assert_int_equal(redlock_lease_slot(waiter.lease), slot);
    assert_code(take_release(&waiter), REDLOCK_OK);
    assert_code(take_release(other == &a ? &b : &a), REDLOCK_OK);
}

/* Long before places that nobody gives back would be over. */
#define AWAIT_QUEUES(user, places)                                                                 \
    AWAIT_AWAKE_MS(user, length_of_queue(0, 0) + length_of_queue(0, 1) == (places), TTL / 2)

/* One client has both slots; a waiter of another stands in both queues, a later one in one. */
static void stand_twice(struct take *held, struct take *first, struct take *later)
{
    lock(&held[0], &holder, 2);
    lock(&held[1], &holder, 2);
    wait_for(first, &theirs, 2);
    AWAIT(&theirs, is_enqueued(first));
    wait_for(later, &ours, 2);
    AWAIT(&ours, length_of_queue(0, 0) + length_of_queue(0, 1) == 3);
    AWAIT(&ours, user_is_quiet(&theirs) && user_is_quiet(&ours));
}

static void release_both(struct take *held)
{
    assert_code(take_release(&held[0]), REDLOCK_OK);
    assert_code(take_release(&held[1]), REDLOCK_OK);
}

WITH_ALL(a_freed_waiter_leaves_nothing)
{
    struct take held[2], first, later;
    stand_twice(held, &first, &later);
    take_free(&first);
    take_free(&later);
    AWAIT_QUEUES(&ours, 0);
    release_both(held);
}

/* One waiter hears of each slot that is released before it has come to stand there. */
WITH_ALL(many_hints_at_once_are_no_flood)
{
    static struct take held[CROWD];
    struct take waiter, *last = NULL;
    for (unsigned i = 0; i < CROWD; i++)
        lock(&held[i], &holder, CROWD);
    wait_for(&waiter, &theirs, CROWD);
    AWAIT(&theirs, is_enqueued(&waiter));
    for (unsigned i = 0; i < CROWD; i++)
        if (length_of_queue(0, redlock_lease_slot(held[i].lease)))
            last = &held[i];
    assert_non_null(last);
    for (unsigned i = 0; i < CROWD; i++)
        if (&held[i] != last)
            take_free(&held[i]);
    AWAIT(&theirs, has(&waiter));
    take_free(last);
    AWAIT(&holder, user_is_quiet(&holder));
    if (theirs.warnings)
        fail_msg("%s", theirs.log);
    assert_code(take_release(&waiter), REDLOCK_OK);
}

/* ---- Holders ---- */

WITH_ALL(a_slot_is_known_to_the_end)
{
    struct take held, waiter;
    lock(&held, &ours, 1);
    wait_for(&waiter, &theirs, 1);
    AWAIT(&theirs, is_enqueued(&waiter));
    assert_int_equal(redlock_lease_slot(waiter.lease), -1);
    assert_code(redlock_lease_release(held.lease), REDLOCK_OK);
    AWAIT(&ours, held.told[REDLOCK_RELEASED].times);
    assert_int_equal(redlock_lease_slot(held.lease), 0);
    take_free(&held);
    AWAIT(&theirs, has(&waiter));
    assert_int_equal(redlock_lease_slot(waiter.lease), 0);
    assert_code(take_release(&waiter), REDLOCK_OK);
}

/* ---- Options ---- */

static void refused(const redlock_name *names, size_t count, const redlock_lease_options *terms,
                    const char *why)
{
    redlock_lease *lease;
    assert_code(redlock_acquire_names(ours.client, &lease, names, count, terms, take_hear, NULL),
                REDLOCK_E_ARGUMENT);
    assert_non_null(strstr(redlock_last_error(ours.client), why));
    assert_null(lease);
}

WITH_ALL(what_cannot_be_is_refused)
{
    char long_name[REDLOCK_NAME_MAX];
    memset(long_name, 'n', sizeof long_name);
    static const redlock_name two[] = {NAME("pool"), NAME("other")};
    static const redlock_name read[] = {SHARED_NAME("pool")};
    redlock_lease_options terms = permits(-1, 0);
    redlock_lease *lease;
    refused(two, 1, &terms, "permits is -1");
    terms.permits = REDLOCK_PERMITS_MAX + 1;
    refused(two, 1, &terms, "must be 1 to 1024");
    terms.permits = 4;
    refused(two, 2, &terms, "a permit has one name");
    refused(read, 1, &terms, "a permit cannot be shared");
    terms.permits = 257;
    refused(&(redlock_name){.size = sizeof(redlock_name),
                            .bytes = long_name,
                            .length = REDLOCK_NAME_MAX},
            1, &terms, "a name of 1024 bytes has 256 permits at most");
    assert_code(redlock_attach(ours.client, &lease, two, 1, "token", &terms, take_hear, NULL),
                REDLOCK_E_ARGUMENT);
    assert_non_null(strstr(redlock_last_error(ours.client), "cannot be attached"));
    struct take held;
    lock(&held, &ours, REDLOCK_PERMITS_MAX);
    assert_code(redlock_lease_downgrade(held.lease), REDLOCK_E_STATE);
    assert_code(redlock_lease_upgrade(held.lease), REDLOCK_E_STATE);
    assert_code(redlock_lease_detach(held.lease), REDLOCK_E_STATE);
    assert_code(take_release(&held), REDLOCK_OK);
}

PROGRAM(.masters = MASTERS)
