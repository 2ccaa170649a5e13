/*
 * Barriers for threads that wait.
 */
#include "fixture.h"
#include "sync_user.h"

#define MASTERS 5
#define MANY    8
#define ROUNDS  5

static redlock_barrier_options barrier(unsigned parties, int64_t generation, int64_t timeout_ms)
{
    redlock_barrier_options options = {.size = sizeof options};
    options.parties = parties;
    options.generation = generation;
    options.timeout_ms = timeout_ms;
    return options;
}

static atomic_uint arrived[ROUNDS]; /* threads */
static atomic_bool early;

static redlock_code walk(struct call *call)
{
    redlock_code code = REDLOCK_OK;
    for (unsigned round = 0; round < ROUNDS && !code; round++) {
        redlock_barrier_options options = barrier(MANY, round, 0);
        atomic_fetch_add(&arrived[round], 1);
        code = redlock_sync_barrier_arrive(client, call->name, &options, NULL, NULL);
        if (atomic_load(&arrived[round]) < MANY)
            early = true;
    }
    return code;
}

WITH_CLIENT(test_threads_go_in_step)
{
    struct call walkers[MANY];
    calls_begin(walkers, MANY, &(struct call){.act = walk, .name = "walk"});
    calls_end(walkers, MANY);
    assert_false(early);
}

WITH_CLIENT(test_who_waits_in_vain_leaves)
{
    redlock_barrier_result passage = {.size = sizeof passage};
    redlock_sync_result result = {.size = sizeof result};
    redlock_barrier_options options = barrier(2, 0, 200);
    assert_code(redlock_sync_barrier_arrive(client, "gate", &options, &passage, &result),
                REDLOCK_E_NOT_PASSED);
    assert_code(passage.code, REDLOCK_E_NOT_PASSED);
    assert_int_equal(passage.arrived, 1);
    assert_string_equal(result.text, "not passed: 1 of 2 parties arrived");
    assert_string_equal(passage.text, "");
}

WITH_CLIENT(test_what_is_refused)
{
    redlock_barrier_result passage = {.size = sizeof passage};
    redlock_barrier_options options = barrier(0, 0, REDLOCK_ZERO);
    redlock_sync_result result = {.size = sizeof result};
    assert_code(redlock_sync_barrier_arrive(client, "gate", &options, &passage, &result),
                REDLOCK_E_ARGUMENT);
    assert_non_null(strstr(result.text, "1 to 256 parties"));
    assert_code(redlock_sync_barrier_arrive(client, "gate", NULL, NULL, NULL), REDLOCK_E_ARGUMENT);
    options.parties = 1;
    assert_code(redlock_sync_barrier_arrive(client, "", &options, NULL, NULL), REDLOCK_E_NAME);
    assert_code(redlock_sync_barrier_arrive(NULL, "gate", &options, NULL, NULL),
                REDLOCK_E_ARGUMENT);
}

WITH_CLIENT(test_a_result_of_unknown_size_is_refused)
{
    redlock_barrier_result passage = {.size = sizeof passage - 1, .parties = 7};
    redlock_sync_result result = {.size = sizeof result};
    redlock_barrier_options options = barrier(1, 7, 0);
    assert_code(redlock_sync_barrier_arrive(client, "sized", &options, &passage, &result),
                REDLOCK_E_ARGUMENT);
    assert_says(result.text, "redlock_barrier_result.size is ");
    assert_int_equal(passage.parties, 7);
    assert_int_equal(cluster_count(&cluster, 0, "EXISTS redlock:barrier:7:sized"), 0);
}

WITH_CLIENT(test_closing_ends_it)
{
    struct call waiting = {.act = arrive, .client = client, .name = "closed"};
    call_begin(&waiting);
    AWAIT(cluster_count(&cluster, 0, "EXISTS redlock:barrier:0:closed") == 1);
    redlock_sync_close(client, 5000);
    assert_code(call_end(&waiting), REDLOCK_E_CLOSED);
    assert_false(waiting.passage.undecided);
}

PROGRAM(.masters = MASTERS)
