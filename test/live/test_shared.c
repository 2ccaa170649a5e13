/* Names that are shared, as one real master sees it: the scripts by way of lib/wire. */
/* rule: K3, S1, S11 */
#define _GNU_SOURCE

#include "readers.h"

/* ---- Readers and writers ---- */

#define TEST(name) CASE_WITH(name, set_up, tear_down)

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

PROGRAM(.masters = 1)
