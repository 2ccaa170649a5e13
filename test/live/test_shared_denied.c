/* Names that are shared, on a master that forbids something or has no room. */
#define _GNU_SOURCE
#include <stdio.h>

#include "readers.h"

/* ---- Masters that forbid something ---- */

static void who_may_not_see_the_readers_is_told_so(void **state)
{
    (void)state;
    assert_int_equal(grant("~x", "a"), ANSWER_YES);
    become("~* &* -zscore");
    assert_int_equal(renew("~x", "a"), ANSWER_ERROR);
    assert_int_equal(raise_to("~x", "a", 9), ANSWER_ERROR);
    assert_int_equal(release("~x", "a"), ANSWER_ERROR);
    assert_int_equal(queue("~x", "a", 2000), ANSWER_ERROR);
    become_anybody();
    become("~x ~redlock:clock &*");
    assert_int_equal(grant("~y", "a"), ANSWER_ERROR);
    assert_int_equal(release("~x", "a"), ANSWER_ERROR);
    assert_int_equal(simply(REQUEST_PEEK, "x", ""), ANSWER_HELD);
    assert_int_equal(reply.readers, 0);
    become_anybody();
    assert_readers("x", 1);
    assert_int_equal(release("~x", "a"), ANSWER_YES);
}

static void who_may_not_see_the_readers_still_gives_back_the_rest(void **state)
{
    (void)state;
    assert_int_equal(grant("~x", "a"), ANSWER_YES);
    assert_int_equal(grant("y", "b"), ANSWER_YES);
    become("~* &* -zscore");
    assert_int_equal(release("x y", "b"), ANSWER_ERROR);
    assert_holder("y", NULL);
    become_anybody();
    assert_readers("x", 1);
}

static void one_that_is_denied_costs_the_others_nothing(void **state)
{
    (void)state;
    static const char *const list[] = {"~x", "~secret", "~y"};
    static const enum answer answers[] = {ANSWER_YES, ANSWER_ERROR, ANSWER_YES};
    static const enum request_kind kinds[] = {REQUEST_GRANT, REQUEST_RENEW, REQUEST_RELEASE};
    struct names *names[3];
    struct request requests[3];
    become(
        "~x ~y ~secret ~redlock:clock ~redlock:queue:* ~redlock:holders:x ~redlock:holders:y &*");
    for (unsigned i = 0; i < 3; i++)
        names[i] = split(list[i]);
    for (unsigned kind = 0; kind < 3; kind++) {
        for (unsigned i = 0; i < 3; i++)
            requests[i] = request_of(kinds[kind], names[i], "a");
        ask_each(requests, 3);
        for (unsigned i = 0; i < 3; i++)
            assert_int_equal(answer_of_each(requests, i, 3), answers[i]);
        if (kinds[kind] == REQUEST_GRANT) {
            assert_holder("secret", NULL);
            TELL("SET secret redlock:shared");
        }
    }
    TELL("DEL secret");
    for (unsigned i = 0; i < 3; i++)
        names_drop(&memory, names[i]);
    become_anybody();
    assert_int_equal(ASK_COUNT("DBSIZE"), 1);
}

static void a_full_master_renews_and_lets_nobody_in(void **state)
{
    (void)state;
    static const char *const tokens[] = {"long", "short"};
    static const enum answer yes[] = {ANSWER_YES, ANSWER_YES};
    assert_int_equal(grant("~x", "long"), ANSWER_YES);
    assert_int_equal(grant_for("~x", "short", 1000), ANSWER_YES);
    TELL("CONFIG SET maxmemory 1");
    assert_int_equal(renew_for("~x", "short", false, 2000), ANSWER_YES);
    assert_int_equal(renew("~x", "long"), ANSWER_YES);
    asks_each(REQUEST_RENEW, tokens, yes, 2, false, 0);
    assert_int_equal(grant("~x", "more"), ANSWER_ERROR);
    assert_int_equal(grant("~y", "more"), ANSWER_ERROR);
    assert_int_equal(ASK_COUNT("EXISTS y redlock:holders:y"), 0);
    assert_readers("x", 2);
    assert_int_equal(release("~x", "short"), ANSWER_YES);
    assert_int_equal(release("~x", "long"), ANSWER_YES);
}

static void without_a_clock_nobody_comes_in(void **state)
{
    (void)state;
    static const char *const tokens[] = {"a", "b"};
    static const enum answer none[] = {ANSWER_NO_CLOCK, ANSWER_NO_CLOCK};
    TELL("DEL redlock:clock");
    assert_int_equal(grant("~x", "a"), ANSWER_NO_CLOCK);
    asks_each(REQUEST_GRANT, tokens, none, 2, false, 0);
    assert_int_equal(ASK_COUNT("DBSIZE"), 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(who_may_not_see_the_readers_is_told_so),
        TEST(who_may_not_see_the_readers_still_gives_back_the_rest),
        TEST(one_that_is_denied_costs_the_others_nothing),
        TEST(a_full_master_renews_and_lets_nobody_in),
        TEST(without_a_clock_nobody_comes_in),
    };
    return RUN_WITH(tests, .masters = 1);
}
