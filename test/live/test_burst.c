/*
 * More calls at once than masters can answer in the time that they have for one answer: the loop
 * takes them in turns, and each is told once.
 */
#include "fixture.h"
#include "user.h"

#include <stdio.h>

#define BURST      20000
#define TTL_MS     30000
#define PATIENT_MS 60000

static struct {
    struct user user;
    struct take held;
    redlock_lease *leases[BURST];
    unsigned acquired, failed, released, unconfirmed;
    unsigned told_before_held; /* outcomes of the burst, when the lease held before was released */
} burst;

static unsigned outcomes(void)
{
    return burst.acquired + burst.failed;
}

static void hear(redlock_lease *lease, const redlock_event *event, void *data)
{
    (void)lease;
    (void)data;
    burst.acquired += event->kind == REDLOCK_ACQUIRED;
    burst.failed += event->kind == REDLOCK_NOT_ACQUIRED;
    burst.released += event->kind == REDLOCK_RELEASED;
    burst.unconfirmed += event->kind == REDLOCK_RELEASED && event->code != REDLOCK_OK;
}

static void hear_held(redlock_lease *lease, const redlock_event *event, void *data)
{
    if (event->kind == REDLOCK_RELEASED)
        burst.told_before_held = outcomes();
    take_hear(lease, event, data);
}

static void begin(void)
{
    memset(&burst, 0, sizeof burst);
    user_open(&burst.user, &cluster, NULL);
}

static void ask_all(void)
{
    redlock_lease_options terms = lease_terms(TTL_MS, 0);
    char name[24];
    for (unsigned i = 0; i < BURST; i++) {
        snprintf(name, sizeof name, "burst %u", i);
        assert_code(redlock_acquire(burst.user.client, &burst.leases[i], name, &terms, hear, NULL),
                    REDLOCK_OK);
    }
}

static void release_all(void)
{
    for (unsigned i = 0; i < BURST; i++) {
        assert_code(redlock_release(burst.leases[i]), REDLOCK_OK);
        redlock_lease_free(burst.leases[i]);
    }
}

static unsigned in_flight(void)
{
    return node_of(&burst.user, 0).in_flight;
}

static void test_the_first_are_written_before_the_last_are_carried_out(void **state)
{
    (void)state;
    begin();
    ask_all();
    AWAIT(&burst.user, in_flight());
    assert_in_range(in_flight(), 1, BURST / 4);
    AWAIT_MS(&burst.user, outcomes() == BURST, PATIENT_MS);
    assert_int_equal(burst.acquired, BURST);
    release_all();
    AWAIT(&burst.user, in_flight());
    assert_in_range(in_flight(), 1, BURST / 4);
    user_close_clean(&burst.user, &cluster);
    assert_int_equal(outcomes(), BURST);
}

/* Even those of leases for which a call waits already. */
static void test_releases_go_before_what_was_asked_for_earlier(void **state)
{
    redlock_lease_options terms = lease_terms(TTL_MS, 0);
    (void)state;
    begin();
    take_init(&burst.held, &burst.user);
    assert_code(redlock_acquire(burst.user.client, &burst.held.lease, "held", &terms, hear_held,
                                &burst.held),
                REDLOCK_OK);
    AWAIT(&burst.user, has(&burst.held));
    ask_all();
    assert_code(redlock_extend(burst.held.lease, 0), REDLOCK_OK);
    assert_code(redlock_release(burst.held.lease), REDLOCK_OK);
    AWAIT_MS(&burst.user, burst.held.told[REDLOCK_RELEASED].times, PATIENT_MS);
    assert_in_range(burst.told_before_held, 0, BURST / 4);
    take_free(&burst.held);
    AWAIT_MS(&burst.user, outcomes() == BURST, PATIENT_MS);
    release_all();
    user_close_clean(&burst.user, &cluster);
}

/* What was called before redlock_close() is carried out before it: each is told once, and no lease
 * stays behind. */
static void test_a_close_comes_after_the_calls_before_it(void **state)
{
    (void)state;
    begin();
    ask_all();
    assert_int_equal(user_end(&burst.user, PATIENT_MS), 0);
    assert_int_equal(outcomes(), BURST);
    assert_int_equal(burst.released, burst.acquired);
    assert_int_equal(burst.unconfirmed, 0);
    assert_int_equal(cluster_keys(&cluster), 0);
    ev_loop_destroy(burst.user.loop);
}

/* A lease that was detached before the close is kept. */
static void test_a_close_comes_after_detaching(void **state)
{
    (void)state;
    begin();
    ask_all();
    AWAIT_MS(&burst.user, outcomes() == BURST, PATIENT_MS);
    for (unsigned i = 0; i < BURST; i++)
        redlock_detach(burst.leases[i]);
    assert_int_equal(user_end(&burst.user, PATIENT_MS), 0);
    assert_int_equal(cluster_keys(&cluster), 5 * BURST);
    ev_loop_destroy(burst.user.loop);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_first_are_written_before_the_last_are_carried_out),
        cmocka_unit_test(test_releases_go_before_what_was_asked_for_earlier),
        cmocka_unit_test(test_a_close_comes_after_the_calls_before_it),
        cmocka_unit_test(test_a_close_comes_after_detaching),
    };
    return RUN_WITH(tests, .masters = 5);
}
