/*
 * More calls at once than masters can answer within the time for one answer. The loop takes them in
 * turns, and reports each outcome once.
 * rule: C4, C5, C6
 */
#include "fixture.h"
#include "user.h"

#define BURST      20000
#define TOGETHER   200
#define A_TURN     1024
#define TTL_MS     30000
#define PATIENT_MS 60000

static struct {
    struct user user;
    struct take held;
    redlock_lease *leases[BURST];
    redlock_look *looks[BURST];
    unsigned acquired, failed, released, unconfirmed, seen, cancelled;
    unsigned told_before_held; /* outcomes of the burst, when the lease held before was released */
    redlock_lease *at_last;
    redlock_lease *together[TOGETHER]; /* their outcomes come with one read */
} burst;

static unsigned outcomes(void)
{
    return burst.acquired + burst.failed + burst.seen;
}

static void hear(redlock_lease *lease, const redlock_event *event, void *data)
{
    (void)lease;
    (void)data;
    burst.acquired += event->kind == REDLOCK_ACQUIRED;
    burst.failed += event->kind == REDLOCK_NOT_ACQUIRED;
    burst.released += event->kind == REDLOCK_RELEASED;
    burst.unconfirmed += event->kind == REDLOCK_RELEASED && event->code != REDLOCK_OK;
    burst.cancelled += event->code == REDLOCK_E_CANCELLED;
}

static void hear_look(redlock_look *look, const redlock_look_result *result, void *data)
{
    (void)look;
    (void)result;
    (void)data;
    burst.seen++;
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

/* Calls that take no name. */
static void inspect(unsigned from)
{
    redlock_name name = NAME("burst");
    for (unsigned i = from; i < BURST; i++)
        assert_code(
            redlock_look_begin(burst.user.client, &burst.looks[i], &name, 1, NULL, hear_look, NULL),
            REDLOCK_OK);
}

static void release_by_token(unsigned to)
{
    redlock_name name = NAME("burst");
    for (unsigned i = 0; i < to; i++)
        assert_code(redlock_release_token(burst.user.client, &burst.leases[i], &name, 1, "nobody's",
                                          hear, NULL),
                    REDLOCK_OK);
}

static void release_all(void)
{
    for (unsigned i = 0; i < BURST; i++) {
        assert_code(redlock_lease_release(burst.leases[i]), REDLOCK_OK);
        redlock_lease_free(burst.leases[i]);
    }
}

static unsigned in_flight(void)
{
    return node_of(&burst.user, 0).in_flight;
}

CASE(test_the_first_are_written_before_the_last_are_carried_out)
{
    begin();
    ask_all();
    AWAIT(&burst.user, in_flight());
    assert_in_range(in_flight(), 1, A_TURN);
    AWAIT_MS(&burst.user, outcomes() == BURST && user_is_quiet(&burst.user), PATIENT_MS);
    assert_int_equal(burst.acquired, BURST);
    release_all();
    AWAIT(&burst.user, in_flight());
    assert_in_range(in_flight(), 1, A_TURN);
    user_close_clean(&burst.user, &cluster);
    assert_int_equal(outcomes(), BURST);
}

/* Nothing wakes the loop but the calls that are left: the masters are not connected yet. */
CASE(test_the_rest_of_a_burst_waits_for_nothing)
{
    redlock_options options = {.size = sizeof(redlock_options)};
    redlock *client;
    memset(&burst, 0, sizeof burst);
    options.nodes = cluster.nodes;
    assert_code(redlock_open(&client, NULL, &options, NULL, 0), REDLOCK_OK);
    for (unsigned i = 0; i < 3 * A_TURN; i++)
        assert_code(redlock_acquire(client, &burst.leases[i], "left over", NULL, hear, NULL),
                    REDLOCK_OK);
    assert_code(redlock_process(client), REDLOCK_OK);
    assert_int_equal(redlock_next_timeout_ms(client), 0);
    redlock_free(client);
}

CASE(test_releases_and_others_share_a_turn)
{
    begin();
    release_by_token(A_TURN - 1);
    inspect(A_TURN - 1);
    AWAIT(&burst.user, in_flight());
    assert_in_range(in_flight(), 1, A_TURN);
    AWAIT_MS(&burst.user, burst.released + burst.seen == BURST, PATIENT_MS);
    user_close_clean(&burst.user, &cluster);
}

/* More releases may come for ever. */
CASE(test_others_go_on_beside_releases)
{
    begin();
    take_init(&burst.held, &burst.user);
    release_by_token(BURST);
    take_ask(&burst.held, &burst.user, "beside", NULL);
    AWAIT_MS(&burst.user, has(&burst.held), PATIENT_MS);
    assert_in_range(burst.released, 0, BURST / 4);
    take_free(&burst.held);
    AWAIT_MS(&burst.user, burst.released == BURST, PATIENT_MS);
    user_close_clean(&burst.user, &cluster);
}

/* They send nothing.  Else those that are freed in callbacks could become ever more. */
CASE(test_handles_of_the_ended_are_freed_at_once)
{
    begin();
    inspect(0);
    AWAIT_MS(&burst.user, outcomes() == BURST && user_is_quiet(&burst.user), PATIENT_MS);
    for (unsigned i = 0; i < BURST; i++)
        redlock_look_free(burst.looks[i]);
    take_init(&burst.held, &burst.user);
    take_ask(&burst.held, &burst.user, "asked last", NULL);
    for (unsigned turns = 0; turns < BURST / A_TURN / 2 && !burst.held.outcomes; turns++)
        user_step(&burst.user, INT64_MAX);
    assert_true(in_flight() || burst.held.outcomes);
    AWAIT(&burst.user, has(&burst.held));
    take_free(&burst.held);
    user_close_clean(&burst.user, &cluster);
}

/* Even those of leases for which a call waits already. */
CASE(test_releases_go_before_what_was_asked_for_earlier)
{
    redlock_lease_options terms = lease_terms(TTL_MS, 0);
    begin();
    take_init(&burst.held, &burst.user);
    assert_code(redlock_acquire(burst.user.client, &burst.held.lease, "held", &terms, hear_held,
                                &burst.held),
                REDLOCK_OK);
    AWAIT(&burst.user, has(&burst.held));
    ask_all();
    assert_code(redlock_lease_extend(burst.held.lease, 0), REDLOCK_OK);
    assert_code(redlock_lease_release(burst.held.lease), REDLOCK_OK);
    AWAIT_MS(&burst.user, burst.held.told[REDLOCK_RELEASED].times, PATIENT_MS);
    assert_in_range(burst.told_before_held, 0, BURST / 4);
    take_free(&burst.held);
    AWAIT_MS(&burst.user, outcomes() == BURST, PATIENT_MS);
    release_all();
    user_close_clean(&burst.user, &cluster);
}

/* Another process may give it back at any time, and a renewal would take it once more. */
CASE(test_what_was_left_is_renewed_no_more)
{
    begin();
    take_init(&burst.held, &burst.user);
    assert_code(take_lock(&burst.held, &burst.user, "left", NULL), REDLOCK_OK);
    AWAIT(&burst.user, user_is_quiet(&burst.user));
    inspect(0);
    assert_code(redlock_lease_extend(burst.held.lease, 0), REDLOCK_OK);
    assert_code(redlock_lease_detach(burst.held.lease), REDLOCK_OK);
    AWAIT(&burst.user, in_flight());
    assert_int_equal(stats_of(&burst.user).held, 0);
    AWAIT_MS(&burst.user, outcomes() == BURST, PATIENT_MS);
    assert_int_equal(user_end(&burst.user, PATIENT_MS), 0);
    cluster_tell_all(&cluster, "DEL left");
    ev_loop_destroy(burst.user.loop);
}

static void hear_one_and_release_all(redlock_lease *lease, const redlock_event *event, void *data)
{
    hear(lease, event, data);
    if (event->kind != REDLOCK_ACQUIRED)
        return;
    for (unsigned i = 0; i < BURST; i++)
        assert_code(redlock_lease_release(burst.leases[i]), REDLOCK_OK);
    for (unsigned i = 0; i < TOGETHER; i++)
        if (burst.together[i] != lease)
            assert_code(redlock_lease_release(burst.together[i]), REDLOCK_OK);
    assert_code(redlock_acquire(burst.user.client, &burst.at_last, "at last", NULL, hear, NULL),
                REDLOCK_OK);
    assert_code(redlock_lease_release(burst.at_last), REDLOCK_OK); /* it ends with those together */
}

/* The acquires of these, and of one more behind them, are answered, but still unread. */
static void have_together_answered(void)
{
    redlock_lease_options terms = lease_terms(TTL_MS, 0);
    char name[24];
    for (unsigned i = 0; i < TOGETHER; i++) {
        snprintf(name, sizeof name, "together %u", i);
        assert_code(redlock_acquire(burst.user.client, &burst.together[i], name, &terms,
                                    hear_one_and_release_all, NULL),
                    REDLOCK_OK);
    }
    take_ask(&burst.held, &burst.user, "behind", &terms);
    AWAIT(&burst.user, in_flight());
    for (int64_t end = now_us() + PATIENT_MS * 1000LL;
         cluster_holders(&cluster, "behind", NULL) < 5;)
        assert_true(now_us() < end);
}

/* The outcome comes while the leases wait for their releases: otherwise a LOST would come too late.
 * */
CASE(test_an_outcome_does_not_wait_for_cancelled_leases)
{
    begin();
    take_init(&burst.held, &burst.user);
    ask_all();
    AWAIT_MS(&burst.user, outcomes() == BURST && user_is_quiet(&burst.user), PATIENT_MS);
    have_together_answered();
    AWAIT_MS(&burst.user, has(&burst.held), PATIENT_MS);
    assert_in_range(burst.released + burst.cancelled, 0, BURST / 4);
    take_free(&burst.held);
    AWAIT_MS(&burst.user, burst.released == BURST && outcomes() == BURST + TOGETHER + 1,
             PATIENT_MS);
    user_close_clean(&burst.user, &cluster);
}

/* All of the burst, in this way, and in time. */
static void close_tells(const unsigned *count)
{
    assert_int_equal(user_end(&burst.user, PATIENT_MS), 0);
    assert_int_equal(*count, BURST);
    ev_loop_destroy(burst.user.loop);
}

/* The close does not wait for the calls, and cancels them. Each has one outcome, and no lease stays
 * behind. */
CASE(test_a_close_cancels_the_calls_before_it)
{
    begin();
    ask_all();
    close_tells(&burst.failed);
    assert_int_equal(burst.acquired, 0);
    assert_int_equal(cluster_keys(&cluster), 0);
}

CASE(test_a_close_cancels_inspections)
{
    begin();
    inspect(0);
    close_tells(&burst.seen);
}

/* The close comes after the answers to earlier releases. */
CASE(test_a_close_comes_after_releases)
{
    begin();
    release_by_token(BURST);
    close_tells(&burst.released);
}

/* A lease that was detached before the close is kept. */
CASE(test_a_close_comes_after_detaching)
{
    begin();
    ask_all();
    AWAIT_MS(&burst.user, outcomes() == BURST, PATIENT_MS);
    for (unsigned i = 0; i < BURST; i++)
        redlock_lease_detach(burst.leases[i]);
    assert_int_equal(user_end(&burst.user, PATIENT_MS), 0);
    assert_int_equal(cluster_keys(&cluster), 5 * BURST);
    ev_loop_destroy(burst.user.loop);
}

PROGRAM(.masters = 5)
