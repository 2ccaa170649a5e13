/* The calls that wait, in virtual time: they advance it by themselves, up to their outcome. */
#include <pthread.h>
#include <redlock/recipes.h>
#include <redlock/testing.h>
#include <string.h>

#include "../cases.h"

#define TTL         10000
#define ADVANCE(ms) assert_int_equal(redlock_testing_advance(ms), REDLOCK_OK)
#define NOW         redlock_testing_now_ms()

/* ---- clients ---- */

static redlock_sync *open_clients[8]; /* a case that fails leaves some */
static unsigned open_count;

static redlock_sync *open_list(const char *nodes)
{
    char why[256];
    redlock_options options = {.size = sizeof options, .nodes = nodes};
    if (redlock_sync_open(&open_clients[open_count], &options, why, sizeof why) != REDLOCK_OK)
        fail_msg("%s", why);
    return open_clients[open_count++];
}

static redlock_sync *open_client(void)
{
    return open_list("memory://5");
}

static int begin(void **state)
{
    (void)state;
    return redlock_testing_begin(REDLOCK_TESTING_VIRTUAL);
}

static int end(void **state)
{
    (void)state;
    while (open_count)
        redlock_sync_free(open_clients[--open_count]);
    return redlock_testing_begin(REDLOCK_TESTING_REAL);
}

#define VIRTUAL(name) CASE_OF(name, begin, end, NULL)

static redlock_sync_result result;

static redlock_code ask_with(redlock_sync *client, redlock_sync_lease **lease,
                             redlock_lease_options options)
{
    options.size = sizeof options;
    options.ttl_ms = options.ttl_ms ? options.ttl_ms : TTL;
    result = (redlock_sync_result){.size = sizeof result};
    return redlock_sync_acquire(client, lease, "name", &options, &result);
}

static redlock_code ask(redlock_sync *client, redlock_sync_lease **lease, int64_t wait_ms)
{
    return ask_with(client, lease, (redlock_lease_options){.wait_ms = wait_ms});
}

static redlock_sync_lease *acquire(redlock_sync *client)
{
    redlock_sync_lease *lease;
    if (ask(client, &lease, 0) != REDLOCK_OK)
        fail_msg("%s", result.text);
    return lease;
}

/* ---- time ---- */

VIRTUAL(a_wait_goes_on_to_its_outcome_and_no_further)
{
    redlock_sync *client = open_client();
    redlock_sync_lease *lease;
    redlock_testing_hold("name", 60000);
    assert_int_equal(ask(client, &lease, 0), REDLOCK_E_HELD);
    assert_int_equal(NOW, 0);
    assert_int_equal(ask(client, &lease, 20000), REDLOCK_E_HELD);
    assert_int_equal(NOW, 20000);
    assert_int_equal(ask(client, &lease, REDLOCK_FOREVER), REDLOCK_OK);
    assert_in_range(NOW, 60000, 60010);
    redlock_sync_lease_free(lease);
}

VIRTUAL(validity_passes_with_the_time)
{
    redlock_sync_lease *lease = acquire(open_client());
    assert_int_equal(redlock_sync_lease_valid_for(lease), TTL - TTL / 100 - 2);
    ADVANCE(1000);
    assert_int_equal(redlock_sync_lease_valid_for(lease), TTL - TTL / 100 - 2 - 1000);
    ADVANCE(3600000);
    assert_in_range(redlock_sync_lease_valid_for(lease), TTL / 2, TTL);
    redlock_sync_lease_free(lease);
}

struct heard {
    redlock_event_kind kind;
    int64_t at_ms, valid_ms, valid_then_ms;
    redlock_sync_lease *lease;
};

static void on_event(const redlock_event *event, void *data)
{
    struct heard *heard = data;
    heard->kind = event->kind;
    heard->at_ms = NOW;
    heard->valid_ms = event->valid_ms;
    heard->valid_then_ms = redlock_sync_lease_valid_for(heard->lease);
}

VIRTUAL(lost_comes_at_the_very_millisecond)
{
    struct heard heard = {0};
    redlock_lease_options hears = {.on_event = on_event, .data = &heard};
    assert_int_equal(ask_with(open_client(), &heard.lease, hears), REDLOCK_OK);
    for (unsigned i = 0; i < 3; i++)
        redlock_testing_hang(i, true);
    int64_t left = redlock_sync_lease_valid_for(heard.lease), margin = TTL / 20;
    ADVANCE(left - margin - 1);
    assert_int_equal(heard.kind, REDLOCK_AT_RISK);
    assert_in_range(redlock_sync_lease_valid_for(heard.lease), margin, margin + 1);
    ADVANCE(1);
    assert_int_equal(heard.kind, REDLOCK_LOST);
    assert_int_equal(heard.at_ms, left - margin);
    assert_int_equal(heard.valid_ms, margin);
    assert_int_equal(heard.valid_then_ms, 0);
    redlock_sync_lease_free(heard.lease);
}

VIRTUAL(a_holder_renews_while_another_client_waits)
{
    redlock_sync *one = open_client(), *other = open_client();
    redlock_sync_lease *lease, *next;
    lease = acquire(one);
    assert_int_equal(ask(other, &next, 10 * TTL), REDLOCK_E_HELD);
    assert_int_equal(NOW, 10 * TTL);
    assert_true(redlock_sync_lease_valid_for(lease) > 0);
    assert_int_equal(redlock_sync_lease_release(lease, NULL), REDLOCK_OK);
    redlock_sync_lease_free(lease);
    assert_int_equal(ask(other, &next, 0), REDLOCK_OK);
    assert_int_equal(NOW, 10 * TTL);
    redlock_sync_lease_free(next);
}

VIRTUAL(calls_end_when_their_time_is_over)
{
    redlock_sync *client = open_client();
    redlock_barrier_options barrier = {
        .size = sizeof barrier, .parties = 2, .generation = 1, .timeout_ms = 3000};
    redlock_latch_options latch = {.size = sizeof latch, .arrivals = 1, .timeout_ms = 4000};
    redlock_leader leader = {.size = sizeof leader};
    assert_int_equal(redlock_sync_barrier_arrive(client, "meet", &barrier, NULL, NULL),
                     REDLOCK_E_NOT_PASSED);
    assert_int_equal(NOW, 3000);
    assert_int_equal(redlock_sync_leader_next(client, "leader", 0, 5000, &leader, NULL, 0, NULL),
                     REDLOCK_E_UNAVAILABLE);
    assert_int_equal(NOW, 8000);
    assert_int_equal(redlock_sync_latch_create(client, "gate", &latch, NULL, NULL), REDLOCK_OK);
    assert_int_equal(NOW, 8000);
    assert_int_equal(redlock_sync_latch_await(client, "gate", &latch, NULL, NULL),
                     REDLOCK_E_NOT_OPEN);
    assert_int_equal(NOW, 12000);
    for (unsigned i = 0; i < 5; i++)
        redlock_testing_cut(i, true);
    redlock_sync *late = open_client();
    assert_int_equal(redlock_sync_ready(late, 500, NULL, 0), REDLOCK_E_UNAVAILABLE);
    assert_int_equal(NOW, 12500);
}

VIRTUAL(a_close_waits_for_masters_that_are_away)
{
    redlock_sync *client = open_client();
    redlock_sync_lease *lease = acquire(client);
    for (unsigned i = 0; i < 5; i++)
        redlock_testing_hang(i, true);
    assert_int_equal(redlock_sync_close(client, 3000), 5);
    assert_int_equal(NOW, 3000);
    assert_int_equal(redlock_sync_close(client, 3000), 5);
    assert_int_equal(ask(client, &(redlock_sync_lease *){NULL}, 0), REDLOCK_E_CLOSED);
    redlock_sync_lease_free(lease);
}

/* ---- a wait that nobody can end ---- */

VIRTUAL(a_wait_without_an_end_closes_its_client)
{
    redlock_sync *one = open_client(), *other = open_client();
    redlock_sync_lease *next, *lease = acquire(one);
    redlock_barrier_options barrier = {.size = sizeof barrier, .parties = 2, .generation = 1};
    result = (redlock_sync_result){.size = sizeof result};
    assert_int_equal(redlock_sync_barrier_arrive(other, "meet", &barrier, NULL, &result),
                     REDLOCK_E_UNDECIDED);
    assert_non_null(strstr(result.text, "nobody could end this wait"));
    assert_int_equal(NOW, 25 * 3600000);
    assert_int_equal(ask(other, &next, 0), REDLOCK_E_CLOSED);
    assert_true(redlock_sync_lease_valid_for(lease) > 0);
    redlock_sync_lease_free(lease);
}

static void on_event_ask_again(redlock_lease *lease, const redlock_event *event, void *data)
{
    (void)event;
    redlock_lease_free(lease);
    assert_int_equal(redlock_acquire(data, &lease, "name", NULL, on_event_ask_again, data),
                     REDLOCK_OK);
}

VIRTUAL(a_wait_beside_clients_that_never_rest_ends)
{
    redlock *restless;
    redlock_lease *lease;
    redlock_sync_lease *waits;
    redlock_options options = {.size = sizeof options, .nodes = "memory://5"};
    redlock_testing_hold("name", 60000);
    assert_int_equal(redlock_open(&restless, NULL, &options, NULL, 0), REDLOCK_OK);
    assert_int_equal(redlock_acquire(restless, &lease, "name", NULL, on_event_ask_again, restless),
                     REDLOCK_OK);
    assert_int_equal(ask(open_client(), &waits, REDLOCK_FOREVER), REDLOCK_E_CLOSED);
    redlock_free(restless);
}

/* ---- callbacks and threads ---- */

static void ask_in_vain(redlock_sync *client)
{
    redlock_sync_lease *lease;
    int64_t now = NOW;
    assert_int_equal(ask(client, &lease, 0), REDLOCK_E_STATE);
    assert_non_null(strstr(result.text, "a callback cannot wait"));
    assert_int_equal(redlock_sync_ready(client, 1000, NULL, 0), REDLOCK_E_STATE);
    assert_int_equal(redlock_sync_close(client, 1000), 0);
    redlock_sync_free(client);
    assert_int_equal(NOW, now);
}

static void ask_in_run(redlock *redlock, void *data)
{
    (void)redlock;
    ask_in_vain(data);
}

static void on_event_ask(redlock_lease *lease, const redlock_event *event, void *data)
{
    (void)lease;
    if (event->kind == REDLOCK_ACQUIRED)
        ask_in_vain(data);
}

VIRTUAL(a_callback_cannot_wait)
{
    redlock_sync *client = open_client();
    redlock *loop;
    redlock_lease *lease;
    redlock_sync_lease *later;
    redlock_options options = {.size = sizeof options, .nodes = "memory://5"};
    assert_int_equal(redlock_sync_run(client, ask_in_run, client), REDLOCK_OK);
    assert_int_equal(redlock_open(&loop, NULL, &options, NULL, 0), REDLOCK_OK);
    assert_int_equal(redlock_acquire(loop, &lease, "name", NULL, on_event_ask, client), REDLOCK_OK);
    ADVANCE(0);
    assert_true(redlock_lease_valid_for(lease) > 0);
    redlock_free(loop);
    assert_int_equal(ask(client, &later, REDLOCK_FOREVER), REDLOCK_OK);
    redlock_sync_lease_free(later);
}

static void on_event_free(const redlock_event *event, void *data)
{
    struct heard *heard = data;
    if (event->kind == REDLOCK_LOST) {
        redlock_sync_lease_free(heard->lease);
        heard->kind = event->kind;
    }
}

VIRTUAL(a_callback_may_free_its_lease)
{
    struct heard heard = {0};
    redlock_lease_options hears = {.on_event = on_event_free, .data = &heard};
    assert_int_equal(ask_with(open_client(), &heard.lease, hears), REDLOCK_OK);
    redlock_testing_break("name");
    ADVANCE(TTL);
    assert_int_equal(heard.kind, REDLOCK_LOST);
}

struct visit {
    redlock_sync *client;
    redlock_sync_lease *lease;
};

static void *visit(void *data)
{
    struct visit *here = data;
    redlock_sync *client;
    redlock_sync_lease *lease;
    char why[256];
    redlock_options options = {.size = sizeof options, .nodes = "memory://5"};
    assert_int_equal(ask(here->client, &lease, 0), REDLOCK_E_STATE);
    assert_non_null(strstr(result.text, "belongs to the thread"));
    assert_int_equal(redlock_sync_open(&client, &options, why, sizeof why), REDLOCK_E_STATE);
    assert_non_null(strstr(why, "belongs to the thread"));
    assert_int_equal(redlock_testing_advance(0), REDLOCK_E_STATE);
    assert_non_null(strstr(redlock_testing_why(), "belongs to the thread"));
    assert_true(redlock_sync_lease_valid_for(here->lease) > 0);
    redlock_sync_lease_free(here->lease); /* does nothing */
    redlock_sync_free(here->client);
    return NULL;
}

VIRTUAL(another_thread_cannot_wait)
{
    pthread_t thread;
    struct visit here = {.client = open_client()};
    here.lease = acquire(here.client);
    assert_int_equal(pthread_create(&thread, NULL, visit, &here), 0);
    pthread_join(thread, NULL);
    assert_true(redlock_sync_lease_valid_for(here.lease) > 0);
    redlock_sync_lease_free(here.lease);
}

/* ---- each kind of call ---- */

VIRTUAL(leases_change)
{
    redlock_sync *client = open_client();
    redlock_sync_lease *lease, *same;
    redlock_lease_options shared = {.mode = REDLOCK_SHARED}, again = {.reentrant = true};
    assert_int_equal(ask_with(client, &lease, shared), REDLOCK_OK);
    assert_int_equal(redlock_sync_lease_exclusive_for(lease), 0);
    assert_int_equal(redlock_sync_lease_upgrade(lease, NULL), REDLOCK_OK);
    assert_true(redlock_sync_lease_exclusive_for(lease) > 0);
    assert_int_equal(redlock_sync_lease_downgrade(lease, NULL), REDLOCK_OK);
    assert_int_equal(redlock_sync_lease_extend(lease, 20000, NULL), REDLOCK_OK);
    assert_int_equal(redlock_sync_lease_valid_for(lease), 20000 - 20000 / 100 - 2);
    assert_int_equal(redlock_sync_lease_release(lease, NULL), REDLOCK_OK);
    redlock_sync_lease_free(lease);
    assert_int_equal(ask_with(client, &lease, again), REDLOCK_OK);
    assert_int_equal(ask_with(client, &same, again), REDLOCK_OK);
    assert_ptr_equal(same, lease);
    redlock_sync_lease_free(same);
    redlock_sync_lease_free(lease);
    assert_int_equal(NOW, 0);
}

VIRTUAL(a_leader_is_seen)
{
    redlock_sync *leads = open_client(), *looks = open_client();
    redlock_sync_lease *lease;
    redlock_leader leader = {.size = sizeof leader};
    char value[16];
    redlock_campaign_options options = {
        .size = sizeof options, .ttl_ms = TTL, .value = "one", .length = 3};
    assert_int_equal(redlock_sync_campaign(leads, &lease, "leader", &options, NULL), REDLOCK_OK);
    assert_int_equal(
        redlock_sync_leader_next(looks, "leader", 0, 5000, &leader, value, sizeof value, NULL),
        REDLOCK_OK);
    assert_memory_equal(value, "one", leader.length);
    assert_int_equal(NOW, 0);
    redlock_sync_lease_free(lease);
}

VIRTUAL(a_lease_goes_over_to_another_list)
{
    redlock_sync *client = open_list("memory://4");
    redlock_sync_lease *lease = acquire(client);
    redlock_options next = {.size = sizeof next, .nodes = "memory://5"};
    char why[256];
    if (redlock_sync_relist(client, &next, 60000, why, sizeof why) != REDLOCK_OK)
        fail_msg("%s", why);
    redlock_testing_kill(0);
    redlock_testing_kill(1);
    ADVANCE(10 * TTL);
    assert_true(redlock_sync_lease_valid_for(lease) > 0);
    next.nodes = "memory://2";
    assert_int_equal(redlock_sync_relist(client, &next, 60000, why, sizeof why), REDLOCK_E_DIFFERS);
    redlock_sync_lease_free(lease);
}

VIRTUAL(a_lease_outlives_its_client)
{
    redlock_sync *client = open_client();
    redlock_sync_lease *lease = acquire(client);
    open_count--;
    redlock_sync_close(client, 1000);
    redlock_sync_free(client);
    assert_int_equal(redlock_sync_lease_valid_for(lease), 0);
    assert_int_equal(redlock_testing_begin(REDLOCK_TESTING_VIRTUAL), REDLOCK_OK);
    redlock_sync_lease_free(lease);
}

PROGRAM_OF_CASES(NULL, NULL)
