/*
 * Wishes for a name that a thread holds, and a break of its lock.
 * rule: H9
 */
#include <redlock/recipes.h>

#include "fixture.h"
#include "sync_user.h"

#define MASTERS 5

/* Two clients: one holds, the other one asks.  The lease is held for long. */
static redlock_sync *asks;
static redlock_sync_lease *held;
static redlock_wish wish;

static int hold(void **state)
{
    redlock_lease_options long_ttl = terms(29000, 0);
    client_open(state);
    redlock_options options = {.size = sizeof options, .label = "web-3"};
    options.nodes = cluster.nodes;
    options.connect_timeout_ms = options.request_timeout_ms = 5000;
    assert_code(redlock_sync_open(&asks, &options, NULL, 0), REDLOCK_OK);
    assert_code(redlock_sync_ready(asks, 10000, NULL, 0), REDLOCK_OK);
    held = take(client, "name", &long_ttl);
    wish = (redlock_wish){.size = sizeof wish};
    return 0;
}

static int end_hold(void **state)
{
    redlock_sync_lease_free(held);
    assert_int_equal(close_and_free(asks), 0);
    return client_close(state);
}

#define WITH_HELD(name) CASE_WITH(name, hold, end_hold)

static redlock_code look_for_wish(void)
{
    return redlock_sync_wanted(held, &wish, 0, NULL);
}

/* Returns the number of masters on which the holder heeds. */
static unsigned ask_for_it(const char *text)
{
    redlock_asked asked = {.size = sizeof asked};
    redlock_ask_options options = {.size = sizeof options, .text = text, .timeout_ms = 10000};
    assert_code(redlock_sync_ask(asks, "name", &options, &asked, NULL), REDLOCK_OK);
    return asked.heard;
}

/* A wish that comes while it begins to heed is left out. */
static void begin_to_heed(void)
{
    assert_code(look_for_wish(), REDLOCK_E_UNAVAILABLE);
    while (ask_for_it("are you there?") < 3)
        continue;
}

static void assert_hears(const char *text)
{
    ask_for_it(text);
    do
        assert_code(redlock_sync_wanted(held, &wish, 10000, NULL), REDLOCK_OK);
    while (strcmp(wish.text, text) != 0);
}

WITH_HELD(test_a_thread_hears_who_asks_and_why)
{
    redlock_sync_result result = {.size = sizeof result};
    assert_code(redlock_sync_wanted(held, &wish, 0, &result), REDLOCK_E_UNAVAILABLE);
    assert_string_equal(result.text, "nobody asks for it");
    assert_code(redlock_sync_wanted(held, &wish, 20, &result), REDLOCK_E_UNAVAILABLE);
    begin_to_heed();
    assert_code(redlock_sync_wanted(held, &wish, 10000, &result), REDLOCK_OK);
    assert_string_equal(result.text, "somebody asks for it");
    assert_hears("please");
    assert_string_equal(wish.who, "web-3");
    assert_int_equal(wish.waiting, 0);
    assert_code(look_for_wish(), REDLOCK_E_UNAVAILABLE);
    assert_true(redlock_sync_lease_valid_for(held) > 0);
}

/* Asks 20 times, with numbers from `first` on.  Returns how many of these are taken then, in the
 * order in which they came. */
static int take_the_last(int first)
{
    char text[16];
    for (int i = first; i < first + 20; i++) {
        snprintf(text, sizeof text, "%d", i);
        ask_for_it(text);
    }
    int last = first - 1, count = 0;
    while (last < first + 19 && redlock_sync_wanted(held, &wish, 10000, NULL) == REDLOCK_OK) {
        if (wish.text[0] == 'a' || atoi(wish.text) < first)
            continue;
        assert_true(atoi(wish.text) > last);
        last = atoi(wish.text);
        count++;
    }
    assert_int_equal(last, first + 19);
    return count;
}

/* A master may tell who heeds before it pushes wishes to the holder, who hears only of the last of
 * them then. */
WITH_HELD(test_the_last_wishes_are_kept)
{
    int next = 0;
    begin_to_heed();
    AWAIT(take_the_last(next += 20) >= 16);
}

/* The test may wait just then, for a moment. */
static redlock_code wait_for_wish(struct call *call)
{
    redlock_wish own = {.size = sizeof own};
    redlock_code code;
    do
        code = redlock_sync_wanted(call->lease, &own, REDLOCK_FOREVER, &call->result);
    while (code == REDLOCK_E_STATE);
    return code;
}

/* It waits: another thread may only look. */
static void begin_wait(struct call *call)
{
    *call = (struct call){.act = wait_for_wish, .lease = held};
    call->result.size = sizeof call->result;
    call_begin(call);
    AWAIT(redlock_sync_wanted(held, &wish, 1, NULL) == REDLOCK_E_STATE || call->done);
    assert_code(look_for_wish(), REDLOCK_E_UNAVAILABLE);
}

WITH_HELD(test_a_wish_ends_a_wait)
{
    struct call wait;
    begin_wait(&wait);
    while (!atomic_load(&wait.done))
        ask_for_it("now");
    assert_code(call_end(&wait), REDLOCK_OK);
}

WITH_HELD(test_a_release_ends_a_wait)
{
    struct call wait;
    begin_wait(&wait);
    assert_code(redlock_sync_lease_release(held, NULL), REDLOCK_OK);
    assert_code(call_end(&wait), REDLOCK_E_CANCELLED);
    assert_code(look_for_wish(), REDLOCK_E_STATE);
}

WITH_HELD(test_a_close_ends_a_wait)
{
    struct call wait;
    begin_wait(&wait);
    redlock_sync_close(client, 5000);
    redlock_code code = call_end(&wait);
    assert_true(code == REDLOCK_E_CANCELLED || code == REDLOCK_E_CLOSED);
    assert_code(look_for_wish(), REDLOCK_E_CLOSED);
}

/* ---- A break ---- */

static void forget_it(redlock_lease *lease, const redlock_event *event, void *data)
{
    (void)event, (void)data;
    redlock_lease_free(lease);
}

static void release_token_of(redlock *by, void *data)
{
    redlock_name name = redlock_name_of("name");
    redlock_lease *lease;
    (void)data;
    assert_code(redlock_release_token(by, &lease, &name, 1, redlock_sync_lease_token(held),
                                      forget_it, NULL),
                REDLOCK_OK);
}

static bool all_know(const char *observers)
{
    return cluster_answering(&cluster, 1, "ZCARD %s", observers) == MASTERS;
}

/* The next renewal would be 9 s away. */
static void break_it(void)
{
    int64_t since = now_us();
    assert_code(redlock_sync_run(asks, release_token_of, NULL), REDLOCK_OK);
    AWAIT(redlock_sync_lease_valid_for(held) == 0);
    assert_true(now_us() - since < 4000 * MS_US);
}

WITH_HELD(test_a_broken_lock_is_lost_at_once)
{
    struct call wait;
    NEEDS_SERVERS(); /* those inside the process tell nobody of a break */
    begin_wait(&wait);
    AWAIT(all_know("redlock:observers:redlock:wish:name"));
    break_it();
    assert_code(call_end(&wait), REDLOCK_E_GONE);
}

WITH_HELD(test_and_so_it_is_without_wishes)
{
    redlock_asked asked = {.size = sizeof asked};
    NEEDS_SERVERS();
    assert_code(redlock_sync_wanted(held, NULL, 0, NULL), REDLOCK_OK);
    AWAIT(all_know("redlock:observers:redlock:taken:name"));
    assert_code(redlock_sync_ask(asks, "name", NULL, &asked, NULL), REDLOCK_OK);
    assert_int_equal(asked.heard, 0);
    break_it();
}

WITH_HELD(test_wishes_may_be_wanted_later)
{
    assert_code(redlock_sync_wanted(held, NULL, 0, NULL), REDLOCK_OK);
    begin_to_heed();
    assert_hears("please");
    assert_code(redlock_sync_wanted(held, NULL, 0, NULL), REDLOCK_OK);
}

/* ---- Wrong use ---- */

static void look_inside(redlock *inside, void *data)
{
    (void)inside;
    *(redlock_code *)data = redlock_sync_wanted(held, &wish, REDLOCK_FOREVER, NULL);
}

WITH_HELD(test_what_is_refused_of_a_holder)
{
    redlock_code code;
    redlock_sync_result result = {.size = sizeof result};
    redlock_lease_options shared = terms(10000, 0);
    shared.mode = REDLOCK_SHARED;
    redlock_sync_lease *reader = take(client, "read", &shared);
    assert_code(redlock_sync_wanted(reader, &wish, 0, &result), REDLOCK_E_STATE);
    assert_says(result.text, "a shared lease cannot heed wishes");
    assert_code(redlock_sync_wanted(reader, NULL, 0, &result), REDLOCK_OK);
    give_back(reader);
    assert_code(redlock_sync_wanted(NULL, &wish, 0, NULL), REDLOCK_E_ARGUMENT);
    assert_code(redlock_sync_wanted(held, &wish, -1, &result), REDLOCK_E_ARGUMENT);
    assert_says(result.text, "wait_ms is negative");
    wish.size = 1;
    assert_code(redlock_sync_wanted(held, &wish, 0, &result), REDLOCK_E_ARGUMENT);
    assert_says(result.text, "redlock_wish.size is 1");
    wish.size = sizeof wish;
    assert_code(redlock_sync_run(client, look_inside, &code), REDLOCK_OK);
    assert_code(code, REDLOCK_E_STATE);
}

PROGRAM(.masters = MASTERS)
