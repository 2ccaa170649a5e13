/*
 * Barriers for threads that wait.
 */
#include <pthread.h>
#include <stdatomic.h>

#include <redlock/recipes.h>

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

struct walker {
    pthread_t thread;
    atomic_uint *arrived; /* by all threads, in each round */
    redlock_code code;
    bool early;
};

static void *walk(void *data)
{
    struct walker *walker = data;
    for (unsigned round = 0; round < ROUNDS && !walker->code; round++) {
        redlock_barrier_options options = barrier(MANY, round, 0);
        atomic_fetch_add(&walker->arrived[round], 1);
        walker->code = redlock_sync_barrier_arrive(client, "walk", &options, NULL, NULL);
        walker->early |= atomic_load(&walker->arrived[round]) < MANY;
    }
    return NULL;
}

WITH_CLIENT(test_threads_go_in_step)
{
    struct walker walkers[MANY] = {{0}};
    atomic_uint arrived[ROUNDS] = {0};
    for (unsigned i = 0; i < MANY; i++) {
        walkers[i].arrived = arrived;
        assert_int_equal(pthread_create(&walkers[i].thread, NULL, walk, &walkers[i]), 0);
    }
    for (unsigned i = 0; i < MANY; i++)
        pthread_join(walkers[i].thread, NULL);
    for (unsigned i = 0; i < MANY; i++) {
        assert_code(walkers[i].code, REDLOCK_OK);
        assert_false(walkers[i].early);
    }
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

struct waiting {
    pthread_t thread;
    redlock_barrier_result passage;
    redlock_code code;
};

static void *wait_for_ever(void *data)
{
    struct waiting *waiting = data;
    redlock_barrier_options options = barrier(2, 1, 0);
    waiting->code = redlock_sync_barrier_arrive(client, "gate", &options, &waiting->passage, NULL);
    return NULL;
}

WITH_CLIENT(test_closing_ends_it)
{
    struct waiting waiting = {.passage = {.size = sizeof waiting.passage}};
    assert_int_equal(pthread_create(&waiting.thread, NULL, wait_for_ever, &waiting), 0);
    AWAIT(cluster_count(&cluster, 0, "EXISTS redlock:barrier:1:gate") == 1);
    redlock_sync_close(client, 5000);
    pthread_join(waiting.thread, NULL);
    assert_code(waiting.code, REDLOCK_E_CLOSED);
    assert_false(waiting.passage.undecided);
}

PROGRAM(.masters = MASTERS)
