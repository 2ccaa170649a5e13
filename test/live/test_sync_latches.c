/*
 * Latches for threads that wait.
 */
#include "fixture.h"
#include "sync_user.h"

#define MASTERS 5
#define MANY    8

WITH_CLIENT(test_each_call)
{
    redlock_latch_result tally = {.size = sizeof tally};
    redlock_sync_result result = {.size = sizeof result};
    redlock_latch_options options = {.size = sizeof options};
    options.timeout_ms = REDLOCK_ZERO;
    assert_code(redlock_sync_latch_await(client, "latch", &options, &tally, &result),
                REDLOCK_E_GONE);
    assert_says(result.text, "the name has no such latch");
    options.arrivals = 1;
    assert_code(redlock_sync_latch_create(client, "latch", &options, NULL, NULL), REDLOCK_OK);
    assert_code(redlock_sync_latch_await(client, "latch", &options, &tally, &result),
                REDLOCK_E_NOT_OPEN);
    assert_code(redlock_sync_latch_arrive(client, "latch", &options, &tally, NULL), REDLOCK_OK);
    assert_true(tally.open);
    assert_code(redlock_sync_latch_await(client, "latch", &options, &tally, NULL), REDLOCK_OK);
    assert_code(redlock_sync_latch_count(client, "latch", NULL, &tally, NULL), REDLOCK_OK);
    assert_int_equal(tally.arrived, 1);
    assert_code(redlock_sync_latch_create(client, "", &options, NULL, NULL), REDLOCK_E_NAME);
    assert_code(redlock_sync_latch_count(NULL, "latch", NULL, NULL, NULL), REDLOCK_E_ARGUMENT);
}

WITH_CLIENT(test_a_result_of_unknown_size_is_refused)
{
    redlock_latch_result tally = {.size = 0, .arrivals = 7};
    redlock_sync_result result = {.size = sizeof result};
    redlock_latch_options options = {.size = sizeof options, .arrivals = 1};
    assert_code(redlock_sync_latch_create(client, "sized", &options, &tally, &result),
                REDLOCK_E_ARGUMENT);
    assert_says(result.text, "redlock_latch_result.size is 0");
    assert_int_equal(tally.arrivals, 7);
    assert_int_equal(cluster_count(&cluster, 0, "EXISTS redlock:latch:sized"), 0);
}

static redlock_code arrive_and_wait(struct call *call)
{
    redlock_code code = redlock_sync_latch_arrive(call->client, call->name, NULL, NULL, NULL);
    return code ? code : await_latch(call);
}

WITH_CLIENT(test_threads_wait_for_each_other)
{
    struct call workers[MANY];
    redlock_latch_options options = {.size = sizeof options, .arrivals = MANY};
    assert_code(redlock_sync_latch_create(client, "many", &options, NULL, NULL), REDLOCK_OK);
    calls_begin(workers, MANY,
                &(struct call){.act = arrive_and_wait, .client = client, .name = "many"});
    calls_end(workers, MANY);
    for (unsigned i = 0; i < MANY; i++)
        assert_true(workers[i].tally.open);
}

PROGRAM(.masters = MASTERS)
