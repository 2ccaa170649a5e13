/* Names that are shared, on a master that forbids something or has no room. */
/* rule: S10 */
#define _GNU_SOURCE

#include "readers.h"

/* ---- Masters that forbid something ---- */

#define TEST(name) CASE_WITH(name, set_up, tear_down)

TEST(who_may_not_see_the_readers_is_told_so)
{
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
    assert_int_equal(reply.peek.reading, 0);
    become_anybody();
    assert_readers("x", 1);
    assert_int_equal(release("~x", "a"), ANSWER_YES);
}

TEST(who_may_not_see_the_readers_still_gives_back_the_rest)
{
    assert_int_equal(grant("~x", "a"), ANSWER_YES);
    assert_int_equal(grant("y", "b"), ANSWER_YES);
    become("~* &* -zscore");
    assert_int_equal(release("x y", "b"), ANSWER_ERROR);
    assert_holder("y", NULL);
    become_anybody();
    assert_readers("x", 1);
}

TEST(one_that_is_denied_costs_the_others_nothing)
{
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

/* ---- A failure leaves nothing that keeps others out ---- */

static void assert_nothing_is_left(void)
{
    assert_int_equal(ASK_COUNT("EXISTS redlock:clock"), 1);
    assert_int_equal(ASK_COUNT("DBSIZE"), 1);
}

TEST(a_reader_that_cannot_be_made_leaves_nothing)
{
    static const char *const tokens[] = {"a", "b"};
    static const enum answer errors[] = {ANSWER_ERROR, ANSWER_ERROR};
    static const char *const rights[] = {"~* &* -pexpireat", "~* &* -zadd", "~* &* -zadd -zrem"};
    for (unsigned i = 0; i < 3; i++) {
        become(rights[i]);
        assert_int_equal(grant("~x", "a"), ANSWER_ERROR);
        assert_nothing_is_left();
        assert_int_equal(grant("y ~x z", "a"), ANSWER_ERROR);
        assert_nothing_is_left();
        assert_int_equal(heal("~x", "a"), ANSWER_ERROR);
        assert_int_equal(heal("y ~x", "a"), ANSWER_ERROR);
        TELL("DEL y");
        assert_nothing_is_left();
        asks_each(REQUEST_GRANT, tokens, errors, 2, false, 0);
        asks_each(REQUEST_RENEW, tokens, errors, 2, true, 0);
        assert_nothing_is_left();
        become_anybody();
    }
}

TEST(a_set_of_an_earlier_marker_gets_no_reader_for_ever)
{
    assert_int_equal(grant("~x", "early"), ANSWER_YES);
    TELL("DEL x");
    become("~* &* -pexpireat");
    assert_int_equal(grant("~x", "a"), ANSWER_ERROR);
    assert_nothing_is_left();
    TELL("SET redlock:holders:x text");
    assert_int_equal(grant("~x", "a"), ANSWER_ERROR);
    assert_nothing_is_left();
    become_anybody();
}

TEST(who_cannot_join_leaves_the_others_as_they_were)
{
    assert_int_equal(grant_for("~x", "old", 5000), ANSWER_YES);
    become("~* &* -pexpireat");
    assert_int_equal(grant("~x", "new"), ANSWER_ERROR);
    assert_readers("x", 1);
    assert_left("x", 1, 5000);
    assert_left("redlock:holders:x", 1, 5000);
    assert_int_equal(grant_for("~x", "short", 1), ANSWER_YES);
    assert_int_equal(renew("~x", "old"), ANSWER_ERROR);
    assert_int_equal(raise_to("~x", "old", 5000), ANSWER_YES);
    assert_left("x", 1, 5000);
    assert_int_equal(release("~x", "old"), ANSWER_YES);
    become_anybody();
    AWAIT_IT(ASK_COUNT("EXISTS x redlock:holders:x") == 0);
}

TEST(who_cannot_hand_over_to_a_reader_leaves_it_to_others)
{
    static const char *const rights[] = {"~* &* -pexpireat", "~* &* -zadd"};
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(grant("y x", "writer"), ANSWER_YES);
        assert_int_equal(queue("y ~x", "a", FAR + 10 * i), ANSWER_QUEUED);
        assert_int_equal(queue("~x", "b", FAR + 10 * i + 1), ANSWER_QUEUED);
        become(rights[i]);
        assert_int_equal(release("y x", "writer"), ANSWER_YES);
        assert_int_equal(ASK_COUNT("EXISTS x y redlock:holders:x"), 0);
        become_anybody();
        assert_int_equal(queue("~x", "b", FAR + 10 * i + 1), ANSWER_YES);
        assert_readers("x", 2);
        assert_holder("y", "a");
        char payload[48];
        snprintf(payload, sizeof payload, "a %lld", (long long)read_clock() - 1);
        assert_heard(payload);
        assert_told("b");
        assert_int_equal(release("y ~x", "a"), ANSWER_YES);
        assert_int_equal(release("~x", "b"), ANSWER_YES);
        assert_nothing_is_left();
    }
}

/* Without the right to shorten it, a reader leaves the name marked for as long as the longest
 * reader had it. */
TEST(a_reader_leaves_also_where_it_may_not_set_the_end)
{
    static const char *const tokens[] = {"long", "middle"};
    static const enum answer yes[] = {ANSWER_YES, ANSWER_YES};
    assert_int_equal(grant_for("~x", "short", 5000), ANSWER_YES);
    assert_int_equal(grant_for("~x", "middle", 9000), ANSWER_YES);
    assert_int_equal(grant("~x", "long"), ANSWER_YES);
    become("~* &* -pexpireat");
    asks_each(REQUEST_RELEASE, tokens, yes, 2, false, 0);
    assert_readers("x", 1);
    assert_left("x", 5001, LIFE);
    assert_int_equal(release("~x", "short"), ANSWER_YES);
    assert_nothing_is_left();
    become_anybody();
}

TEST(a_reader_that_may_not_be_taken_out_is_still_there)
{
    static const char *const tokens[] = {"a", "nobody"};
    static const enum answer answers[] = {ANSWER_ERROR, ANSWER_HELD};
    assert_int_equal(grant("~x", "a"), ANSWER_YES);
    become("~* &* -zrem");
    assert_int_equal(release("~x", "a"), ANSWER_ERROR);
    assert_int_equal(release("~x y", "a"), ANSWER_ERROR);
    asks_each(REQUEST_RELEASE, tokens, answers, 2, false, 0);
    assert_readers("x", 1);
    become_anybody();
    assert_int_equal(release("~x", "a"), ANSWER_YES);
}

/* ---- A full master ---- */

TEST(a_full_master_renews_and_lets_nobody_in)
{
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

TEST(a_full_master_hands_over_and_answers_who_was_given_the_name)
{
    assert_int_equal(grant("x", "writer"), ANSWER_YES);
    assert_int_equal(queue_for("~x", "a", 2000, 5000), ANSWER_QUEUED);
    TELL("CONFIG SET maxmemory 1");
    assert_int_equal(release("x", "writer"), ANSWER_YES);
    assert_heard("a 2001");
    assert_int_equal(queue("~x", "a", 2000), ANSWER_YES);
    assert_left("x", 5001, LIFE);
    assert_left("redlock:holders:x", 5001, LIFE);
    assert_int_equal(queue("~y", "a", 2010), ANSWER_ERROR);
    assert_int_equal(release("~x", "a"), ANSWER_YES);
    assert_nothing_is_left();
}

TEST(without_a_clock_nobody_comes_in)
{
    static const char *const tokens[] = {"a", "b"};
    static const enum answer none[] = {ANSWER_NO_CLOCK, ANSWER_NO_CLOCK};
    TELL("DEL redlock:clock");
    assert_int_equal(grant("~x", "a"), ANSWER_NO_CLOCK);
    asks_each(REQUEST_GRANT, tokens, none, 2, false, 0);
    assert_int_equal(ASK_COUNT("DBSIZE"), 0);
}

PROGRAM(.masters = 1)
