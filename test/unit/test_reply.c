/* Replies → answers, through hiredis's own reader. */
#include "reply.h"

#include <stdio.h>

#include "unit.h"

#define RUN_ID "0123456789abcdef0123456789abcdef01234567"

static redisReader *reader;
static struct raw_reply raw;
static struct login_state login;
static struct hello hello;
static struct reply reply;

static int set_up(void **state)
{
    (void)state;
    reader = redisReaderCreate();
    reply_attach(reader, &raw);
    login = (struct login_state){0};
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    redisReaderFree(reader);
    reply_free(&raw);
    return 0;
}

static void feed_bytes(const char *bytes, size_t length)
{
    void *built = NULL;
    assert_int_equal(redisReaderFeed(reader, bytes, length), REDIS_OK);
    assert_int_equal(redisReaderGetReply(reader, &built), REDIS_OK);
    assert_ptr_equal(built, &raw);
}

static void feed(const char *bytes)
{
    feed_bytes(bytes, strlen(bytes));
}

static bool reads(enum request_kind kind, const char *bytes)
{
    struct tag tag = {.kind = kind, .round = 7, .sent_at = 99};
    feed(bytes);
    bool read = reply_read(&raw, &tag, &login, &hello, &reply);
    assert_memory_equal(&reply.tag, &tag, sizeof tag);
    return read;
}

static void answers(enum request_kind kind, const char *bytes, enum answer answer)
{
    assert_true(reads(kind, bytes));
    assert_int_equal(reply.answer, answer);
}

/* ---- */

#define TEST(name) CASE_WITH(name, set_up, tear_down)

TEST(acquire)
{
    answers(REQUEST_ACQUIRE, "+OK\r\n", ANSWER_YES);
    answers(REQUEST_ACQUIRE, "$-1\r\n", ANSWER_HELD);
    assert_null(reply.text.bytes);
    answers(REQUEST_ACQUIRE, "*-1\r\n", ANSWER_HELD);
    answers(REQUEST_ACQUIRE, ":1\r\n", ANSWER_YES);
    answers(REQUEST_ACQUIRE, ":-1\r\n", ANSWER_HELD);
}

TEST(renew)
{
    answers(REQUEST_RENEW, ":1\r\n", ANSWER_YES);
    answers(REQUEST_RENEW, ":2\r\n", ANSWER_HEALED);
    answers(REQUEST_RENEW, ":0\r\n", ANSWER_ABSENT);
    answers(REQUEST_RENEW, ":-1\r\n", ANSWER_HELD);
    answers(REQUEST_RENEW, "*2\r\n$4\r\nlate\r\n$16\r\n1785000000123456\r\n", ANSWER_LATE);
    assert_true(reply.master_time == 1785000000123456);
}

TEST(release)
{
    answers(REQUEST_RELEASE, ":1\r\n", ANSWER_YES);
    answers(REQUEST_RELEASE, ":0\r\n", ANSWER_ABSENT);
    answers(REQUEST_RELEASE, ":-1\r\n", ANSWER_HELD);
}

TEST(peek)
{
    answers(REQUEST_PEEK, "$-1\r\n", ANSWER_ABSENT);
    answers(REQUEST_PEEK, "*4\r\n$2\r\nme\r\n:1500\r\n:0\r\n$0\r\n\r\n", ANSWER_HELD);
    assert_string_equal(reply.peek.value.bytes, "me");
}

TEST(peek_tells_value_and_time)
{
    const char bytes[] = "*4\r\n$5\r\na\0b\r\n\r\n:1500\r\n:2\r\n$3\r\nx\ny\r\n";
    void *built;
    struct tag tag = {.kind = REQUEST_PEEK};
    redisReaderFeed(reader, bytes, sizeof bytes - 1);
    assert_int_equal(redisReaderGetReply(reader, &built), REDIS_OK);
    assert_true(reply_read(&raw, &tag, &login, &hello, &reply));
    assert_int_equal(reply.answer, ANSWER_HELD);
    assert_int_equal(reply.peek.value.length, 5);
    assert_memory_equal(reply.peek.value.bytes, "a\0b\r\n", 6);
    assert_int_equal(reply.peek.remaining_ms, 1500);
    assert_int_equal(reply.peek.waiting, 2);
    assert_int_equal(reply.peek.waiters.length, 3);
    assert_string_equal(reply.peek.waiters.bytes, "x\ny");

    answers(REQUEST_PEEK, "*4\r\n$1\r\nx\r\n:-1\r\n:0\r\n$0\r\n\r\n", ANSWER_HELD);
    assert_int_equal(reply.peek.remaining_ms, -2);
    answers(REQUEST_PEEK, "*4\r\n$1\r\nx\r\n:-2\r\n:0\r\n$0\r\n\r\n", ANSWER_HELD);
    assert_int_equal(reply.peek.remaining_ms, -1);
    answers(REQUEST_PEEK, "*4\r\n$0\r\n\r\n:0\r\n:0\r\n$0\r\n\r\n", ANSWER_HELD);
    assert_int_equal(reply.peek.value.length, 0);
    assert_int_equal(reply.peek.remaining_ms, 0);
    answers(REQUEST_PEEK, "*4\r\n$1\r\nx\r\n:9223372036854775807\r\n:0\r\n$0\r\n\r\n", ANSWER_HELD);
    assert_true(reply.peek.remaining_ms > TTL_MS_MOST && MS(reply.peek.remaining_ms) <= INT64_C(1)
                                                                                            << 53);
}

TEST(peek_tells_how_many_share)
{
    answers(REQUEST_PEEK, "*4\r\n$2\r\nme\r\n:1500\r\n:0\r\n$0\r\n\r\n", ANSWER_HELD);
    assert_int_equal(reply.peek.reading, 0);
    answers(REQUEST_PEEK, "*6\r\n$2\r\nme\r\n:1500\r\n:2\r\n$1\r\nw\r\n:3\r\n$2\r\nab\r\n",
            ANSWER_HELD);
    assert_int_equal(reply.peek.reading, 3);
    assert_string_equal(reply.peek.readers.bytes, "ab");
    assert_int_equal(reply.peek.waiting, 2);
    assert_string_equal(reply.peek.value.bytes, "me");
    answers(REQUEST_PEEK, "*6\r\n$2\r\nme\r\n:1\r\n:0\r\n$0\r\n\r\n:2147483647\r\n$0\r\n\r\n",
            ANSWER_HELD);
    assert_int_equal(reply.peek.reading, INT32_MAX);
    static const char *const bad[] = {":-1\r\n$0\r\n", ":2147483648\r\n$0\r\n", "$1\r\n1\r\n$0\r\n",
                                      "$-1\r\n$0\r\n", ":1\r\n:1"};
    for (unsigned i = 0; i < COUNT(bad); i++) {
        char bytes[100];
        snprintf(bytes, sizeof bytes, "*6\r\n$2\r\nme\r\n:1\r\n:0\r\n$0\r\n\r\n%s\r\n", bad[i]);
        assert_false(reads(REQUEST_PEEK, bytes));
    }
    assert_false(reads(REQUEST_PEEK, "*6\r\n$1\r\nx\r\n:1\r\n:0\r\n$0\r\n\r\n:1\r\n:1\r\n"));
}

TEST(killed_or_gone_already)
{
    answers(REQUEST_KILL, ":1\r\n", ANSWER_YES);
    answers(REQUEST_KILL, ":0\r\n", ANSWER_YES);
    assert_false(reads(REQUEST_KILL, "+OK\r\n"));
}

TEST(a_grant_tells_the_clock)
{
    answers(REQUEST_GRANT, "*2\r\n:1\r\n:1785000000123456\r\n", ANSWER_YES);
    assert_true(reply.clock == 1785000000123456);
    answers(REQUEST_GRANT, "*2\r\n:-1\r\n:1785000000123457\r\n", ANSWER_HELD);
    assert_true(reply.clock == 1785000000123457);
    answers(REQUEST_GRANT, ":1\r\n", ANSWER_YES);
    assert_int_equal(reply.clock, 0);
    answers(REQUEST_RAISE, "*2\r\n:1\r\n$16\r\n1785000000123456\r\n", ANSWER_YES);
    answers(REQUEST_RAISE, "*2\r\n:0\r\n:7\r\n", ANSWER_ABSENT);
    answers(REQUEST_RAISE, "*2\r\n:-1\r\n:7\r\n", ANSWER_HELD);
}

TEST(a_place_in_the_queue)
{
    answers(REQUEST_QUEUE, "*2\r\n:1\r\n:1785000000123456\r\n", ANSWER_YES);
    assert_true(reply.clock == 1785000000123456);
    assert_int_equal(reply.queue.remaining_ms, -1);
    answers(REQUEST_QUEUE, "*2\r\n:2\r\n:7\r\n", ANSWER_AHEAD);
    answers(REQUEST_QUEUE, "*5\r\n:0\r\n:1785000000123457\r\n:1500\r\n:12\r\n:0\r\n",
            ANSWER_QUEUED);
    assert_false(reply.queue.foreign);
    assert_true(reply.clock == 1785000000123457);
    assert_int_equal(reply.queue.remaining_ms, 1500);
    assert_int_equal(reply.queue.position, 12);
    answers(REQUEST_QUEUE, "*5\r\n:0\r\n:7\r\n:-1\r\n:0\r\n:1\r\n", ANSWER_QUEUED);
    assert_true(reply.queue.foreign);
    assert_int_equal(reply.queue.remaining_ms, -2);
    assert_int_equal(reply.queue.position, 0);
    answers(REQUEST_QUEUE, "*5\r\n:0\r\n:7\r\n:-2\r\n:4294967295\r\n:0\r\n", ANSWER_QUEUED);
    assert_int_equal(reply.queue.remaining_ms, -1);
    assert_int_equal(reply.queue.position, UINT32_MAX);
}

TEST(a_refused_slot_tells_others)
{
    answers(REQUEST_GRANT, "*4\r\n:-1\r\n:1785000000123457\r\n:1023\r\n:0\r\n", ANSWER_HELD);
    assert_true(reply.clock == 1785000000123457);
    assert_int_equal(reply.grant.free_slot, 1023);
    assert_int_equal(reply.grant.next_slot, 0);
    answers(REQUEST_GRANT, "*4\r\n:-1\r\n:7\r\n:-1\r\n:3\r\n", ANSWER_HELD);
    assert_int_equal(reply.grant.free_slot, -1);
    assert_int_equal(reply.grant.next_slot, 3);
    answers(REQUEST_GRANT, "*2\r\n:-1\r\n:7\r\n", ANSWER_HELD);
    assert_int_equal(reply.grant.free_slot, -1);
    assert_int_equal(reply.grant.next_slot, -1);
    answers(REQUEST_GRANT, ":1\r\n", ANSWER_YES);
    assert_int_equal(reply.grant.free_slot, -1);
    assert_int_equal(reply.grant.next_slot, -1);
}

TEST(a_place_for_a_slot_tells_others)
{
    answers(REQUEST_QUEUE, "*7\r\n:0\r\n:7\r\n:1500\r\n:0\r\n:1\r\n:2\r\n:1023\r\n", ANSWER_QUEUED);
    assert_int_equal(reply.queue.remaining_ms, 1500);
    assert_int_equal(reply.queue.position, 0);
    assert_true(reply.queue.foreign);
    assert_int_equal(reply.queue.slots.free_slot, 2);
    assert_int_equal(reply.queue.slots.next_slot, 1023);
    answers(REQUEST_QUEUE, "*7\r\n:0\r\n:7\r\n:-2\r\n:4\r\n:0\r\n:-1\r\n:-1\r\n", ANSWER_QUEUED);
    assert_int_equal(reply.queue.position, 4);
    assert_int_equal(reply.queue.slots.free_slot, -1);
    assert_int_equal(reply.queue.slots.next_slot, -1);
    answers(REQUEST_QUEUE, "*5\r\n:0\r\n:7\r\n:-2\r\n:4\r\n:0\r\n", ANSWER_QUEUED);
    assert_int_equal(reply.queue.slots.free_slot, -1);
    assert_int_equal(reply.queue.slots.next_slot, -1);
    answers(REQUEST_QUEUE, "*2\r\n:1\r\n:7\r\n", ANSWER_YES);
    assert_int_equal(reply.queue.slots.free_slot, -1);
}

TEST(peek_tells_of_permits)
{
    answers(
        REQUEST_PEEK,
        "*7\r\n$15\r\nredlock:permits\r\n:900\r\n:2\r\n$3\r\na\nb\r\n:3\r\n$5\r\nc\nd\ne\r\n:4\r\n",
        ANSWER_HELD);
    assert_string_equal(reply.peek.value.bytes, PERMITS);
    assert_int_equal(reply.peek.remaining_ms, 900);
    assert_int_equal(reply.peek.waiting, 2);
    assert_string_equal(reply.peek.waiters.bytes, "a\nb");
    assert_int_equal(reply.peek.reading, 3);
    assert_string_equal(reply.peek.readers.bytes, "c\nd\ne");
    assert_int_equal(reply.peek.permits, 4);
    answers(REQUEST_PEEK, "*4\r\n$2\r\nme\r\n:1500\r\n:0\r\n$0\r\n\r\n", ANSWER_HELD);
    assert_int_equal(reply.peek.permits, 0);
    answers(REQUEST_PEEK,
            "*7\r\n$15\r\nredlock:permits\r\n:-2\r\n:1\r\n$1\r\na\r\n:0\r\n$0\r\n\r\n:1024\r\n",
            ANSWER_HELD);
    assert_int_equal(reply.peek.permits, 1024);
    assert_int_equal(reply.peek.remaining_ms, -1);
    static const char *const bad[] = {":0",  ":1025",   ":-1",        "$1\r\n4",
                                      "$-1", "-ERR no", ":4294967297"};
    for (unsigned i = 0; i < COUNT(bad); i++) {
        char bytes[120];
        snprintf(bytes, sizeof bytes,
                 "*7\r\n$15\r\nredlock:permits\r\n:1\r\n:0\r\n$0\r\n\r\n:1\r\n$1\r\na\r\n%s\r\n",
                 bad[i]);
        assert_false(reads(REQUEST_PEEK, bytes));
    }
}

TEST(a_clock_that_is_gone)
{
    answers(REQUEST_QUEUE, "-NOCLOCK redlock:clock is gone\r\n", ANSWER_NO_CLOCK);
    answers(REQUEST_GRANT, "-NOCLOCK redlock:clock is gone\r\n", ANSWER_NO_CLOCK);
    answers(REQUEST_RAISE, "-NOCLOCK redlock:clock is gone\r\n", ANSWER_NO_CLOCK);
    answers(REQUEST_HELLO, "-NOCLOCK redlock:clock is gone\r\n", ANSWER_ERROR);
}

TEST(errors_keep_their_words)
{
    for (int kind = REQUEST_HELLO; kind < REQUEST_KINDS; kind++) {
        answers((enum request_kind)kind, "-NOPERM no\a way\r\n", ANSWER_ERROR);
        assert_string_equal(reply.text.bytes, "NOPERM no? way");
        assert_int_equal(reply.text.length, 14);
    }
}

TEST(a_forgotten_script)
{
    for (int kind = REQUEST_ACQUIRE; kind < REQUEST_KINDS; kind++)
        answers((enum request_kind)kind, "-NOSCRIPT No matching script.\r\n", ANSWER_NOSCRIPT);
    answers(REQUEST_HELLO, "-NOSCRIPT No matching script.\r\n", ANSWER_NOSCRIPT);
    answers(REQUEST_ADOPT, "-NOSCRIPT No matching script.\r\n", ANSWER_ERROR);
    answers(REQUEST_KILL, "-NOSCRIPT No matching script.\r\n", ANSWER_ERROR);
}

/* ---- What is said of a name ---- */

TEST(announce)
{
    answers(REQUEST_ANNOUNCE, ":1\r\n", ANSWER_YES);
    answers(REQUEST_ANNOUNCE, ":0\r\n", ANSWER_ABSENT);
    answers(REQUEST_ANNOUNCE, ":-1\r\n", ANSWER_HELD);
}

TEST(unsay)
{
    answers(REQUEST_UNSAY, ":1\r\n", ANSWER_YES);
    answers(REQUEST_UNSAY, ":0\r\n", ANSWER_ABSENT);
}

static void stands(const char *bytes, enum answer answer, unsigned parties, unsigned counted)
{
    static const enum request_kind kinds[] = {REQUEST_ARRIVE, REQUEST_DEPART};
    for (unsigned i = 0; i < COUNT(kinds); i++) {
        bool waits = answer == ANSWER_QUEUED && kinds[i] == REQUEST_DEPART;
        answers(kinds[i], bytes, waits ? ANSWER_ABSENT : answer);
        assert_int_equal(reply.barrier.parties, parties);
        assert_int_equal(reply.barrier.counted, counted);
    }
}

TEST(how_it_stands_at_a_barrier)
{
    stands("*4\r\n:0\r\n:5\r\n:3\r\n$0\r\n\r\n", ANSWER_QUEUED, 5, 3);
    assert_int_equal(reply.barrier.tokens.length, 0);
    stands("*4\r\n:2\r\n:256\r\n:2147483647\r\n$0\r\n\r\n", ANSWER_YES, 256, INT32_MAX);
    stands("*4\r\n:-1\r\n:1\r\n:0\r\n$0\r\n\r\n", ANSWER_HELD, 1, 0);
    stands("*4\r\n:1\r\n:2\r\n:2\r\n$11\r\nabc:h\ndef:h\r\n", ANSWER_OPEN, 2, 2);
    assert_int_equal(reply.barrier.tokens.length, 11);
    assert_memory_equal(reply.barrier.tokens.bytes, "abc:h\ndef:h", 11);
    stands("*4\r\n:3\r\n:2\r\n:0\r\n:9007199254740992\r\n", ANSWER_OVER, 2, 0);
    assert_int_equal(reply.barrier.latest, INT64_C(1) << 53);
}

TEST(how_a_latch_stands)
{
    static const enum request_kind kinds[] = {REQUEST_TALLY, REQUEST_MEND};
    for (unsigned i = 0; i < COUNT(kinds); i++) {
        answers(kinds[i], ":0\r\n", ANSWER_ABSENT);
        answers(
            kinds[i],
            "*7\r\n:0\r\n$3\r\nabc\r\n:1000\r\n:1785000000123\r\n:5000\r\n:61\r\n$3\r\na\nb\r\n",
            ANSWER_YES);
        assert_int_equal(reply.latch.arrivals, 1000);
        assert_int_equal(reply.latch.ends_ms, INT64_C(1785000000123));
        assert_int_equal(reply.latch.remaining_ms, 5000);
        assert_int_equal(reply.latch.age, MS(61));
        assert_int_equal(reply.latch.id.length, 3);
        assert_memory_equal(reply.latch.id.bytes, "abc", 3);
        assert_int_equal(reply.latch.arrived.length, 3);
        assert_memory_equal(reply.latch.arrived.bytes, "a\nb", 3);
        answers(kinds[i], "*7\r\n:1\r\n$1\r\na\r\n:1\r\n:7\r\n:0\r\n:0\r\n$0\r\n\r\n", ANSWER_OPEN);
    }
    answers(REQUEST_DROP, ":1\r\n", ANSWER_YES);
    answers(REQUEST_DROP, ":0\r\n", ANSWER_ABSENT);
}

#define LONG_ID "12345678901234567890123456789012345678901234567890123456789012345"

static char long_bytes[300000], value[REPLY_LONG_MAX + 1];

/* Writes a string of `before` and `length` bytes of the value, each of any value, behind `at`. */
static char *write_long(char *at, const char *before, size_t length)
{
    at += sprintf(at, "$%zu\r\n%s", strlen(before) + length, before);
    for (size_t i = 0; i < length; i++)
        value[i] = (char)(i * 7);
    memcpy(at, value, length);
    at += length;
    memcpy(at, "\r\n", 2);
    return at + 2;
}

static bool observes(const char *before, size_t length, const char *left)
{
    struct tag tag = {.kind = REQUEST_OBSERVE};
    char *at = write_long(long_bytes + sprintf(long_bytes, "*2\r\n"), before, length);
    at += sprintf(at, ":%s\r\n", left);
    feed_bytes(long_bytes, (size_t)(at - long_bytes));
    return reply_read(&raw, &tag, &login, &hello, &reply);
}

TEST(what_is_said_is_told)
{
    answers(REQUEST_OBSERVE, "$-1\r\n", ANSWER_ABSENT);
    assert_true(reply.said.term == 0);
    answers(REQUEST_OBSERVE, "*2\r\n$31\r\n1785000000123456 3 abc:host a b\r\n:1500\r\n",
            ANSWER_YES);
    struct said said = reply.said;
    assert_true(said.term == 1785000000123456);
    assert_int_equal(said.number, 3);
    assert_int_equal(said.token.length, 8);
    assert_memory_equal(said.token.bytes, "abc:host", 8);
    assert_int_equal(said.value.length, 3);
    assert_memory_equal(said.value.bytes, "a b", 3);
    assert_int_equal(said.remaining_ms, 1500);
    answers(REQUEST_OBSERVE,
            "*2\r\n$36\r\n9007199254740992 9007199254740992 t \r\n:9223372036854775807\r\n",
            ANSWER_YES);
    said = reply.said;
    assert_true(said.term == INT64_C(1) << 53 && said.number == INT64_C(1) << 53);
    assert_int_equal(said.value.length, 0);
    assert_true(said.remaining_ms > TTL_MS_MOST && MS(said.remaining_ms) <= INT64_C(1) << 53);
}

TEST(all_parties_are_told)
{
    struct tag tag = {.kind = REQUEST_ARRIVE};
    char *at = long_bytes + sprintf(long_bytes, "*4\r\n:1\r\n:256\r\n:512\r\n");
    at = write_long(at, "", 512 * (TOKEN_MAX + 1) - 1);
    feed_bytes(long_bytes, (size_t)(at - long_bytes));
    assert_true(reply_read(&raw, &tag, &login, &hello, &reply));
    assert_int_equal(reply.barrier.tokens.length, 512 * (TOKEN_MAX + 1) - 1);
    assert_memory_equal(reply.barrier.tokens.bytes, value, reply.barrier.tokens.length);
}

TEST(values_of_all_lengths_are_told)
{
    static const size_t lengths[] = {0, 1, 2000, 2041, 2042, 2043, 65536, 3000, 65535, 2048};
    for (unsigned i = 0; i < COUNT(lengths); i++) {
        assert_true(observes("7 1 t ", lengths[i], "1"));
        struct said said = reply.said;
        assert_int_equal(said.value.length, lengths[i]);
        assert_memory_equal(said.value.bytes, value, lengths[i]);
        assert_int_equal(said.value.bytes[lengths[i]], '\0');
        assert_int_equal(said.term, 7);
        assert_memory_equal(said.token.bytes, "t ", 2);
    }
    assert_false(observes("7 1 t ", 65537, "1"));
    assert_false(observes("7 1 t ", REPLY_LONG_MAX, "1"));
    assert_false(observes("7 x ", 65536, "1"));
    assert_true(observes("7 1 t ", 5, "1"));
}

TEST(the_longest_token_is_told)
{
    char before[TOKEN_MAX + 10] = "7 1 ";
    memset(before + 4, 't', TOKEN_MAX);
    memcpy(before + 4 + TOKEN_MAX, " ", 2);
    assert_true(observes(before, 5, "1"));
    assert_int_equal(reply.said.token.length, TOKEN_MAX);
    memcpy(before + 4 + TOKEN_MAX, "t ", 3);
    assert_false(observes(before, 5, "1"));
}

TEST(impossible_records)
{
    static const char *const wrong[] = {
        "",
        " ",
        "7",
        "7 ",
        "7 1",
        "7 1 ",
        "7 1 t",
        "7 1  ",
        " 7 1 t ",
        "7  1 t ",
        "0 1 t ",
        "7 0 t ",
        "-7 1 t ",
        "7 -1 t ",
        "+7 1 t ",
        "7x 1 t ",
        "0x7 1 t ",
        "9007199254740993 1 t ",
        "7 9007199254740993 t ",
        "00000000000000007 1 t ",
    };
    for (unsigned i = 0; i < COUNT(wrong); i++)
        if (observes(wrong[i], 0, "1"))
            fail_msg("taken for a record: '%s'", wrong[i]);
    assert_false(observes("7 1 t ", 5, "0"));
    assert_false(observes("7 1 t ", 5, "-1"));
    assert_false(observes("7 1 t ", 5, "-2"));
}

TEST(long_strings_of_a_reply_are_whole)
{
    struct tag tag = {.kind = REQUEST_PEEK};
    enum { EACH = 65000 };
    char *at =
        write_long(long_bytes + sprintf(long_bytes, "*6\r\n$1\r\nx\r\n:5\r\n:7\r\n"), "w", EACH);
    at = write_long(at + sprintf(at, ":8\r\n"), "r", EACH);
    feed_bytes(long_bytes, (size_t)(at - long_bytes));
    assert_true(reply_read(&raw, &tag, &login, &hello, &reply));
    assert_int_equal(reply.peek.waiters.length, EACH + 1);
    assert_int_equal(reply.peek.waiters.bytes[0], 'w');
    assert_memory_equal(reply.peek.waiters.bytes + 1, value, EACH);
    assert_int_equal(reply.peek.waiters.bytes[EACH + 1], 0);
    assert_int_equal(reply.peek.readers.length, EACH + 1);
    assert_int_equal(reply.peek.readers.bytes[0], 'r');
    assert_memory_equal(reply.peek.readers.bytes + 1, value, EACH);
}

TEST(long_strings_beyond_that_are_cut)
{
    struct tag tag = {.kind = REQUEST_OBSERVE};
    char *at = write_long(long_bytes + sprintf(long_bytes, "*2\r\n"), "7 1 t ", 130000);
    at = write_long(at, "7 1 t ", 5000);
    feed_bytes(long_bytes, (size_t)(at - long_bytes));
    assert_false(reply_read(&raw, &tag, &login, &hello, &reply));
    assert_int_equal(raw.fields[0].length, 130006);
    assert_true(raw.fields[1].length < REPLY_TEXT_MAX);
    at = write_long(long_bytes + sprintf(long_bytes, "*3\r\n$7\r\nmessage\r\n"), "", 130000);
    at = write_long(at, "said 1 n 5 7 1 t ", 5000);
    feed_bytes(long_bytes, (size_t)(at - long_bytes));
    struct push push;
    assert_false(reply_read_push(&raw, "redlock:me", &push));
}

TEST(a_survey_tells_names)
{
    answers(REQUEST_SURVEY,
            "*4\r\n$20\r\n18446744073709551615\r\n:1000000\r\n:3\r\n$9\r\n1:a4:a:bc\r\n",
            ANSWER_YES);
    assert_string_equal(reply.survey.cursor.bytes, "18446744073709551615");
    assert_int_equal(reply.survey.keys, 1000000);
    assert_int_equal(reply.survey.left_out, 3);
    assert_int_equal(reply.survey.names.length, 9);
    assert_memory_equal(reply.survey.names.bytes, "1:a4:a:bc", 9);
    answers(REQUEST_SURVEY, "*4\r\n$1\r\n0\r\n:0\r\n:0\r\n$0\r\n\r\n", ANSWER_YES);
    assert_int_equal(reply.survey.names.length, 0);
    answers(REQUEST_SURVEY, "-NOPERM no\r\n", ANSWER_ERROR);
    static const char *const wrong[] = {
        "1:ab", "2:a", "0:", ":a", "a", "1", "-1:a", "1:a ", "1x:a", "99999999999999999:a",
    };
    for (unsigned i = 0; i < COUNT(wrong); i++) {
        char bytes[100];
        snprintf(bytes, sizeof bytes, "*4\r\n$1\r\n0\r\n:0\r\n:0\r\n$%zu\r\n%s\r\n",
                 strlen(wrong[i]), wrong[i]);
        assert_false(reads(REQUEST_SURVEY, bytes));
    }
}

/* ---- One reply to several ---- */

static bool reads_each(enum request_kind kind, unsigned index, unsigned count)
{
    struct tag tag = {.kind = kind, .round = 7, .sent_at = 99};
    bool read = reply_read_each(&raw, index, count, &tag, &reply);
    assert_memory_equal(&reply.tag, &tag, sizeof tag);
    return read;
}

static void answers_each(enum request_kind kind, unsigned index, unsigned count, enum answer answer)
{
    assert_true(reads_each(kind, index, count));
    assert_int_equal(reply.answer, answer);
}

static void refuses_each(enum request_kind kind, const char *const *wrong, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        feed(wrong[i]);
        assert_false(reads_each(kind, 0, 2));
    }
}

TEST(each_release_is_answered)
{
    feed("*4\r\n:1\r\n:0\r\n:-1\r\n-ERR no\r\n");
    const enum answer wanted[] = {ANSWER_YES, ANSWER_ABSENT, ANSWER_HELD, ANSWER_ERROR};
    for (unsigned i = 0; i < COUNT(wanted); i++)
        answers_each(REQUEST_RELEASE, i, COUNT(wanted), wanted[i]);
    assert_string_equal(reply.text.bytes, "ERR no");
}

TEST(each_renewal_is_answered)
{
    feed("*6\r\n:1\r\n:2\r\n:0\r\n:-1\r\n-OOM no room\r\n$16\r\n1785000000123456\r\n");
    const enum answer wanted[] = {ANSWER_YES,  ANSWER_HEALED, ANSWER_ABSENT,
                                  ANSWER_HELD, ANSWER_ERROR,  ANSWER_LATE};
    for (unsigned i = 0; i < COUNT(wanted); i++) {
        answers_each(REQUEST_RENEW, i, COUNT(wanted), wanted[i]);
        if (wanted[i] == ANSWER_ERROR)
            assert_string_equal(reply.text.bytes, "OOM no room");
    }
    assert_true(reply.master_time == 1785000000123456);
}

TEST(each_grant_is_answered)
{
    feed("*5\r\n:1785000000123456\r\n:0\r\n:-1785000000123457\r\n-NOCLOCK gone\r\n:1\r\n");
    const enum answer wanted[] = {ANSWER_YES, ANSWER_YES, ANSWER_HELD, ANSWER_NO_CLOCK, ANSWER_YES};
    const usec clocks[] = {1785000000123456, 0, 1785000000123457, 0, 1};
    for (unsigned i = 0; i < COUNT(wanted); i++) {
        answers_each(REQUEST_GRANT, i, COUNT(wanted), wanted[i]);
        assert_true(reply.clock == clocks[i]);
    }
}

TEST(impossible_grants)
{
    static const char *const wrong[] = {
        ":1\r\n",
        "*1\r\n:1\r\n",
        "*2\r\n:9007199254740993\r\n:1\r\n",
        "*2\r\n:-9007199254740993\r\n:1\r\n",
        "*2\r\n$16\r\n1785000000123456\r\n:1\r\n",
        "*2\r\n$-1\r\n:1\r\n",
        "*2\r\n+OK\r\n:1\r\n",
    };
    refuses_each(REQUEST_GRANT, wrong, COUNT(wrong));
}

TEST(all_late_at_once)
{
    char bytes[800] = "*32\r\n";
    for (unsigned i = 0; i < BATCH_MAX; i++)
        strcat(bytes, "$16\r\n1785000000123456\r\n");
    feed(bytes);
    for (unsigned i = 0; i < BATCH_MAX; i++) {
        answers_each(REQUEST_RENEW, i, BATCH_MAX, ANSWER_LATE);
        assert_true(reply.master_time == 1785000000123456);
    }
}

TEST(what_is_refused_together_is_sent_alone)
{
    feed("-NOSCRIPT No matching script.\r\n");
    answers_each(REQUEST_RELEASE, 1, 2, ANSWER_NOSCRIPT);
    feed("-NOPERM of one of them\r\n");
    answers_each(REQUEST_RENEW, 0, 2, ANSWER_NOSCRIPT);
    assert_string_equal(reply.text.bytes, "NOPERM of one of them");
}

TEST(impossible_replies_to_several)
{
    static const char *const wrong[] = {
        ":1\r\n",
        "+OK\r\n",
        "$-1\r\n",
        "*-1\r\n",
        "*0\r\n",
        "*1\r\n:1\r\n",
        "*3\r\n:1\r\n:1\r\n:1\r\n",
        "*2\r\n:3\r\n:1\r\n",
        "*2\r\n:-2\r\n:1\r\n",
        "*2\r\n$-1\r\n:1\r\n",
        "*2\r\n+OK\r\n:1\r\n",
        "*2\r\n$4\r\nlate\r\n$16\r\n1785000000123456\r\n",
        "*2\r\n$2\r\n-1\r\n:1\r\n",
        "*2\r\n$0\r\n\r\n:1\r\n",
    };
    refuses_each(REQUEST_RENEW, wrong, COUNT(wrong));
    refuses_each(REQUEST_RELEASE, wrong, COUNT(wrong));
    feed("*2\r\n:2\r\n$1\r\n5\r\n");
    assert_false(reads_each(REQUEST_RELEASE, 0, 2));
    assert_false(reads_each(REQUEST_RELEASE, 1, 2));
}

/* ---- Hello ---- */

#define HELLO_TAIL                                                                                 \
    ":1785000000123456\r\n:29000000\r\n:30000\r\n:17\r\n:1\r\n$10\r\nvolatile-x\r\n"               \
    ":1785000060123456\r\n:17654321\r\n"
#define HELLO "*11\r\n$40\r\n" RUN_ID "\r\n$6\r\n7.0.15\r\n$6\r\nmaster\r\n" HELLO_TAIL

TEST(hello_tells_all_fields)
{
    login.client_id = 4711;
    answers(REQUEST_HELLO, HELLO, ANSWER_HELLO);
    assert_ptr_equal(reply.hello, &hello);
    assert_string_equal(hello.run_id, RUN_ID);
    assert_string_equal(hello.version, "7.0.15");
    assert_string_equal(hello.role, "master");
    assert_true(hello.time == 1785000000123456);
    assert_int_equal(hello.abstains, 29000000);
    assert_int_equal(hello.max_ttl_ms, 30000);
    assert_int_equal(hello.uptime_s, 17);
    assert_true(hello.aof);
    assert_string_equal(hello.eviction, "volatile-x");
    assert_true(hello.clock == 1785000060123456);
    assert_int_equal(hello.age, 17654321);
    assert_int_equal(hello.client_id, 4711);
    answers(REQUEST_ADOPT, HELLO, ANSWER_HELLO);
}

TEST(hello_may_write_integers_in_decimal)
{
    answers(REQUEST_HELLO,
            "*11\r\n$1\r\nr\r\n$0\r\n\r\n$5\r\nslave\r\n$16\r\n1785000000123456\r\n$1\r\n0\r\n"
            "$1\r\n0\r\n$2\r\n17\r\n$1\r\n0\r\n$0\r\n\r\n$16\r\n1785000060123456\r\n$2\r\n17\r\n",
            ANSWER_HELLO);
    assert_string_equal(hello.role, "slave");
    assert_true(hello.time == 1785000000123456);
    assert_int_equal(hello.uptime_s, 17);
    assert_false(hello.aof);
    assert_string_equal(hello.eviction, "");
    assert_true(hello.clock == 1785000060123456);
}

TEST(long_versions_are_cut_and_made_printable)
{
    answers(REQUEST_HELLO,
            "*11\r\n$1\r\nr\r\n$20\r\n7.0.15\n-a-long-build\r\n$6\r\nmaster\r\n" HELLO_TAIL,
            ANSWER_HELLO);
    assert_string_equal(hello.version, "7.0.15?-a-long-");
}

TEST(half_a_hello_is_none)
{
    const char *wrong[] = {
        "+OK\r\n",
        "$-1\r\n",
        ":1\r\n",
        "*0\r\n",
        "*8\r\n$1\r\nr\r\n$1\r\n7\r\n$6\r\nmaster\r\n:1\r\n:0\r\n:0\r\n:0\r\n:0\r\n",
        "*11\r\n$0\r\n\r\n$6\r\n7.0.15\r\n$6\r\nmaster\r\n" HELLO_TAIL,
        "*11\r\n:5\r\n$6\r\n7.0.15\r\n$6\r\nmaster\r\n" HELLO_TAIL,
        "*11\r\n$44\r\n" RUN_ID "0123\r\n$6\r\n7.0.15\r\n$6\r\nmaster\r\n" HELLO_TAIL,
        "*11\r\n$1\r\nr\r\n$-1\r\n$6\r\nmaster\r\n" HELLO_TAIL,
        "*11\r\n$1\r\nr\r\n$1\r\n7\r\n$12\r\nmastermaster\r\n" HELLO_TAIL,
        "*11\r\n$1\r\nr\r\n$1\r\n7\r\n$6\r\nmaster\r\n:-1\r\n:0\r\n:0\r\n:0\r\n:0\r\n$0\r\n\r\n:"
        "1\r\n:1\r\n",
        "*11\r\n$1\r\nr\r\n$1\r\n7\r\n$6\r\nmaster\r\n:9007199254740993\r\n:0\r\n:0\r\n:0\r\n:0\r\n"
        "$0\r\n\r\n:1\r\n:1\r\n",
        "*11\r\n$1\r\nr\r\n$1\r\n7\r\n$6\r\nmaster\r\n:1\r\n$2\r\n1x\r\n:0\r\n:0\r\n:0\r\n$"
        "0\r\n\r\n:1\r\n:1\r\n",
        "*11\r\n$1\r\nr\r\n$1\r\n7\r\n$6\r\nmaster\r\n:1\r\n$0\r\n\r\n:0\r\n:0\r\n:0\r\n$0\r\n\r\n:"
        "1\r\n:1\r\n",
        "*11\r\n$1\r\nr\r\n$1\r\n7\r\n$6\r\nmaster\r\n:1\r\n:0\r\n"
        "$20\r\n99999999999999999999\r\n:0\r\n:0\r\n$0\r\n\r\n:1\r\n:1\r\n",
        "*11\r\n$1\r\nr\r\n$1\r\n7\r\n$6\r\nmaster\r\n:1\r\n:0\r\n:0\r\n:0\r\n:0\r\n:0\r\n:1\r\n:"
        "1\r\n",
        "*11\r\n$1\r\nr\r\n$1\r\n7\r\n$6\r\nmaster\r\n:1\r\n:0\r\n:0\r\n:0\r\n:0\r\n$0\r\n\r\n$"
        "1\r\nx\r\n:1\r\n",
        "*10\r\n$1\r\nr\r\n$1\r\n7\r\n$6\r\nmaster\r\n:1\r\n:0\r\n:0\r\n:0\r\n:0\r\n$0\r\n\r\n:"
        "1\r\n",
        "*11\r\n$1\r\nr\r\n$1\r\n7\r\n$6\r\nmaster\r\n:1\r\n:0\r\n:0\r\n:0\r\n:0\r\n$0\r\n\r\n:"
        "1\r\n:-1\r\n",
    };
    for (unsigned i = 0; i < COUNT(wrong); i++)
        if (reads(REQUEST_HELLO, wrong[i]))
            fail_msg("taken for a hello: %s", wrong[i]);
}

TEST(impossible_replies)
{
    const struct {
        enum request_kind kind;
        const char *bytes;
    } wrong[] = {
        {REQUEST_ACQUIRE, "+QUEUED\r\n"},
        {REQUEST_ACQUIRE, "$2\r\nOK\r\n"},
        {REQUEST_ACQUIRE, ":0\r\n"},
        {REQUEST_ACQUIRE, ":2\r\n"},
        {REQUEST_ACQUIRE, "*1\r\n+OK\r\n"},
        {REQUEST_ACQUIRE, "*1\r\n$-1\r\n"},
        {REQUEST_ACQUIRE, "*0\r\n"},
        {REQUEST_ACQUIRE, "*2\r\n:1\r\n:7\r\n"},
        {REQUEST_GRANT, "+OK\r\n"},
        {REQUEST_GRANT, ":-1\r\n"},
        {REQUEST_GRANT, ":2\r\n"},
        {REQUEST_RAISE, ":1\r\n"},
        {REQUEST_GRANT, "*1\r\n:1\r\n"},
        {REQUEST_GRANT, "*2\r\n:1\r\n:0\r\n"},
        {REQUEST_GRANT, "*2\r\n:1\r\n:-7\r\n"},
        {REQUEST_GRANT, "*2\r\n:1\r\n:9007199254740993\r\n"},
        {REQUEST_GRANT, "*2\r\n:0\r\n:7\r\n"},
        {REQUEST_GRANT, "*2\r\n:2\r\n:7\r\n"},
        {REQUEST_GRANT, "*3\r\n:1\r\n:7\r\n:7\r\n"},
        {REQUEST_GRANT, "*4\r\n:1\r\n:7\r\n:-1\r\n:0\r\n"},
        {REQUEST_GRANT, "*4\r\n:0\r\n:7\r\n:-1\r\n:0\r\n"},
        {REQUEST_GRANT, "*4\r\n$2\r\n-1\r\n:7\r\n:-1\r\n:0\r\n"},
        {REQUEST_GRANT, "*4\r\n:-1\r\n:0\r\n:-1\r\n:0\r\n"},
        {REQUEST_GRANT, "*4\r\n:-1\r\n:7\r\n:-2\r\n:0\r\n"},
        {REQUEST_GRANT, "*4\r\n:-1\r\n:7\r\n:1024\r\n:0\r\n"},
        {REQUEST_GRANT, "*4\r\n:-1\r\n:7\r\n:-1\r\n:1024\r\n"},
        {REQUEST_GRANT, "*4\r\n:-1\r\n:7\r\n:-1\r\n:-2\r\n"},
        {REQUEST_GRANT, "*4\r\n:-1\r\n:7\r\n:-1\r\n:4294967296\r\n"},
        {REQUEST_GRANT, "*4\r\n:-1\r\n:7\r\n:-1\r\n$1\r\n0\r\n"},
        {REQUEST_GRANT, "*4\r\n:-1\r\n:7\r\n$-1\r\n:0\r\n"},
        {REQUEST_GRANT, "*3\r\n:-1\r\n:7\r\n:-1\r\n"},
        {REQUEST_GRANT, "*5\r\n:-1\r\n:7\r\n:-1\r\n:0\r\n:0\r\n"},
        {REQUEST_RAISE, "*4\r\n:-1\r\n:7\r\n:-1\r\n:0\r\n"},
        {REQUEST_UPGRADE, "*4\r\n:-1\r\n:7\r\n:-1\r\n:0\r\n"},
        {REQUEST_RENEW, "*4\r\n:-1\r\n:7\r\n:-1\r\n:0\r\n"},
        {REQUEST_RELEASE, "*4\r\n:-1\r\n:7\r\n:-1\r\n:0\r\n"},
        {REQUEST_ACQUIRE, "*4\r\n:-1\r\n:7\r\n:-1\r\n:0\r\n"},
        {REQUEST_RAISE, "*2\r\n:2\r\n:7\r\n"},
        {REQUEST_RAISE, "*2\r\n$1\r\n1\r\n:7\r\n"},
        {REQUEST_QUEUE, "+OK\r\n"},
        {REQUEST_QUEUE, ":1\r\n"},
        {REQUEST_QUEUE, "$-1\r\n"},
        {REQUEST_QUEUE, "*0\r\n"},
        {REQUEST_QUEUE, "*1\r\n:1\r\n"},
        {REQUEST_QUEUE, "*2\r\n:0\r\n:7\r\n"},
        {REQUEST_QUEUE, "*2\r\n:-1\r\n:7\r\n"},
        {REQUEST_QUEUE, "*2\r\n:3\r\n:7\r\n"},
        {REQUEST_QUEUE, "*2\r\n:1\r\n:0\r\n"},
        {REQUEST_QUEUE, "*2\r\n:1\r\n:-7\r\n"},
        {REQUEST_QUEUE, "*2\r\n:1\r\n:9007199254740993\r\n"},
        {REQUEST_QUEUE, "*2\r\n:2\r\n$1\r\nx\r\n"},
        {REQUEST_QUEUE, "*2\r\n$1\r\n1\r\n:7\r\n"},
        {REQUEST_QUEUE, "*2\r\n-ERR x\r\n:7\r\n"},
        {REQUEST_QUEUE, "*5\r\n:1\r\n:7\r\n:5\r\n:0\r\n:0\r\n"},
        {REQUEST_QUEUE, "*5\r\n:2\r\n:7\r\n:5\r\n:0\r\n:0\r\n"},
        {REQUEST_QUEUE, "*3\r\n:0\r\n:7\r\n:5\r\n"},
        {REQUEST_QUEUE, "*4\r\n:0\r\n:7\r\n:5\r\n:0\r\n"},
        {REQUEST_QUEUE, "*5\r\n:0\r\n:7\r\n:5\r\n:0\r\n:2\r\n"},
        {REQUEST_QUEUE, "*6\r\n:0\r\n:7\r\n:5\r\n:0\r\n:0\r\n:0\r\n"},
        {REQUEST_QUEUE, "*5\r\n:0\r\n:0\r\n:5\r\n:0\r\n:0\r\n"},
        {REQUEST_QUEUE, "*5\r\n:0\r\n:7\r\n:-3\r\n:0\r\n:0\r\n"},
        {REQUEST_QUEUE, "*5\r\n:0\r\n:7\r\n$1\r\n5\r\n:0\r\n:0\r\n"},
        {REQUEST_QUEUE, "*5\r\n:0\r\n:7\r\n:5\r\n:-1\r\n:0\r\n"},
        {REQUEST_QUEUE, "*5\r\n:0\r\n:7\r\n:5\r\n:4294967296\r\n:0\r\n"},
        {REQUEST_QUEUE, "*5\r\n:0\r\n:7\r\n:5\r\n$-1\r\n:0\r\n"},
        {REQUEST_QUEUE, "*7\r\n:1\r\n:7\r\n:5\r\n:0\r\n:0\r\n:0\r\n:0\r\n"},
        {REQUEST_QUEUE, "*7\r\n:0\r\n:7\r\n:5\r\n:0\r\n:0\r\n:-2\r\n:0\r\n"},
        {REQUEST_QUEUE, "*7\r\n:0\r\n:7\r\n:5\r\n:0\r\n:0\r\n:1024\r\n:0\r\n"},
        {REQUEST_QUEUE, "*7\r\n:0\r\n:7\r\n:5\r\n:0\r\n:0\r\n:0\r\n:-2\r\n"},
        {REQUEST_QUEUE, "*7\r\n:0\r\n:7\r\n:5\r\n:0\r\n:0\r\n:0\r\n:1024\r\n"},
        {REQUEST_QUEUE, "*7\r\n:0\r\n:7\r\n:5\r\n:0\r\n:0\r\n:0\r\n$1\r\n0\r\n"},
        {REQUEST_QUEUE, "*7\r\n:0\r\n:7\r\n:5\r\n:0\r\n:2\r\n:0\r\n:0\r\n"},
        {REQUEST_QUEUE, "*8\r\n:0\r\n:7\r\n:5\r\n:0\r\n:0\r\n:0\r\n:0\r\n:0\r\n"},
        {REQUEST_RENEW, "+OK\r\n"},
        {REQUEST_RENEW, "$-1\r\n"},
        {REQUEST_RENEW, ":3\r\n"},
        {REQUEST_RENEW, ":-2\r\n"},
        {REQUEST_RENEW, ":4294967297\r\n"},
        {REQUEST_RENEW, "*1\r\n:1\r\n"},
        {REQUEST_RENEW, "*2\r\n$5\r\nlater\r\n$1\r\n1\r\n"},
        {REQUEST_RENEW, "*2\r\n$4\r\nlate\r\n$1\r\nx\r\n"},
        {REQUEST_RENEW, "*2\r\n$4\r\nlate\r\n$-1\r\n"},
        {REQUEST_RENEW, "*3\r\n$4\r\nlate\r\n$1\r\n1\r\n$1\r\n1\r\n"},
        {REQUEST_RELEASE, "+OK\r\n"},
        {REQUEST_RELEASE, ":2\r\n"},
        {REQUEST_RELEASE, "*0\r\n"},
        {REQUEST_RELEASE, "*1\r\n:1\r\n"},
        {REQUEST_RELEASE, "$-1\r\n"},
        {REQUEST_PEEK, ":1\r\n"},
        {REQUEST_PEEK, "$1\r\nx\r\n"},
        {REQUEST_PEEK, "*1\r\n$1\r\nx\r\n"},
        {REQUEST_PEEK, "*2\r\n$1\r\nx\r\n:1\r\n"},
        {REQUEST_PEEK, "*4\r\n:1\r\n:1\r\n:0\r\n$1\r\nx\r\n"},
        {REQUEST_PEEK, "*4\r\n$1\r\nx\r\n$1\r\n1\r\n:0\r\n$1\r\nx\r\n"},
        {REQUEST_PEEK, "*4\r\n$1\r\nx\r\n:-3\r\n:0\r\n$1\r\nx\r\n"},
        {REQUEST_PEEK, "*4\r\n-ERR x\r\n:1\r\n:0\r\n$1\r\nx\r\n"},
        {REQUEST_PEEK, "*4\r\n$1\r\nx\r\n:1\r\n:-1\r\n$1\r\nx\r\n"},
        {REQUEST_PEEK, "*4\r\n$1\r\nx\r\n:1\r\n:2147483648\r\n$1\r\nx\r\n"},
        {REQUEST_PEEK, "*4\r\n$1\r\nx\r\n:1\r\n$1\r\n1\r\n$1\r\nx\r\n"},
        {REQUEST_PEEK, "*4\r\n$1\r\nx\r\n:1\r\n:1\r\n:1\r\n"},
        {REQUEST_PEEK, "*5\r\n$1\r\nx\r\n:1\r\n:0\r\n$0\r\n\r\n:1\r\n"},
        {REQUEST_PEEK, "*7\r\n$1\r\nx\r\n:1\r\n:0\r\n$0\r\n\r\n:1\r\n$0\r\n\r\n:1\r\n"},
        {REQUEST_PEEK,
         "*8\r\n$15\r\nredlock:permits\r\n:1\r\n:0\r\n$0\r\n\r\n:1\r\n$0\r\n\r\n:1\r\n:1\r\n"},
        {REQUEST_ANNOUNCE, ":2\r\n"},
        {REQUEST_ANNOUNCE, "+OK\r\n"},
        {REQUEST_ANNOUNCE, "$-1\r\n"},
        {REQUEST_ANNOUNCE, "*1\r\n:1\r\n"},
        {REQUEST_UNSAY, ":2\r\n"},
        {REQUEST_UNSAY, ":-1\r\n"},
        {REQUEST_UNSAY, "$1\r\n1\r\n"},
        {REQUEST_UNSAY, "*1\r\n:1\r\n"},
        {REQUEST_OBSERVE, ":1\r\n"},
        {REQUEST_OBSERVE, "+OK\r\n"},
        {REQUEST_OBSERVE, "$7\r\n7 1 t v\r\n"},
        {REQUEST_OBSERVE, "*0\r\n"},
        {REQUEST_OBSERVE, "*1\r\n$7\r\n7 1 t v\r\n"},
        {REQUEST_OBSERVE, "*3\r\n$7\r\n7 1 t v\r\n:5\r\n:5\r\n"},
        {REQUEST_OBSERVE, "*2\r\n$7\r\n7 1 t v\r\n$1\r\n5\r\n"},
        {REQUEST_OBSERVE, "*2\r\n+7 1 t v\r\n:5\r\n"},
        {REQUEST_OBSERVE, "*2\r\n$-1\r\n:5\r\n"},
        {REQUEST_OBSERVE, "*2\r\n:7\r\n:5\r\n"},
        {REQUEST_ARRIVE, ":0\r\n"},
        {REQUEST_ARRIVE, "+OK\r\n"},
        {REQUEST_ARRIVE, "*3\r\n:0\r\n:5\r\n:3\r\n"},
        {REQUEST_ARRIVE, "*5\r\n:0\r\n:5\r\n:3\r\n$0\r\n\r\n:1\r\n"},
        {REQUEST_ARRIVE, "*4\r\n:3\r\n:5\r\n:3\r\n$0\r\n\r\n"},
        {REQUEST_ARRIVE, "*4\r\n:3\r\n:5\r\n:3\r\n:-1\r\n"},
        {REQUEST_ARRIVE, "*4\r\n:4\r\n:5\r\n:3\r\n$0\r\n\r\n"},
        {REQUEST_ARRIVE, "*4\r\n:-2\r\n:5\r\n:3\r\n$0\r\n\r\n"},
        {REQUEST_ARRIVE, "*4\r\n$1\r\n1\r\n:5\r\n:3\r\n$0\r\n\r\n"},
        {REQUEST_ARRIVE, "*4\r\n:0\r\n:0\r\n:3\r\n$0\r\n\r\n"},
        {REQUEST_ARRIVE, "*4\r\n:0\r\n:257\r\n:3\r\n$0\r\n\r\n"},
        {REQUEST_ARRIVE, "*4\r\n:0\r\n:5\r\n:-1\r\n$0\r\n\r\n"},
        {REQUEST_ARRIVE, "*4\r\n:0\r\n:5\r\n:2147483648\r\n$0\r\n\r\n"},
        {REQUEST_ARRIVE, "*4\r\n:0\r\n:5\r\n:3\r\n:0\r\n"},
        {REQUEST_ARRIVE, "*4\r\n:0\r\n:5\r\n:3\r\n$-1\r\n"},
        {REQUEST_DEPART, ":1\r\n"},
        {REQUEST_DEPART, "*4\r\n:3\r\n:5\r\n:3\r\n$0\r\n\r\n"},
        {REQUEST_TALLY, ":1\r\n"},
        {REQUEST_TALLY, "+OK\r\n"},
        {REQUEST_TALLY, "$-1\r\n"},
        {REQUEST_TALLY, "*7\r\n:0\r\n$1\r\na\r\n:5\r\n:7\r\n:1\r\n:-1\r\n$0\r\n\r\n"},
        {REQUEST_TALLY, "*6\r\n:0\r\n$1\r\na\r\n:5\r\n:7\r\n:1\r\n$0\r\n\r\n"},
        {REQUEST_TALLY, "*5\r\n:0\r\n$1\r\na\r\n:5\r\n:7\r\n:1\r\n"},
        {REQUEST_TALLY, "*7\r\n:2\r\n$1\r\na\r\n:5\r\n:7\r\n:1\r\n:3\r\n$0\r\n\r\n"},
        {REQUEST_TALLY, "*7\r\n:-1\r\n$1\r\na\r\n:5\r\n:7\r\n:1\r\n:3\r\n$0\r\n\r\n"},
        {REQUEST_TALLY, "*7\r\n:0\r\n$0\r\n\r\n:5\r\n:7\r\n:1\r\n:3\r\n$0\r\n\r\n"},
        {REQUEST_TALLY, "*7\r\n:0\r\n$1\r\n \r\n:5\r\n:7\r\n:1\r\n:3\r\n$0\r\n\r\n"},
        {REQUEST_TALLY, "*7\r\n:0\r\n$2\r\na\033\r\n:5\r\n:7\r\n:1\r\n:3\r\n$0\r\n\r\n"},
        {REQUEST_TALLY, "*7\r\n:0\r\n$2\r\n\177a\r\n:5\r\n:7\r\n:1\r\n:3\r\n$0\r\n\r\n"},
        {REQUEST_TALLY, "*7\r\n:0\r\n:1\r\n:5\r\n:7\r\n:1\r\n:3\r\n$0\r\n\r\n"},
        {REQUEST_TALLY, "*7\r\n:0\r\n$1\r\na\r\n:0\r\n:7\r\n:1\r\n:3\r\n$0\r\n\r\n"},
        {REQUEST_TALLY, "*7\r\n:0\r\n$1\r\na\r\n:1001\r\n:7\r\n:1\r\n:3\r\n$0\r\n\r\n"},
        {REQUEST_TALLY, "*7\r\n:0\r\n$1\r\na\r\n:5\r\n:-7\r\n:1\r\n:3\r\n$0\r\n\r\n"},
        {REQUEST_TALLY, "*7\r\n:0\r\n$1\r\na\r\n:5\r\n:7\r\n:-1\r\n:3\r\n$0\r\n\r\n"},
        {REQUEST_TALLY, "*7\r\n:0\r\n$1\r\na\r\n:5\r\n:7\r\n:1\r\n:3\r\n:0\r\n"},
        {REQUEST_TALLY, "*7\r\n:0\r\n$1\r\na\r\n:5\r\n:7\r\n:1\r\n:3\r\n$-1\r\n"},
        {REQUEST_MEND, ":1\r\n"},
        {REQUEST_MEND, "+OK\r\n"},
        {REQUEST_MEND, "$-1\r\n"},
        {REQUEST_MEND, "*5\r\n:0\r\n$1\r\na\r\n:5\r\n:7\r\n:1\r\n"},
        {REQUEST_MEND, "*7\r\n:2\r\n$1\r\na\r\n:5\r\n:7\r\n:1\r\n:3\r\n$0\r\n\r\n"},
        {REQUEST_MEND, "*7\r\n:-1\r\n$1\r\na\r\n:5\r\n:7\r\n:1\r\n:3\r\n$0\r\n\r\n"},
        {REQUEST_MEND, "*7\r\n:0\r\n$0\r\n\r\n:5\r\n:7\r\n:1\r\n:3\r\n$0\r\n\r\n"},
        {REQUEST_MEND, "*7\r\n:0\r\n:1\r\n:5\r\n:7\r\n:1\r\n:3\r\n$0\r\n\r\n"},
        {REQUEST_MEND, "*7\r\n:0\r\n$1\r\na\r\n:0\r\n:7\r\n:1\r\n:3\r\n$0\r\n\r\n"},
        {REQUEST_MEND, "*7\r\n:0\r\n$1\r\na\r\n:1001\r\n:7\r\n:1\r\n:3\r\n$0\r\n\r\n"},
        {REQUEST_MEND, "*7\r\n:0\r\n$1\r\na\r\n:5\r\n:-7\r\n:1\r\n:3\r\n$0\r\n\r\n"},
        {REQUEST_MEND, "*7\r\n:0\r\n$1\r\na\r\n:5\r\n:7\r\n:-1\r\n:3\r\n$0\r\n\r\n"},
        {REQUEST_MEND, "*7\r\n:0\r\n$1\r\na\r\n:5\r\n:7\r\n:1\r\n:3\r\n:0\r\n"},
        {REQUEST_MEND, "*7\r\n:0\r\n$1\r\na\r\n:5\r\n:7\r\n:1\r\n:3\r\n$-1\r\n"},
        {REQUEST_TALLY, "*7\r\n:0\r\n$65\r\n" LONG_ID "\r\n:5\r\n:7\r\n:1\r\n:3\r\n$0\r\n\r\n"},
        {REQUEST_DROP, ":-1\r\n"},
        {REQUEST_DROP, "+OK\r\n"},
        {REQUEST_SURVEY, ":1\r\n"},
        {REQUEST_SURVEY, "$-1\r\n"},
        {REQUEST_SURVEY, "*3\r\n$1\r\n0\r\n:1\r\n:0\r\n"},
        {REQUEST_SURVEY, "*5\r\n$1\r\n0\r\n:1\r\n:0\r\n$0\r\n\r\n:1\r\n"},
        {REQUEST_SURVEY, "*4\r\n:0\r\n:1\r\n:0\r\n$0\r\n\r\n"},
        {REQUEST_SURVEY, "*4\r\n$0\r\n\r\n:1\r\n:0\r\n$0\r\n\r\n"},
        {REQUEST_SURVEY, "*4\r\n$2\r\n-1\r\n:1\r\n:0\r\n$0\r\n\r\n"},
        {REQUEST_SURVEY, "*4\r\n$21\r\n184467440737095516150\r\n:1\r\n:0\r\n$0\r\n\r\n"},
        {REQUEST_SURVEY, "*4\r\n$1\r\n0\r\n:-1\r\n:0\r\n$0\r\n\r\n"},
        {REQUEST_SURVEY, "*4\r\n$1\r\n0\r\n:1\r\n:-1\r\n$0\r\n\r\n"},
        {REQUEST_SURVEY, "*4\r\n$1\r\n0\r\n:1\r\n:2147483648\r\n$0\r\n\r\n"},
        {REQUEST_SURVEY, "*4\r\n$1\r\n0\r\n:1\r\n:0\r\n:0\r\n"},
        {REQUEST_SURVEY, "*4\r\n$1\r\n0\r\n:1\r\n:0\r\n$-1\r\n"},
        {REQUEST_KILL, "$-1\r\n"},
        {REQUEST_KILL, "*1\r\n:1\r\n"},
    };
    for (unsigned i = 0; i < COUNT(wrong); i++)
        if (reads(wrong[i].kind, wrong[i].bytes))
            fail_msg("request %d took %s", wrong[i].kind, wrong[i].bytes);
}

/* ---- What a listener hears ---- */

#define MESSAGE(channel, payload) "*3\r\n$7\r\nmessage\r\n" channel payload
#define CHANNEL                   "$10\r\nredlock:me\r\n"

static struct push push;

static bool hears(const char *bytes)
{
    feed(bytes);
    return reply_read_push(&raw, "redlock:me", &push);
}

static bool hears_text(const char *text)
{
    char bytes[200];
    snprintf(bytes, sizeof bytes, MESSAGE(CHANNEL, "$%zu\r\n%s\r\n"), strlen(text), text);
    return hears(bytes);
}

TEST(a_handover_is_heard)
{
    assert_true(hears(MESSAGE(CHANNEL, "$25\r\nabc:host 1785000000123456\r\n")));
    assert_int_equal(push.token.length, 8);
    assert_memory_equal(push.token.bytes, "abc:host", 8);
    assert_true(push.clock == 1785000000123456);
    assert_true(hears(MESSAGE(CHANNEL, "$18\r\nt 9007199254740992\r\n")));
    assert_true(push.clock == INT64_C(9007199254740992));
    assert_int_equal(push.free_slot, -1);
}

TEST(a_free_slot_is_heard_of)
{
    assert_true(hears(MESSAGE(CHANNEL, "$15\r\nabc:host slot 0\r\n")));
    assert_int_equal(push.token.length, 8);
    assert_memory_equal(push.token.bytes, "abc:host", 8);
    assert_int_equal(push.clock, 0);
    assert_int_equal(push.free_slot, 0);
    assert_true(hears(MESSAGE(CHANNEL, "$11\r\nt slot 1023\r\n")));
    assert_int_equal(push.free_slot, 1023);
}

TEST(a_handover_says_nothing_of_a_name)
{
    push.name.bytes = "n";
    push.said.term = 5;
    assert_true(hears_text("said 7"));
    assert_null(push.name.bytes);
    assert_true(push.said.term == 0 && push.clock == 7);
    assert_true(hears_text("said slot 7"));
    assert_null(push.name.bytes);
    assert_int_equal(push.free_slot, 7);
    assert_int_equal(push.token.length, 4);
}

TEST(a_change_of_what_is_said_is_heard)
{
    assert_true(hears_text("said 6 jo b 7 1500 12 3 abc:host a b"));
    assert_int_equal(push.name.length, 6);
    assert_memory_equal(push.name.bytes, "jo b 7", 6);
    assert_int_equal(push.said.term, 12);
    assert_int_equal(push.said.number, 3);
    assert_int_equal(push.said.token.length, 8);
    assert_memory_equal(push.said.token.bytes, "abc:host", 8);
    assert_int_equal(push.said.value.length, 3);
    assert_memory_equal(push.said.value.bytes, "a b", 3);
    assert_int_equal(push.said.remaining_ms, 1500);
    assert_null(push.token.bytes);
    assert_int_equal(push.token.length, 0);
    assert_int_equal(push.clock, 0);
    assert_int_equal(push.free_slot, -1);
}

TEST(what_is_taken_back_is_heard)
{
    assert_true(hears_text("said 4 jobs 0 "));
    assert_int_equal(push.name.length, 4);
    assert_memory_equal(push.name.bytes, "jobs", 4);
    assert_true(push.said.term == 0);
    assert_null(push.said.value.bytes);
}

/* A name of `name` bytes, of which something of `length` bytes is said. */
static bool hears_change(size_t name, size_t length)
{
    static char text[100000];
    int before = sprintf(text, "said %zu ", name);
    memset(text + before, 'n', name);
    sprintf(text + before + name, " 9223372036854 7 1 t ");
    char *at = long_bytes + sprintf(long_bytes, "*3\r\n$7\r\nmessage\r\n%s", CHANNEL);
    at = write_long(at, text, length);
    feed_bytes(long_bytes, (size_t)(at - long_bytes));
    return reply_read_push(&raw, "redlock:me", &push);
}

TEST(long_names_and_values_are_heard)
{
    static const size_t lengths[] = {0, 1, 2047, 2048, 65536};
    for (unsigned i = 0; i < COUNT(lengths); i++)
        for (unsigned j = 1; j < COUNT(lengths); j++) {
            assert_true(hears_change(lengths[j], lengths[i]));
            assert_int_equal(push.name.length, lengths[j]);
            assert_int_equal(push.said.value.length, lengths[i]);
            assert_memory_equal(push.said.value.bytes, value, lengths[i]);
            assert_true(push.said.remaining_ms > TTL_MS_MOST &&
                        MS(push.said.remaining_ms) <= INT64_C(1) << 53);
        }
    assert_false(hears_change(1, 65537));
    assert_true(hears(MESSAGE(CHANNEL, "$3\r\nt 5\r\n")));
}

TEST(the_longest_token_is_heard)
{
    char token[TOKEN_MAX + 2], bytes[300];
    memset(token, 't', sizeof token);
    for (int length = TOKEN_MAX; length <= TOKEN_MAX + 1; length++) {
        snprintf(bytes, sizeof bytes, MESSAGE(CHANNEL, "$%d\r\n%.*s 5\r\n"), length + 2, length,
                 token);
        assert_int_equal(hears(bytes), length == TOKEN_MAX);
    }
}

TEST(impossible_messages)
{
    const char *const wrong[] = {
        "+OK\r\n",
        ":1\r\n",
        "$-1\r\n",
        "*-1\r\n",
        "*0\r\n",
        "-ERR x\r\n",
        "*2\r\n$7\r\nmessage\r\n" CHANNEL,
        "*4\r\n$7\r\nmessage\r\n" CHANNEL "$3\r\nt 5\r\n$1\r\nx\r\n",
        "*3\r\n$9\r\nsubscribe\r\n" CHANNEL ":1\r\n",
        "*3\r\n$8\r\npmessage\r\n" CHANNEL "$3\r\nt 5\r\n",
        "*3\r\n+message\r\n" CHANNEL "$3\r\nt 5\r\n",
        MESSAGE("$9\r\nredlock:m\r\n", "$3\r\nt 5\r\n"),
        MESSAGE("$11\r\nredlock:me2\r\n", "$3\r\nt 5\r\n"),
        MESSAGE("+redlock:me\r\n", "$3\r\nt 5\r\n"),
        MESSAGE(CHANNEL, ":5\r\n"),
        MESSAGE(CHANNEL, "+t 5\r\n"),
        MESSAGE(CHANNEL, "$-1\r\n"),
        MESSAGE(CHANNEL, "$0\r\n\r\n"),
        MESSAGE(CHANNEL, "$1\r\nt\r\n"),
        MESSAGE(CHANNEL, "$2\r\nt \r\n"),
        MESSAGE(CHANNEL, "$2\r\n 5\r\n"),
        MESSAGE(CHANNEL, "$3\r\nt 0\r\n"),
        MESSAGE(CHANNEL, "$4\r\nt -5\r\n"),
        MESSAGE(CHANNEL, "$4\r\nt +5\r\n"),
        MESSAGE(CHANNEL, "$4\r\nt  5\r\n"),
        MESSAGE(CHANNEL, "$4\r\nt 5 \r\n"),
        MESSAGE(CHANNEL, "$5\r\nt u 5\r\n"),
        MESSAGE(CHANNEL, "$4\r\nt 5x\r\n"),
        MESSAGE(CHANNEL, "$5\r\nt 1e3\r\n"),
        MESSAGE(CHANNEL, "$18\r\nt 9007199254740993\r\n"),
        MESSAGE(CHANNEL, "$19\r\nt 00000000000000005\r\n"),
        MESSAGE(CHANNEL, "$6\r\nt slot\r\n"),
        MESSAGE(CHANNEL, "$7\r\nt slot \r\n"),
        MESSAGE(CHANNEL, "$11\r\nt slot 1024\r\n"),
        MESSAGE(CHANNEL, "$12\r\nt slot 00001\r\n"),
        MESSAGE(CHANNEL, "$9\r\nt slot -1\r\n"),
        MESSAGE(CHANNEL, "$9\r\nt slot +1\r\n"),
        MESSAGE(CHANNEL, "$9\r\nt slot 1x\r\n"),
        MESSAGE(CHANNEL, "$9\r\nt slot  1\r\n"),
        MESSAGE(CHANNEL, "$10\r\nt slot 1 5\r\n"),
        MESSAGE(CHANNEL, "$8\r\nt Slot 1\r\n"),
        MESSAGE(CHANNEL, "$7\r\n slot 1\r\n"),
    };
    for (unsigned i = 0; i < COUNT(wrong); i++)
        if (hears(wrong[i]))
            fail_msg("taken for a handover: %s", wrong[i]);
}

TEST(impossible_changes)
{
    static const char *const wrong[] = {
        "said 4 jobs 0",
        "Said 4 jobs 0 ",
        "say 4 jobs 0 ",
        "said 3 jobs 0 ",
        "said 5 jobs 0 ",
        "said 7 jobs 0 ",
        "said 8 jobs 0 ",
        "said 9007199254740992 jobs 0 ",
        "said 0  0 ",
        "said -4 jobs 0 ",
        "said x jobs 0 ",
        "said 4 jobs 5 ",
        "said 4 jobs -5 ",
        "said 4 jobs 00 ",
        "said 4 jobs 0 7 1 t v",
        "said 4 jobs 5 0 1 t v",
        "said 4 jobs 5 7 x t v",
        "said 4 jobs 5 7 1 t",
        "said 4 jobs 5 7 1  ",
        "said",
        "said ",
        "said 4 ",
    };
    for (unsigned i = 0; i < COUNT(wrong); i++)
        if (hears_text(wrong[i]))
            fail_msg("taken for a change: '%s'", wrong[i]);
}

/* ---- The login ---- */

static void step(enum step step, const char *bytes, bool possible)
{
    feed(bytes);
    assert_int_equal(reply_take_step(&login, step, &raw), possible);
}

TEST(a_good_login)
{
    step(STEP_AUTH, "+OK\r\n", true);
    step(STEP_SELECT, "+OK\r\n", true);
    step(STEP_SETNAME, "+OK\r\n", true);
    step(STEP_CLIENT_ID, ":4711\r\n", true);
    step(STEP_LOAD, "$40\r\n" RUN_ID "\r\n", true);
    answers(REQUEST_HELLO, HELLO, ANSWER_HELLO);
    assert_int_equal(hello.client_id, 4711);
}

TEST(a_refused_login_is_the_answer_to_hello)
{
    step(STEP_AUTH, "-WRONGPASS invalid username-password pair\r\n", true);
    step(STEP_SELECT, "-NOAUTH Authentication required.\r\n", true);
    step(STEP_SETNAME, "-NOAUTH Authentication required.\r\n", true);
    answers(REQUEST_HELLO, "-NOAUTH Authentication required.\r\n", ANSWER_ERROR);
    assert_string_equal(reply.text.bytes, "WRONGPASS invalid username-password pair");
    assert_true(login.denied);
    answers(REQUEST_HELLO, HELLO, ANSWER_ERROR);
}

TEST(a_login_that_is_missing_is_denied)
{
    step(STEP_SETNAME, "-NOAUTH Authentication required.\r\n", true);
    assert_true(login.denied);
    answers(REQUEST_HELLO, "-NOAUTH Authentication required.\r\n", ANSWER_ERROR);
}

TEST(a_refused_database_is_the_answer_to_hello)
{
    step(STEP_SELECT, "-ERR DB index is out of range\r\n", true);
    answers(REQUEST_HELLO, HELLO, ANSWER_ERROR);
    assert_string_equal(reply.text.bytes, "ERR DB index is out of range");
    assert_false(login.denied);
}

TEST(a_subscription_is_confirmed)
{
    step(STEP_SUBSCRIBE, "*3\r\n$9\r\nsubscribe\r\n" CHANNEL ":1\r\n", true);
    assert_false(login.failed);
    step(STEP_SUBSCRIBE, "*3\r\n$9\r\nsubscribe\r\n" CHANNEL ":2\r\n", false);
    step(STEP_SUBSCRIBE, "*3\r\n$9\r\nsubscribe\r\n" CHANNEL "$1\r\n1\r\n", false);
    step(STEP_SUBSCRIBE, "*3\r\n$9\r\nsubscribe\r\n:1\r\n:1\r\n", false);
    step(STEP_SUBSCRIBE, "*3\r\n$11\r\nunsubscribe\r\n" CHANNEL ":1\r\n", false);
    step(STEP_SUBSCRIBE, MESSAGE(CHANNEL, "$3\r\nt 5\r\n"), false);
    step(STEP_SUBSCRIBE, "*2\r\n$9\r\nsubscribe\r\n" CHANNEL, false);
    step(STEP_SUBSCRIBE, "+OK\r\n", false);
    step(STEP_SUBSCRIBE, "$-1\r\n", false);
}

TEST(a_listener_is_told_its_process)
{
    step(STEP_INFO, "$55\r\n# Server\r\nredis_version:7.0.15\r\nrun_id:4c1f\r\ntcp_port:1\r\n",
         true);
    assert_string_equal(login.run_id, "4c1f");
    step(STEP_INFO, "$10\r\n# Server\r\n\r\n", false);
    step(STEP_INFO, "$10\r\n\nrun_id:\r\n\r\n", false);
    step(STEP_INFO, "$58\r\n# S\r\nrun_id:0123456789012345678901234567890123456789012345\r\n",
         false);
    step(STEP_INFO, "+OK\r\n", false);
    step(STEP_INFO, ":1\r\n", false);
    step(STEP_INFO, "-NOPERM no info\r\n", true);
    assert_false(login.failed);
}

TEST(a_sign_of_life)
{
    feed("*2\r\n$4\r\npong\r\n$0\r\n\r\n");
    assert_true(reply_is_alive(&raw));
    feed("*2\r\n$4\r\npong\r\n$1\r\nx\r\n");
    assert_false(reply_is_alive(&raw));
    feed("+PONG\r\n");
    assert_false(reply_is_alive(&raw));
    feed("-NOPERM no ping\r\n");
    assert_true(reply_is_alive(&raw));
}

TEST(a_refused_subscription_is_a_refused_login)
{
    step(STEP_SETNAME, "-NOPERM no setname\r\n", true);
    step(STEP_SUBSCRIBE, "-NOPERM no channel\r\n", true);
    assert_true(login.failed);
    assert_string_equal(login.why, "NOPERM no channel");
}

TEST(what_the_login_can_do_without)
{
    step(STEP_SETNAME, "-NOPERM no setname\r\n", true);
    step(STEP_CLIENT_ID, "-ERR unknown command\r\n", true);
    step(STEP_LOAD, "-NOPERM no script\r\n", true);
    answers(REQUEST_HELLO, HELLO, ANSWER_HELLO);
    assert_int_equal(hello.client_id, 0);
}

TEST(a_refusal_counts_more_than_what_came_before)
{
    step(STEP_SETNAME, "-NOPERM no setname\r\n", true);
    step(STEP_SELECT, "-ERR DB index is out of range\r\n", true);
    step(STEP_LOAD, "-NOPERM no script\r\n", true);
    answers(REQUEST_HELLO, HELLO, ANSWER_ERROR);
    assert_string_equal(reply.text.bytes, "ERR DB index is out of range");
}

TEST(a_long_refusal_is_cut)
{
    char bytes[400];
    memset(bytes, 'x', sizeof bytes);
    memcpy(bytes, "-", 1);
    memcpy(bytes + sizeof bytes - 3, "\r\n", 3);
    step(STEP_AUTH, bytes, true);
    assert_int_equal(strlen(login.why), VOTE_TEXT_MAX - 1);
}

TEST(impossible_steps)
{
    step(STEP_AUTH, ":1\r\n", false);
    step(STEP_AUTH, "*1\r\n-ERR x\r\n", false);
    step(STEP_SELECT, "$2\r\nOK\r\n", false);
    step(STEP_SETNAME, "*1\r\n+OK\r\n", false);
    step(STEP_CLIENT_ID, "+OK\r\n", false);
    step(STEP_CLIENT_ID, ":-5\r\n", false);
    step(STEP_LOAD, "+OK\r\n", false);
    step(STEP_LOAD, "$-1\r\n", false);
    assert_false(login.failed);
}

/* ---- Bounds ---- */

static void refuses(const char *bytes)
{
    void *built = NULL;
    redisReaderFeed(reader, bytes, strlen(bytes));
    if (redisReaderGetReply(reader, &built) == REDIS_OK)
        fail_msg("built: %s", bytes);
    assert_null(built);
    tear_down(NULL);
    set_up(NULL);
}

TEST(arrays_are_short_and_flat)
{
    refuses("*33\r\n");
    refuses("*2147483647\r\n");
    refuses("*4294967297\r\n");
    refuses("*9223372036854775807\r\n");
    refuses("*1\r\n*0\r\n");
    refuses("*1\r\n*1\r\n:1\r\n");
    char longest[400] = "*32\r\n";
    for (unsigned i = 0; i < 32; i++)
        snprintf(longest + strlen(longest), sizeof longest - strlen(longest), ":%u\r\n", i);
    feed(longest);
    assert_int_equal(raw.count, 32);
    assert_int_equal(raw.fields[31].integer, 31);
}

TEST(other_protocols_are_refused)
{
    refuses("hello\r\n");
    refuses("HTTP/1.1 400 Bad Request\r\n");
    refuses("%1\r\n:1\r\n:1\r\n");
    refuses(">2\r\n+message\r\n:1\r\n");
    refuses("~1\r\n:1\r\n");
    refuses("#t\r\n");
    refuses(",1.5\r\n");
    refuses("(12345678901234567890\r\n");
    refuses("=5\r\ntxt:x\r\n");
}

TEST(long_strings_are_cut)
{
    enum { EACH = REPLY_TEXT_MAX - 24 };
    static char bytes[3 * REPLY_TEXT_MAX + 200];
    char *at = bytes + sprintf(bytes, "*4\r\n");
    for (int i = 0; i < 3; i++) {
        at += sprintf(at, "$%d\r\n", EACH);
        memset(at, 'a' + i, EACH);
        at += EACH + sprintf(at + EACH, "\r\n");
    }
    sprintf(at, "$2\r\nzz\r\n");
    feed(bytes);
    assert_int_equal(raw.count, 4);
    assert_int_equal(raw.fields[0].length, EACH);
    assert_int_equal(raw.fields[1].length, EACH); /* these two come beside those */
    assert_int_equal(raw.fields[2].length, EACH);
    for (unsigned i = 0; i < raw.count; i++) {
        const struct field *field = &raw.fields[i];
        assert_int_equal(strlen(field->text), field->length);
    }
    feed("$2\r\nzz\r\n");
    assert_string_equal(raw.fields[0].text, "zz");
}

TEST(a_reply_may_come_byte_by_byte)
{
    const char *bytes = HELLO;
    struct tag tag = {.kind = REQUEST_HELLO};
    void *built = NULL;
    for (; bytes[1]; bytes++) {
        redisReaderFeed(reader, bytes, 1);
        assert_int_equal(redisReaderGetReply(reader, &built), REDIS_OK);
        assert_null(built);
    }
    redisReaderFeed(reader, bytes, 1);
    redisReaderGetReply(reader, &built);
    assert_ptr_equal(built, &raw);
    assert_true(reply_read(&raw, &tag, &login, &hello, &reply));
    assert_string_equal(hello.run_id, RUN_ID);
}

int main(void)
{
    return RUN_CASES(NULL, NULL);
}
