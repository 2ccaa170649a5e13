/* Names that are shared, as one real master sees it: the scripts by way of lib/wire. */
/* rule: K3, S1, S2, S3, S5, S6, S9, S11 */
#define _GNU_SOURCE

#include "readers.h"

/* ---- Readers and writers ---- */

#define TEST(name) CASE_WITH(name, set_up, tear_down)

TEST(readers_share_and_keep_writers_out)
{
    assert_int_equal(grant("~x", "a"), ANSWER_YES);
    assert_int_equal(grant("~x", "b"), ANSWER_YES);
    assert_holder("x", "redlock:shared");
    assert_readers("x", 2);
    assert_int_equal(grant("x", "writer"), ANSWER_HELD);
    assert_int_equal(simply(REQUEST_ACQUIRE, "x", "writer"), ANSWER_HELD);
    assert_int_equal(simply(REQUEST_ACQUIRE, "x y", "writer"), ANSWER_HELD);
    assert_int_equal(simply(REQUEST_RENEW, "x", "writer"), ANSWER_HELD);
    assert_int_equal(heal("x", "writer"), ANSWER_HELD);
    assert_int_equal(release("x", "writer"), ANSWER_HELD);
    assert_int_equal(release("x", "a"), ANSWER_YES);
    assert_readers("x", 1);
    assert_int_equal(release("x", "a"), ANSWER_HELD);
    assert_int_equal(release("x", "b"), ANSWER_YES);
    assert_int_equal(release("x", "b"), ANSWER_ABSENT);
    assert_int_equal(ASK_COUNT("DBSIZE"), 1);
    assert_int_equal(grant("x", "writer"), ANSWER_YES);
}

TEST(writers_keep_readers_out)
{
    assert_int_equal(grant("x", "writer"), ANSWER_YES);
    assert_int_equal(grant("~x", "a"), ANSWER_HELD);
    assert_int_equal(renew("~x", "a"), ANSWER_HELD);
    assert_int_equal(heal("~x", "a"), ANSWER_HELD);
    assert_int_equal(raise_to("~x", "a", 9), ANSWER_HELD);
    assert_int_equal(release("~x", "a"), ANSWER_HELD);
    assert_holder("x", "writer");
    assert_int_equal(ASK_COUNT("EXISTS redlock:holders:x"), 0);
}

/* They know strings only, and compare the value with their token. */
TEST(other_libraries_meet_no_wrong_type)
{
    static const char *const theirs[] = {
        "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end "
        "return 0",
        "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('pexpire', KEYS[1], 9) "
        "end return 0"};
    assert_int_equal(grant("~x", "a"), ANSWER_YES);
    redisReply *set = cluster_ask(&cluster, 0, "SET x theirs NX PX 10000");
    assert_int_equal(set->type, REDIS_REPLY_NIL);
    freeReplyObject(set);
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(ASK_COUNT("EVAL %s 1 x theirs", theirs[i]), 0);
        assert_int_equal(ASK_COUNT("EVAL %s 1 x a", theirs[i]), 0);
    }
    assert_int_equal(ASK_COUNT("EXISTS x"), 1);
    assert_left("x", 1, LIFE);
    assert_int_equal(release("~x", "a"), ANSWER_YES);
    TELL("SET x theirs NX PX 10000");
    assert_int_equal(grant("~x", "a"), ANSWER_HELD);
    assert_int_equal(queue("~x", "a", 2000), ANSWER_QUEUED);
    assert_true(reply.queue.foreign);
}

TEST(readers_are_of_this_library)
{
    assert_int_equal(grant("~x", "a"), ANSWER_YES);
    assert_int_equal(queue("x", "writer", 2000), ANSWER_QUEUED);
    assert_false(reply.queue.foreign);
    assert_in_range(reply.queue.remaining_ms, LIFE - 5000, LIFE);
    assert_int_equal(queue("~x", "b", 2010), ANSWER_QUEUED);
    assert_false(reply.queue.foreign);
}

/* ---- Each reader has a time of its own ---- */

TEST(a_reader_ends_with_its_own_time)
{
    assert_int_equal(grant("~x", "long"), ANSWER_YES);
    assert_int_equal(grant_for("~x", "short", 20), ANSWER_YES);
    AWAIT_IT(simply(REQUEST_PEEK, "x", "") == ANSWER_HELD && reply.peek.reading == 1);
    assert_int_equal(reply.peek.readers.length, 4);
    assert_memory_equal(reply.peek.readers.bytes, "long", 4);
    assert_int_equal(raise_to("~x", "short", 5000), ANSWER_HELD);
    assert_int_equal(raise_to("~x", "long", 5000), ANSWER_YES);
    assert_int_equal(renew("~x", "short"), ANSWER_ABSENT);
    assert_int_equal(queue("~x", "short", 6000), ANSWER_YES);
    assert_told("short");
    assert_readers("x", 2);
}

TEST(the_name_lasts_as_long_as_its_last_reader)
{
    static const char *const keys[] = {"x", "redlock:holders:x"};
    assert_int_equal(grant_for("~x", "short", 1000), ANSWER_YES);
    for (unsigned i = 0; i < 2; i++)
        assert_left(keys[i], 1, 1000);
    assert_int_equal(grant_for("~x", "long", LIFE), ANSWER_YES);
    assert_int_equal(grant_for("~x", "middle", 5000), ANSWER_YES);
    for (unsigned i = 0; i < 2; i++)
        assert_left(keys[i], 10000, LIFE);
    assert_int_equal(renew_for("~x", "middle", false, 100), ANSWER_YES);
    assert_int_equal(release("~x", "long"), ANSWER_YES);
    for (unsigned i = 0; i < 2; i++)
        assert_left(keys[i], 1001, 5000);
    assert_int_equal(renew_for("~x", "short", false, 9000), ANSWER_YES);
    assert_int_equal(release("~x", "middle"), ANSWER_YES);
    for (unsigned i = 0; i < 2; i++)
        assert_left(keys[i], 5001, 9000);
    assert_int_equal(release("~x", "short"), ANSWER_YES);
    assert_int_equal(ASK_COUNT("DBSIZE"), 1);
}

TEST(the_dead_are_forgotten_by_a_renewal)
{
    assert_int_equal(grant("~x", "long"), ANSWER_YES);
    for (unsigned i = 0; i < 10; i++) {
        char token[16];
        snprintf(token, sizeof token, "short-%u", i);
        assert_int_equal(grant_for("~x", token, 1), ANSWER_YES);
    }
    AWAIT_IT(simply(REQUEST_PEEK, "x", "") == ANSWER_HELD && reply.peek.reading == 1);
    assert_int_equal(renew("~x", "long"), ANSWER_YES);
    assert_int_equal(ASK_COUNT("ZCARD redlock:holders:x"), 1);
}

/* ---- Keys that somebody else has changed ---- */

TEST(who_makes_the_marker_forgets_earlier_readers)
{
    assert_int_equal(grant("~x", "early"), ANSWER_YES);
    TELL("DEL x");
    assert_int_equal(release("x", "nobody"), ANSWER_ABSENT);
    assert_int_equal(raise_to("~x", "early", 9), ANSWER_ABSENT);
    assert_int_equal(grant_for("~x", "late", 10000), ANSWER_YES);
    assert_readers("x", 1);
    assert_left("redlock:holders:x", 1, 10000);
    assert_int_equal(raise_to("~x", "early", 9), ANSWER_HELD);
    assert_int_equal(renew("~x", "early"), ANSWER_ABSENT);
    assert_int_equal(release("x", "early"), ANSWER_HELD);
    assert_int_equal(heal("~x", "early"), ANSWER_HEALED);
    assert_readers("x", 2);
}

/* The key begins with redlock:, so it is ours. */
TEST(another_type_in_place_of_the_set_is_nobody)
{
    static const char *const wrong[] = {"SET redlock:holders:x text", "RPUSH redlock:holders:x 1",
                                        "HSET redlock:holders:x a 99999999999999"};
    for (unsigned i = 0; i < 3; i++) {
        TELL("DEL x redlock:holders:x");
        TELL(wrong[i]);
        assert_int_equal(grant("~x", "a"), ANSWER_YES);
        assert_readers("x", 1);
        TELL("DEL redlock:holders:x");
        TELL(wrong[i]);
        assert_int_equal(simply(REQUEST_PEEK, "x", ""), ANSWER_HELD);
        assert_int_equal(reply.peek.reading, 0);
        assert_int_equal(renew("~x", "a"), ANSWER_ABSENT);
        assert_int_equal(raise_to("~x", "a", 9), ANSWER_HELD);
        assert_int_equal(release("~x", "a"), ANSWER_HELD);
        assert_int_equal(queue("x", "writer", 2000), ANSWER_QUEUED);
        assert_int_equal(release("x", "writer"), ANSWER_HELD);
        assert_int_equal(heal("~x", "a"), ANSWER_HEALED);
        assert_left("redlock:holders:x", 1, LIFE);
        TELL("DEL redlock:holders:x");
        TELL(wrong[i]);
        assert_int_equal(grant("~x", "b"), ANSWER_YES);
        assert_readers("x", 1);
    }
}

TEST(a_name_that_is_no_lock_is_held)
{
    static const char *const made[] = {"RPUSH x 1", "HSET x a b", "ZADD x 99999999999999 a",
                                       "SET x theirs"};
    for (unsigned i = 0; i < 4; i++) {
        TELL("DEL x");
        TELL(made[i]);
        assert_int_equal(grant("~x", "a"), ANSWER_HELD);
        assert_int_equal(grant("y ~x", "a"), ANSWER_HELD);
        assert_int_equal(renew("~x", "a"), ANSWER_HELD);
        assert_int_equal(heal("~x", "a"), ANSWER_HELD);
        assert_int_equal(raise_to("~x", "a", 9), ANSWER_HELD);
        assert_int_equal(queue("~x", "a", 2000), ANSWER_QUEUED);
        assert_int_equal(release("~x", "a"), ANSWER_HELD);
        assert_int_equal(simply(REQUEST_PEEK, "x", ""), ANSWER_HELD);
        assert_int_equal(reply.peek.reading, 0);
    }
    TELL("DEL x");
    assert_int_equal(ASK_COUNT("DBSIZE"), 1);
}

/* ---- Waiting ---- */

TEST(a_waiting_writer_keeps_new_readers_out)
{
    assert_int_equal(grant("~x", "a"), ANSWER_YES);
    assert_int_equal(queue("x", "writer", 2000), ANSWER_QUEUED);
    assert_int_equal(grant("~x", "b"), ANSWER_HELD);
    assert_true(reply.clock == 2001);
    assert_int_equal(queue("~x", "b", 2010), ANSWER_QUEUED);
    assert_int_equal(reply.queue.position, 1);
    assert_int_equal(renew("~x", "a"), ANSWER_YES);
    assert_int_equal(release("x", "a"), ANSWER_YES);
    assert_holder("x", "writer");
    assert_told("writer");
    assert_int_equal(release("x", "writer"), ANSWER_YES);
    assert_told("b");
    assert_readers("x", 1);
}

TEST(readers_next_to_each_other_enter_together)
{
    assert_int_equal(grant("x", "writer"), ANSWER_YES);
    assert_int_equal(queue("~x", "a", 2000), ANSWER_QUEUED);
    assert_int_equal(queue("~x", "b", 2010), ANSWER_QUEUED);
    assert_int_equal(queue("x", "next", 2020), ANSWER_QUEUED);
    assert_int_equal(queue("~x", "c", 2030), ANSWER_QUEUED);
    assert_int_equal(reply.queue.position, 3);
    assert_int_equal(release("x", "writer"), ANSWER_YES);
    assert_heard("a 2031");
    assert_heard("b 2032");
    assert_readers("x", 2);
    assert_int_equal(queue("~x", "a", 2000), ANSWER_YES);
    assert_int_equal(queue("~x", "c", 2030), ANSWER_QUEUED);
    assert_int_equal(release("x", "b"), ANSWER_YES);
    assert_int_equal(release("x", "a"), ANSWER_YES);
    assert_told("next");
    assert_int_equal(release("x", "next"), ANSWER_YES);
    assert_told("c");
    assert_readers("x", 1);
}

TEST(sixty_four_at_once)
{
    static const unsigned count = 100;
    assert_int_equal(grant("x", "writer"), ANSWER_YES);
    for (unsigned i = 0; i < count; i++) {
        char token[32];
        snprintf(token, sizeof token, "reader-%u", i);
        assert_int_equal(queue("~x", token, 2000 + i), ANSWER_QUEUED);
    }
    assert_int_equal(release("x", "writer"), ANSWER_YES);
    assert_readers("x", 64);
    assert_int_equal(queue("~x", "reader-99", 2099), ANSWER_YES);
    assert_readers("x", 100);
    for (unsigned i = 0; i < count; i++) {
        char payload[48];
        snprintf(payload, sizeof payload, "reader-%u %u", i, 2100 + i);
        assert_heard(payload);
    }
}

/* ---- Several in one command ---- */

TEST(readers_come_renew_and_go_together)
{
    static const char *const tokens[] = {"a", "b", "a", "c"};
    static const enum answer yes[] = {ANSWER_YES, ANSWER_YES, ANSWER_YES, ANSWER_YES};
    static const enum answer absent[] = {ANSWER_ABSENT, ANSWER_ABSENT, ANSWER_ABSENT,
                                         ANSWER_ABSENT};
    static const enum answer heal_all[] = {ANSWER_HEALED, ANSWER_HEALED, ANSWER_YES, ANSWER_HEALED};
    static const enum answer leave[] = {ANSWER_YES, ANSWER_YES, ANSWER_HELD, ANSWER_YES};
    static const enum answer held[] = {ANSWER_HELD, ANSWER_HELD, ANSWER_HELD, ANSWER_HELD};
    asks_each(REQUEST_RENEW, tokens, absent, 4, false, 0);
    asks_each(REQUEST_GRANT, tokens, yes, 4, false, 0);
    assert_readers("x", 3);
    assert_true(read_clock() == 1000);
    asks_each(REQUEST_GRANT, tokens, yes, 2, false, 5000);
    assert_true(reply.clock == 5001);
    asks_each(REQUEST_RENEW, tokens, yes, 4, false, 0);
    TELL("DEL x");
    asks_each(REQUEST_RENEW, tokens, heal_all, 4, true, 0);
    assert_int_equal(queue("x", "writer", 6000), ANSWER_QUEUED);
    asks_each(REQUEST_GRANT, tokens, held, 4, false, 0);
    assert_true(reply.clock == 6004);
    asks_each(REQUEST_RELEASE, tokens, leave, 4, false, 0);
    assert_told("writer");
    asks_each(REQUEST_RENEW, tokens, held, 4, true, 0);
    asks_each(REQUEST_GRANT, tokens, held, 4, false, 0);
    asks_each(REQUEST_RELEASE, tokens, held, 4, false, 0);
    assert_holder("x", "writer");
}

TEST(grants_together_serve_those_who_wait)
{
    static const char *const tokens[] = {"a", "b"};
    static const enum answer yes[] = {ANSWER_YES, ANSWER_YES};
    assert_int_equal(grant("x", "writer"), ANSWER_YES);
    assert_int_equal(queue("~x", "early", 2000), ANSWER_QUEUED);
    TELL("DEL x");
    asks_each(REQUEST_GRANT, tokens, yes, 2, false, 0);
    assert_told("early");
    assert_readers("x", 3);
}

PROGRAM(.masters = 1)
