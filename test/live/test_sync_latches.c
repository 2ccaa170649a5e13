/*
 * Latches for threads that wait.
 */
#include <pthread.h>

#include <redlock/recipes.h>

#include "fixture.h"
#include "sync_user.h"

#define MASTERS 5
#define MANY    8

CASE(test_each_call)
{
    redlock_latch_result tally = {.size = sizeof tally};
    redlock_sync_result result = {.size = sizeof result};
    redlock_latch_options options = {.size = sizeof options};
    redlock_sync *client = open_on(&cluster);
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
    redlock_sync_close(client, 5000);
    redlock_sync_free(client);
}

CASE(test_a_result_of_unknown_size_is_refused)
{
    redlock_latch_result tally = {.size = 0, .arrivals = 7};
    redlock_sync_result result = {.size = sizeof result};
    redlock_latch_options options = {.size = sizeof options, .arrivals = 1};
    redlock_sync *client = open_on(&cluster);
    assert_code(redlock_sync_latch_create(client, "sized", &options, &tally, &result),
                REDLOCK_E_ARGUMENT);
    assert_says(result.text, "redlock_latch_result.size is 0");
    assert_int_equal(tally.arrivals, 7);
    assert_int_equal(cluster_count(&cluster, 0, "EXISTS redlock:latch:sized"), 0);
    redlock_sync_close(client, 5000);
    redlock_sync_free(client);
}

struct worker {
    pthread_t thread;
    redlock_sync *client;
    redlock_code code;
    bool open;
};

static void *arrive_and_wait(void *data)
{
    struct worker *worker = data;
    redlock_latch_result tally = {.size = sizeof tally};
    worker->code = redlock_sync_latch_arrive(worker->client, "many", NULL, NULL, NULL);
    if (!worker->code)
        worker->code = redlock_sync_latch_await(worker->client, "many", NULL, &tally, NULL);
    worker->open = tally.open;
    return NULL;
}

CASE(test_threads_wait_for_each_other)
{
    struct worker workers[MANY] = {{0}};
    redlock_latch_options options = {.size = sizeof options};
    redlock_sync *client = open_on(&cluster);
    options.arrivals = MANY;
    assert_code(redlock_sync_latch_create(client, "many", &options, NULL, NULL), REDLOCK_OK);
    for (unsigned i = 0; i < MANY; i++) {
        workers[i].client = client;
        assert_int_equal(pthread_create(&workers[i].thread, NULL, arrive_and_wait, &workers[i]), 0);
    }
    for (unsigned i = 0; i < MANY; i++) {
        pthread_join(workers[i].thread, NULL);
        assert_code(workers[i].code, REDLOCK_OK);
        assert_true(workers[i].open);
    }
    redlock_sync_close(client, 5000);
    redlock_sync_free(client);
}

PROGRAM(.masters = MASTERS)
