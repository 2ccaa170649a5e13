/*
 * Options of elections, barriers and latches: the library refuses wrong ones with a sentence, and
 * follows no pointer of a refused struct.
 */
#include <redlock/recipes.h>
#include <stdlib.h>

#include "asserts.h"
#include "fixture.h"
#include "user.h"

static void on_term(redlock_campaign *candidate, const redlock_event *event, void *data)
{
    (void)candidate, (void)event, (void)data;
}

static void on_passage(redlock_barrier *party, const redlock_barrier_result *passage, void *data)
{
    (void)party, (void)passage, (void)data;
}

static void on_tally(redlock_latch *latch, const redlock_latch_result *tally, void *data)
{
    (void)latch, (void)tally, (void)data;
}

static redlock_code campaign(const redlock_campaign_options *options)
{
    redlock_campaign *candidate;
    redlock_code code =
        redlock_campaign_begin(user.client, &candidate, "name", options, on_term, NULL);
    assert_true(code == REDLOCK_OK || !candidate);
    redlock_campaign_free(candidate);
    return code;
}

static redlock_code barrier(const redlock_barrier_options *options)
{
    redlock_barrier *party;
    redlock_code code =
        redlock_barrier_arrive(user.client, &party, "name", options, on_passage, NULL);
    assert_true(code == REDLOCK_OK || !party);
    redlock_barrier_free(party);
    return code;
}

typedef redlock_code latch_function(redlock *client, redlock_latch **latch, const char *name,
                                    const redlock_latch_options *options,
                                    redlock_latch_callback *callback, void *data);

static redlock_code latch(latch_function *function, const redlock_latch_options *options)
{
    redlock_latch *call;
    redlock_code code = function(user.client, &call, "name", options, on_tally, NULL);
    assert_true(code == REDLOCK_OK || !call);
    redlock_latch_free(call);
    return code;
}

static void is_refused(redlock_code code, const char *says)
{
    assert_code(code, REDLOCK_E_ARGUMENT);
    assert_says(redlock_last_error(user.client), says);
}

static void has_size(redlock_code code, const char *name, size_t size, size_t known)
{
    char says[128];
    snprintf(says, sizeof says, "%s.size is %zu, and not %zu", name, size, known);
    is_refused(code, says);
}

/* ---- sizes, and numbers out of their range ---- */

CASE(a_campaign)
{
    redlock_campaign_options options = {.size = sizeof options - 1};
    has_size(campaign(&options), "redlock_campaign_options", options.size, sizeof options);
    options.size = sizeof options + 8;
    has_size(campaign(&options), "redlock_campaign_options", options.size, sizeof options);
    options = (redlock_campaign_options){.size = sizeof options, .timeout_ms = -2};
    is_refused(campaign(&options), "timeout_ms is -2");
    options = (redlock_campaign_options){.size = sizeof options};
    memset(&options.once, 2, sizeof options.once);
    is_refused(campaign(&options), "once");
    options = (redlock_campaign_options){.size = sizeof options, .length = 1};
    is_refused(campaign(&options), "a value is 0 to 65536 bytes long");
    options = (redlock_campaign_options){.size = sizeof options, .ttl_ms = 30001};
    assert_code(campaign(&options), REDLOCK_E_TTL);
    options.ttl_ms = REDLOCK_ZERO;
    assert_code(campaign(&options), REDLOCK_E_TTL);
    options.ttl_ms = options.margin_ms = 10000;
    assert_code(campaign(&options), REDLOCK_E_TTL);
    options = (redlock_campaign_options){
        .size = sizeof options, .value = "x", .length = REDLOCK_VALUE_MAX + 1};
    is_refused(campaign(&options), "a value is 0 to 65536 bytes long");
}

static void on_leader(redlock_observer *observer, const redlock_leader *leader, void *data)
{
    (void)observer, (void)leader, (void)data;
}

CASE(an_observer)
{
    redlock_observer *observer;
    assert_code(redlock_observer_begin(user.client, &observer, "", on_leader, NULL),
                REDLOCK_E_NAME);
    assert_code(redlock_observer_begin(user.client, &observer, "redlock:x", on_leader, NULL),
                REDLOCK_E_NAME);
    assert_code(redlock_observer_begin(user.client, &observer, "name", NULL, NULL),
                REDLOCK_E_ARGUMENT);
    assert_null(observer);
}

CASE(a_barrier)
{
    redlock_barrier_options options = {.size = sizeof options - 1, .parties = 2};
    has_size(barrier(&options), "redlock_barrier_options", options.size, sizeof options);
    is_refused(barrier(NULL), "parties");
    options = (redlock_barrier_options){.size = sizeof options};
    is_refused(barrier(&options), "1 to 256 parties, not 0");
    options.parties = 2;
    options.timeout_ms = INT64_MIN;
    is_refused(barrier(&options), "timeout_ms is -9223372036854775808");
    options.timeout_ms = 0;
    options.ttl_ms = -1;
    assert_code(barrier(&options), REDLOCK_E_TTL);
    options.ttl_ms = 0;
    assert_code(barrier(&options), REDLOCK_OK);
}

CASE(a_latch)
{
    redlock_latch_options options = {.size = sizeof options - 1, .arrivals = 2};
    has_size(latch(redlock_latch_create, &options), "redlock_latch_options", options.size,
             sizeof options);
    options = (redlock_latch_options){.size = sizeof options};
    is_refused(latch(redlock_latch_create, &options), "1 to 1000 arrivals, not 0");
    assert_code(latch(redlock_latch_await, &options), REDLOCK_OK);
    options.arrivals = 1001;
    is_refused(latch(redlock_latch_await, &options), "1 to 1000 arrivals, not 1001");
    options.arrivals = 2;
    options.life_ms = 999;
    is_refused(latch(redlock_latch_count, &options), "1 s to 30 days");
    options.life_ms = 0;
    options.timeout_ms = -2;
    is_refused(latch(redlock_latch_arrive, &options), "timeout_ms is -2");
}

/* ---- structs that nobody has set to 0 ---- */

#define TIMES 1000

static void fill(void *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        ((unsigned char *)bytes)[i] = (unsigned char)rand();
}

CASE(left_over_bytes_are_refused)
{
    redlock_campaign_options term;
    redlock_barrier_options meeting;
    redlock_latch_options made;
    srand(1);
    for (int i = 0; i < TIMES; i++) {
        fill(&term, sizeof term);
        term.size = sizeof term;
        term.value = "value";
        term.length = 5;
        assert_int_not_equal(campaign(&term), REDLOCK_OK);
        fill(&meeting, sizeof meeting);
        meeting.size = sizeof meeting;
        meeting.parties = 2;
        meeting.generation = 1;
        assert_int_not_equal(barrier(&meeting), REDLOCK_OK);
        fill(&made, sizeof made);
        made.size = sizeof made;
        assert_int_not_equal(latch(redlock_latch_await, &made), REDLOCK_OK);
        made.arrivals = 2;
        assert_int_not_equal(latch(redlock_latch_create, &made), REDLOCK_OK);
    }
}

PROGRAM(.masters = 3, .has_user = true)
