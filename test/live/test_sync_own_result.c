/*
 * The arguments of a blocking call may lie in its result: a caller that asks again passes the
 * names, tokens and ids of its former results.
 */

#include <redlock/recipes.h>

#include "fixture.h"
#include "sync_user.h"

static redlock_sync_result result;

static int open_one(void **state)
{
    result = (redlock_sync_result){.size = sizeof(redlock_sync_result)};
    return client_open(state);
}

static const char *in_text(const char *what)
{
    snprintf(result.text, sizeof result.text, "%s", what);
    return result.text;
}

static const char *in_votes(const char *what)
{
    snprintf(result.votes, sizeof result.votes, "%s", what);
    return result.votes;
}

static void is_held(const char *name)
{
    assert_true(cluster_holders(&cluster, name, NULL) >= 2);
}

#define TEST(name) CASE_WITH(name, open_one, client_close)

TEST(test_acquire)
{
    redlock_sync_lease *lease, *again;
    redlock_lease_options options = terms(10000, 0);
    assert_code(redlock_sync_acquire(client, &lease, in_text("one"), &options, &result),
                REDLOCK_OK);
    is_held("one");
    give_back(lease);
    options.reentrant = true;
    assert_code(redlock_sync_acquire(client, &lease, in_votes("two"), &options, &result),
                REDLOCK_OK);
    is_held("two");
    assert_code(redlock_sync_acquire(client, &again, in_text("two"), &options, &result),
                REDLOCK_OK);
    assert_ptr_equal(again, lease);
    give_back(again);
    give_back(lease);
}

TEST(test_acquire_names)
{
    redlock_sync_lease *lease;
    redlock_lease_options options = terms(10000, 0);
    redlock_name names[] = {{.size = sizeof(redlock_name), .bytes = in_text("three"), .length = 5},
                            {.size = sizeof(redlock_name), .bytes = in_votes("four"), .length = 4}};
    assert_code(redlock_sync_acquire_names(client, &lease, names, 2, &options, &result),
                REDLOCK_OK);
    is_held("three");
    is_held("four");
    give_back(lease);
}

TEST(test_announce_and_leader)
{
    redlock_leader leader = {.size = sizeof leader};
    char value[16] = "leads";
    redlock_lease_options options = terms(10000, 0);
    options.fence = true;
    redlock_sync_lease *lease = take(client, "leads", &options);
    assert_code(redlock_sync_lease_announce(lease, in_votes("blue"), 4, &result), REDLOCK_OK);
    assert_code(redlock_sync_leader_get(client, value, &leader, value, sizeof value, &result),
                REDLOCK_OK);
    assert_int_equal(leader.length, 4);
    assert_memory_equal(value, "blue", 4);
    leader.value = in_text("leads");
    assert_code(redlock_sync_leader_get(client, leader.value, &leader, value, 4, &result),
                REDLOCK_OK);
    assert_true(leader.term == redlock_sync_lease_fence(lease));
    snprintf(value, sizeof value, "leads");
    assert_code(
        redlock_sync_leader_next(client, value, 0, 5000, &leader, value, sizeof value, &result),
        REDLOCK_OK);
    assert_memory_equal(value, "blue", 4);
    give_back(lease);
}

TEST(test_campaign)
{
    redlock_sync_lease *lease;
    redlock_leader leader = {.size = sizeof leader};
    char value[16];
    redlock_campaign_options options = {.size = sizeof options, .value = in_votes("green")};
    options.length = 5;
    assert_code(redlock_sync_campaign(client, &lease, in_text("campaign"), &options, &result),
                REDLOCK_OK);
    is_held("campaign");
    assert_true(result.granted >= 2);
    assert_code(
        redlock_sync_leader_next(client, "campaign", 0, 5000, &leader, value, sizeof value, NULL),
        REDLOCK_OK);
    assert_int_equal(leader.length, 5);
    assert_memory_equal(value, "green", 5);
    give_back(lease);
}

TEST(test_barrier)
{
    redlock_barrier_options options = {.size = sizeof options};
    redlock_barrier_result passage = {.size = sizeof passage, .token = "worker-1"};
    options.parties = 1;
    options.token = passage.token;
    for (int i = 0; i < 2; i++) {
        assert_code(
            redlock_sync_barrier_arrive(client, in_text("barrier"), &options, &passage, &result),
            REDLOCK_OK);
        assert_string_equal(passage.token, "worker-1");
    }
}

TEST(test_latch)
{
    redlock_latch_options options = {.size = sizeof options};
    redlock_latch_result tally = {.size = sizeof tally, .id = "latch"}, made;
    options.arrivals = 2;
    options.timeout_ms = 5000;
    assert_code(redlock_sync_latch_create(client, tally.id, &options, &tally, &result), REDLOCK_OK);
    made = tally;
    options.id = tally.id;
    snprintf(tally.arrival, sizeof tally.arrival, "first");
    options.arrival = tally.arrival;
    assert_code(redlock_sync_latch_arrive(client, in_text("latch"), &options, &tally, &result),
                REDLOCK_OK);
    assert_string_equal(tally.id, made.id);
    assert_string_equal(tally.arrival, "first");
    options.arrival = NULL;
    assert_code(redlock_sync_latch_count(client, in_votes("latch"), &options, &tally, &result),
                REDLOCK_OK);
    assert_int_equal(tally.arrived, 1);
    snprintf(tally.arrival, sizeof tally.arrival, "second");
    options.arrival = tally.arrival;
    assert_code(redlock_sync_latch_arrive(client, in_text("latch"), &options, &tally, &result),
                REDLOCK_OK);
    options.arrival = NULL;
    assert_code(redlock_sync_latch_await(client, in_text("latch"), &options, &tally, &result),
                REDLOCK_OK);
    assert_string_equal(tally.id, made.id);
    assert_true(tally.open);
}

PROGRAM(.masters = 3)
