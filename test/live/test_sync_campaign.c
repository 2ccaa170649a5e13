/*
 * Threads that stand for leader, and threads that wait for the next one.
 * rule: E1
 */
#include "fixture.h"
#include "sync_user.h"

#define MASTERS 5
#define TTL     6000
#define BRIEF   200 /* ms */

static redlock_campaign_options campaign(const char *value, int64_t timeout_ms)
{
    return (redlock_campaign_options){.size = sizeof(redlock_campaign_options),
                                      .ttl_ms = TTL,
                                      .timeout_ms = timeout_ms,
                                      .value = value,
                                      .length = value ? strlen(value) : 0};
}

/* ---- the acts of a thread, and the outcomes ---- */

/* With the value that is the call's data. */
static redlock_code stand(struct call *call)
{
    redlock_campaign_options options = campaign(call->data, 0);
    return redlock_sync_campaign(client, &call->lease, "name", &options, NULL);
}

static void begin_stand(struct call *candidate, const char *value)
{
    *candidate = (struct call){.act = stand, .data = value};
    call_begin(candidate);
}

static redlock_sync_lease *lead(const char *value)
{
    struct call candidate = {.data = value};
    assert_code(stand(&candidate), REDLOCK_OK);
    assert_true(redlock_sync_lease_valid_for(candidate.lease) > 0);
    return candidate.lease;
}

struct follower {
    struct call call;
    int64_t after_term, timeout_ms;
    redlock_leader leader;
    char value[16];
    redlock_sync_result result;
    redlock_code code;
};

static redlock_code follow(struct follower *it)
{
    return it->code =
               redlock_sync_leader_next(client, "name", it->after_term, it->timeout_ms, &it->leader,
                                        it->value, sizeof it->value, &it->result);
}

/* The call is the first field of its follower. */
static redlock_code follow_by(struct call *call)
{
    return follow((struct follower *)(void *)call);
}

static struct follower follower(int64_t after_term, int64_t timeout_ms)
{
    return (struct follower){.after_term = after_term,
                             .timeout_ms = timeout_ms,
                             .leader = {.size = sizeof(redlock_leader)},
                             .result = {.size = sizeof(redlock_sync_result)}};
}

static void begin_follow(struct follower *it, int64_t after_term)
{
    *it = follower(after_term, 0);
    it->call.act = follow_by;
    call_begin(&it->call);
}

static void heard_value(const struct follower *it, const char *value)
{
    assert_int_equal(it->leader.length, strlen(value));
    assert_memory_equal(it->value, value, strlen(value));
}

static void heard(const struct follower *it, const redlock_sync_lease *lease, const char *value)
{
    assert_code(it->code, REDLOCK_OK);
    assert_code(it->leader.code, REDLOCK_OK);
    assert_true(it->leader.term == redlock_sync_lease_fence(lease));
    heard_value(it, value);
    assert_ptr_equal(it->leader.value, it->value);
    assert_string_equal(it->leader.text, "");
}

static bool is_observed(const char *name)
{
    for (unsigned i = 0; i < MASTERS; i++)
        if (cluster_count(&cluster, i, "ZCARD redlock:observers:%s", name) != 1)
            return false;
    return true;
}

/* ---- leading ---- */

WITH_CLEAN_CLIENT(a_thread_leads_and_is_found)
{
    struct follower any = follower(0, 0);
    redlock_sync_lease *lease = lead("blue");
    follow(&any);
    heard(&any, lease, "blue");
    assert_code(redlock_sync_lease_announce(lease, "green", 5, NULL), REDLOCK_OK);
    give_back(lease);
}

WITH_CLEAN_CLIENT(a_thread_leads_in_silence)
{
    redlock_sync_lease *lease;
    redlock_sync_result result = {.size = sizeof result};
    assert_code(redlock_sync_campaign(client, &lease, "name", NULL, &result), REDLOCK_OK);
    assert_true(redlock_sync_lease_fence(lease) > 0);
    assert_true(result.granted >= MASTERS / 2 + 1);
    struct follower none = follower(0, REDLOCK_ZERO);
    follow(&none);
    assert_code(none.code, REDLOCK_E_UNAVAILABLE);
    assert_code(none.leader.code, REDLOCK_OK);
    assert_true(none.leader.term == 0);
    give_back(lease);
}

WITH_CLEAN_CLIENT(the_next_one_leads_when_the_first_resigns)
{
    struct call next;
    struct follower follower;
    redlock_sync_lease *first = lead("first");
    int64_t term = redlock_sync_lease_fence(first);
    begin_follow(&follower, term);
    begin_stand(&next, "next");
    AWAIT(stats_now(client).waiting == 1 && is_observed("name"));
    give_back(first);
    assert_code(call_end(&next), REDLOCK_OK);
    call_end(&follower.call);
    assert_true(redlock_sync_lease_fence(next.lease) > term);
    heard(&follower, next.lease, "next");
    give_back(next.lease);
}

/* ---- the end of a wait ---- */

WITH_CLEAN_CLIENT(the_time_is_over)
{
    redlock_sync_lease *lease = lead("here"), *none = lease;
    redlock_campaign_options brief = campaign(NULL, BRIEF);
    assert_code(redlock_sync_campaign(client, &none, "name", &brief, NULL), REDLOCK_E_HELD);
    assert_null(none);
    brief.timeout_ms = REDLOCK_ZERO;
    assert_code(redlock_sync_campaign(client, &none, "name", &brief, NULL), REDLOCK_E_HELD);
    struct follower late = follower(redlock_sync_lease_fence(lease), BRIEF);
    AWAIT(redlock_sync_leader_get(client, "name", &late.leader, NULL, 0, NULL) == REDLOCK_OK &&
          late.leader.term);
    int64_t began = now_us();
    follow(&late);
    assert_true(now_us() - began >= BRIEF * MS_US);
    assert_code(late.code, REDLOCK_E_UNAVAILABLE);
    assert_code(late.leader.code, REDLOCK_OK);
    assert_true(late.leader.term == late.after_term);
    heard_value(&late, "here");
    assert_says(late.result.text, "no leader with a later term");
    give_back(lease);
}

/* As often as it may, the report and the end of the time come at once. */
WITH_CLEAN_CLIENT(the_time_is_over_as_the_report_comes)
{
    redlock_sync_lease *lease = lead("here");
    for (int64_t ms = 1; ms < 20; ms++) {
        struct follower follower_ = follower(0, ms % 4 + 1);
        follow(&follower_);
        if (follower_.code)
            assert_code(follower_.code, REDLOCK_E_UNAVAILABLE);
        else
            heard(&follower_, lease, "here");
    }
    give_back(lease);
}

WITH_CLIENT(closing_ends_the_waits)
{
    struct call candidate;
    struct follower follower;
    redlock_sync_lease *lease = lead("first");
    begin_follow(&follower, redlock_sync_lease_fence(lease));
    begin_stand(&candidate, "next");
    AWAIT(stats_now(client).waiting == 1 && is_observed("name"));
    redlock_sync_close(client, 5000);
    assert_code(call_end(&candidate), REDLOCK_E_CLOSED);
    assert_null(candidate.lease);
    assert_code(call_end(&follower.call), REDLOCK_E_CLOSED);
    assert_code(follower.result.code, REDLOCK_E_CLOSED);
    redlock_sync_lease_free(lease);
}

WITH_CLEAN_CLIENT(cancelling_ends_a_campaign_alone)
{
    struct call candidate;
    struct follower follower;
    redlock_sync_lease *lease = lead("first");
    int64_t term = redlock_sync_lease_fence(lease);
    begin_follow(&follower, term);
    begin_stand(&candidate, "next");
    AWAIT(stats_now(client).waiting == 1 && is_observed("name"));
    assert_int_equal(redlock_sync_cancel(client, NULL), 1);
    assert_code(call_end(&candidate), REDLOCK_E_CANCELLED);
    assert_null(candidate.lease);
    give_back(lease);
    lease = lead("next");
    call_end(&follower.call);
    heard(&follower, lease, "next");
    give_back(lease);
}

static void stand_and_follow(redlock *redlock, void *data)
{
    struct follower *inside = data;
    struct call candidate = {.data = "inside"};
    (void)redlock;
    assert_code(stand(&candidate), REDLOCK_E_STATE);
    assert_null(candidate.lease);
    follow(inside);
}

WITH_CLEAN_CLIENT(a_callback_cannot_wait)
{
    struct follower inside = follower(0, 0);
    assert_code(redlock_sync_run(client, stand_and_follow, &inside), REDLOCK_OK);
    assert_code(inside.code, REDLOCK_E_STATE);
    assert_says(inside.result.text, "a callback cannot wait");
}

CASE(masters_that_are_away)
{
    struct cluster own;
    redlock_leader leader = {.size = sizeof leader};
    redlock_sync_lease *lease;
    redlock_campaign_options brief = campaign("x", BRIEF);
    cluster_start(&own, 3, "");
    redlock_sync *alone = open_on(&own);
    cluster_do(&own, "kill 1");
    cluster_do(&own, "kill 2");
    assert_code(redlock_sync_campaign(alone, &lease, "name", &brief, NULL), REDLOCK_E_UNAVAILABLE);
    assert_code(redlock_sync_leader_next(alone, "name", 0, BRIEF, &leader, NULL, 0, NULL),
                REDLOCK_E_UNAVAILABLE);
    assert_code(leader.code, REDLOCK_E_UNAVAILABLE);
    redlock_sync_close(alone, 0);
    redlock_sync_free(alone);
    cluster_stop(&own);
}

/* ---- refusals ---- */

static void campaign_refused(const redlock_campaign_options *options, const char *says)
{
    redlock_sync_lease *lease = NULL;
    redlock_sync_result result = {.size = sizeof result};
    assert_code(redlock_sync_campaign(client, &lease, "name", options, &result),
                REDLOCK_E_ARGUMENT);
    assert_null(lease);
    assert_says(result.text, says);
}

WITH_CLEAN_CLIENT(options_that_are_refused)
{
    static const char long_value[REDLOCK_VALUE_MAX + 1];
    redlock_campaign_options options = campaign("x", 0);
    options.size--;
    campaign_refused(&options, "redlock_campaign_options.size is ");
    options = campaign("x", -2);
    campaign_refused(&options, "timeout_ms is -2");
    options = campaign("x", 0);
    memset(&options.once, 2, sizeof options.once);
    campaign_refused(&options, "once");
    options = campaign("x", 0);
    options.value = long_value;
    options.length = sizeof long_value;
    campaign_refused(&options, "a value is 0 to 65536 bytes long");
    options = campaign("x", 0);
    assert_code(redlock_sync_campaign(client, NULL, "name", &options, NULL), REDLOCK_E_ARGUMENT);
    redlock_sync_lease *lease;
    assert_code(redlock_sync_campaign(client, &lease, "", &options, NULL), REDLOCK_E_NAME);
    options.ttl_ms = 30001;
    assert_code(redlock_sync_campaign(client, &lease, "name", &options, NULL), REDLOCK_E_TTL);
}

WITH_CLEAN_CLIENT(waits_that_are_refused)
{
    struct follower bad = follower(-1, 0);
    follow(&bad);
    assert_code(bad.code, REDLOCK_E_ARGUMENT);
    assert_says(bad.result.text, "after_term is negative");
    bad = follower(0, -2);
    follow(&bad);
    assert_code(bad.code, REDLOCK_E_ARGUMENT);
    assert_says(bad.result.text, "timeout_ms is -2");
    bad = follower(0, 0);
    bad.leader = (redlock_leader){.size = sizeof bad.leader - 1, .term = 7};
    follow(&bad);
    assert_code(bad.code, REDLOCK_E_ARGUMENT);
    assert_says(bad.result.text, "redlock_leader.size is ");
    assert_true(bad.leader.term == 7);
    assert_code(redlock_sync_leader_next(client, "name", 0, 0, NULL, NULL, 0, NULL),
                REDLOCK_E_ARGUMENT);
}

PROGRAM(.masters = MASTERS, .fenced = true)
