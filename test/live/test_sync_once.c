/*
 * Work that is done once per key, for threads that wait.
 */
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

static unsigned works; /* under the lock alone */

static redlock_code work_once(struct call *call)
{
    redlock_latch_result record = {.size = sizeof record};
    redlock_once_options options = key("many");
    redlock_lease_options held = terms(TTL, REDLOCK_FOREVER);
    redlock_code code = redlock_sync_acquire(client, &call->lease, "name", &held, NULL);
    if (code)
        return code;
    code = redlock_sync_once_look(call->lease, &options, &record, NULL);
    if (!code && !record.open) {
        works++;
        options.note = "worker";
        code = redlock_sync_once_record(call->lease, &options, NULL, NULL);
    }
    redlock_sync_lease_free(call->lease);
    return code;
}

WITH_CLIENT(one_of_many_threads_works)
{
    struct call workers[MANY];
    calls_begin(workers, MANY, &(struct call){.act = work_once});
    calls_end(workers, MANY);
    assert_int_equal(works, 1);
}

/* A look that is under way may end first. */
CASE(a_close_ends_the_call)
{
    redlock_sync *brief = open_on(&cluster);
    struct call closes = {.act = close_it, .client = brief};
    redlock_once_options options = key("closed");
    redlock_lease_options held = terms(TTL, 0);
    redlock_sync_lease *lease = take(brief, "closed", &held);
    call_begin(&closes);
    redlock_code code;
    do
        code = redlock_sync_once_look(lease, &options, NULL, NULL);
    while (code == REDLOCK_OK);
    assert_true(code == REDLOCK_E_CLOSED || code == REDLOCK_E_STATE);
    call_end(&closes);
    redlock_sync_lease_free(lease);
    redlock_sync_free(brief);
}

PROGRAM(.masters = MASTERS)
