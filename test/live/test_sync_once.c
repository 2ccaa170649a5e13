/*
 * Work that is done once per key, for threads that wait.
 */
#include <pthread.h>

#include <redlock/recipes.h>

#include "fixture.h"
#include "sync_user.h"

#define MASTERS 5
#define TTL     6000
#define MANY    8

static redlock_once_options key(const char *word)
{
    return (redlock_once_options){.size = sizeof(redlock_once_options), .key = word};
}

WITH_CLIENT(each_call)
{
    redlock_latch_result record = {.size = sizeof record};
    redlock_sync_result result = {.size = sizeof result};
    redlock_once_options options = key("each");
    redlock_lease_options held = terms(TTL, 0);
    redlock_sync_lease *lease = take(client, "name", &held);
    assert_code(redlock_sync_once_look(lease, &options, &record, &result), REDLOCK_OK);
    assert_false(record.open);
    assert_code(redlock_sync_once_record(lease, &options, NULL, &result), REDLOCK_E_ARGUMENT);
    assert_says(result.text, "options.note has 1 to 64 bytes");
    options.note = "me@noon";
    assert_code(redlock_sync_once_record(lease, &options, &record, &result), REDLOCK_OK);
    assert_true(record.open);
    options.note = NULL;
    memset(&record, 0, sizeof record);
    record.size = sizeof record;
    assert_code(redlock_sync_once_look(lease, &options, &record, NULL), REDLOCK_OK);
    assert_true(record.open);
    assert_string_equal(record.who, "me@noon");
    give_back(lease);
}

WITH_CLIENT(what_is_refused)
{
    redlock_latch_result record = {.size = 1};
    redlock_sync_result result = {.size = sizeof result};
    redlock_once_options options = key("refused");
    redlock_lease_options held = terms(TTL, 0);
    redlock_sync_lease *lease = take(client, "name", &held);
    assert_code(redlock_sync_once_look(lease, &options, &record, &result), REDLOCK_E_ARGUMENT);
    assert_says(result.text, "redlock_latch_result.size is 1");
    assert_code(redlock_sync_once_look(NULL, &options, NULL, NULL), REDLOCK_E_ARGUMENT);
    assert_code(redlock_sync_lease_release(lease, NULL), REDLOCK_OK);
    assert_code(redlock_sync_once_look(lease, &options, NULL, &result), REDLOCK_E_STATE);
    assert_says(result.text, "held exclusively");
    redlock_sync_lease_free(lease);
}

struct worker {
    pthread_t thread;
    unsigned *works; /* under the lock alone */
    redlock_code code;
};

static void *work_once(void *data)
{
    struct worker *worker = data;
    redlock_sync_lease *lease;
    redlock_latch_result record = {.size = sizeof record};
    redlock_once_options options = key("many");
    redlock_lease_options held = terms(TTL, REDLOCK_FOREVER);
    worker->code = redlock_sync_acquire(client, &lease, "name", &held, NULL);
    if (worker->code)
        return NULL;
    worker->code = redlock_sync_once_look(lease, &options, &record, NULL);
    if (!worker->code && !record.open) {
        ++*worker->works;
        options.note = "worker";
        worker->code = redlock_sync_once_record(lease, &options, NULL, NULL);
    }
    redlock_sync_lease_free(lease);
    return NULL;
}

WITH_CLIENT(one_of_many_threads_works)
{
    struct worker workers[MANY] = {{0}};
    unsigned works = 0;
    for (unsigned i = 0; i < MANY; i++) {
        workers[i].works = &works;
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work_once, &workers[i]), 0);
    }
    for (unsigned i = 0; i < MANY; i++) {
        assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
        assert_code(workers[i].code, REDLOCK_OK);
    }
    assert_int_equal(works, 1);
}

struct closer {
    pthread_t thread;
    redlock_sync *client;
};

static void *close_it(void *data)
{
    struct closer *closer = data;
    redlock_sync_close(closer->client, 0);
    return NULL;
}

/* A look that is under way may end first. */
CASE(a_close_ends_the_call)
{
    redlock_sync *brief = open_on(&cluster);
    struct closer closer = {.client = brief};
    redlock_once_options options = key("closed");
    redlock_lease_options held = terms(TTL, 0);
    redlock_sync_lease *lease = take(brief, "closed", &held);
    assert_int_equal(pthread_create(&closer.thread, NULL, close_it, &closer), 0);
    redlock_code code;
    do
        code = redlock_sync_once_look(lease, &options, NULL, NULL);
    while (code == REDLOCK_OK);
    assert_true(code == REDLOCK_E_CLOSED || code == REDLOCK_E_STATE);
    assert_int_equal(pthread_join(closer.thread, NULL), 0);
    redlock_sync_lease_free(lease);
    redlock_sync_free(brief);
}

PROGRAM(.masters = MASTERS)
