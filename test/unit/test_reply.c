/* Replies → answers, through hiredis's own reader. */
#define _GNU_SOURCE
#include "reply.h"

#include "spelling.h"

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

static void feed(const char *words)
{
    char *bytes = spell(words);
    feed_bytes(bytes, strlen(bytes));
    free(bytes);
}

static bool reads(enum request_kind kind, const char *words)
{
    struct tag tag = {.kind = kind, .round = 7, .sent_at = 99};
    feed(words);
    bool read = reply_read(&raw, &tag, &login, &hello, &reply);
    assert_memory_equal(&reply.tag, &tag, sizeof tag);
    return read;
}

static void answers(enum request_kind kind, const char *words, enum answer answer)
{
    assert_true(reads(kind, words));
    assert_int_equal(reply.answer, answer);
}

static void refuses(enum request_kind kind, const char *list)
{
    for (char words[300]; next_of(&list, words);)
        if (reads(kind, words))
            fail_msg("request %d took %s", kind, words);
}

static void assert_text(struct slice slice, const char *text)
{
    assert_int_equal(slice.length, strlen(text));
    assert_memory_equal(slice.bytes, text, slice.length);
}

/* ---- */

#define TEST(name) CASE_WITH(name, set_up, tear_down)

TEST(acquire)
{
    answers(REQUEST_ACQUIRE, "+OK", ANSWER_YES);
    answers(REQUEST_ACQUIRE, "nil", ANSWER_HELD);
    assert_null(reply.text.bytes);
    answers(REQUEST_ACQUIRE, "*-1\r\n", ANSWER_HELD);
    answers(REQUEST_ACQUIRE, "1", ANSWER_YES);
    answers(REQUEST_ACQUIRE, "-1", ANSWER_HELD);
}

TEST(renew)
{
    answers(REQUEST_RENEW, "1", ANSWER_YES);
    answers(REQUEST_RENEW, "2", ANSWER_HEALED);
    answers(REQUEST_RENEW, "0", ANSWER_ABSENT);
    answers(REQUEST_RENEW, "-1", ANSWER_HELD);
    answers(REQUEST_RENEW, "['late' '1785000000123456']", ANSWER_LATE);
    assert_true(reply.master_time == 1785000000123456);
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

    answers(REQUEST_PEEK, "nil", ANSWER_ABSENT);
    answers(REQUEST_PEEK, "['x' -1 0 '']", ANSWER_HELD);
    assert_int_equal(reply.peek.remaining_ms, -2);
    answers(REQUEST_PEEK, "['x' -2 0 '']", ANSWER_HELD);
    assert_int_equal(reply.peek.remaining_ms, -1);
    answers(REQUEST_PEEK, "['' 0 0 '']", ANSWER_HELD);
    assert_int_equal(reply.peek.value.length, 0);
    assert_int_equal(reply.peek.remaining_ms, 0);
    answers(REQUEST_PEEK, "['x' 9223372036854775807 0 '']", ANSWER_HELD);
    assert_true(reply.peek.remaining_ms > TTL_MS_MOST && MS(reply.peek.remaining_ms) <= INT64_C(1)
                                                                                            << 53);
}

TEST(peek_tells_how_many_share)
{
    answers(REQUEST_PEEK, "['me' 1500 0 '']", ANSWER_HELD);
    assert_int_equal(reply.peek.reading, 0);
    answers(REQUEST_PEEK, "['me' 1500 2 'w' 3 'ab']", ANSWER_HELD);
    assert_int_equal(reply.peek.reading, 3);
    assert_string_equal(reply.peek.readers.bytes, "ab");
    assert_int_equal(reply.peek.waiting, 2);
    assert_string_equal(reply.peek.value.bytes, "me");
    answers(REQUEST_PEEK, "['me' 1 0 '' 2147483647 '']", ANSWER_HELD);
    assert_int_equal(reply.peek.reading, INT32_MAX);
    refuses(REQUEST_PEEK,
            "['me' 1 0 '' -1 ''] | ['me' 1 0 '' 2147483648 ''] | ['me' 1 0 '' '1' ''] | "
            "['me' 1 0 '' nil ''] | ['me' 1 0 '' 1 1]");
}

TEST(a_grant_tells_the_clock)
{
    answers(REQUEST_GRANT, "[1 1785000000123456]", ANSWER_YES);
    assert_true(reply.clock == 1785000000123456);
    answers(REQUEST_GRANT, "[-1 1785000000123457]", ANSWER_HELD);
    assert_true(reply.clock == 1785000000123457);
    answers(REQUEST_GRANT, "1", ANSWER_YES);
    assert_int_equal(reply.clock, 0);
    answers(REQUEST_RAISE, "[1 '1785000000123456']", ANSWER_YES);
    answers(REQUEST_RAISE, "[0 7]", ANSWER_ABSENT);
    answers(REQUEST_RAISE, "[-1 7]", ANSWER_HELD);
}

TEST(a_place_in_the_queue)
{
    answers(REQUEST_QUEUE, "[1 1785000000123456]", ANSWER_YES);
    assert_true(reply.clock == 1785000000123456);
    assert_int_equal(reply.queue.remaining_ms, -1);
    answers(REQUEST_QUEUE, "[2 7]", ANSWER_AHEAD);
    answers(REQUEST_QUEUE, "[0 1785000000123457 1500 12 0]", ANSWER_QUEUED);
    assert_false(reply.queue.foreign);
    assert_true(reply.clock == 1785000000123457);
    assert_int_equal(reply.queue.remaining_ms, 1500);
    assert_int_equal(reply.queue.position, 12);
    answers(REQUEST_QUEUE, "[0 7 -1 0 1]", ANSWER_QUEUED);
    assert_true(reply.queue.foreign);
    assert_int_equal(reply.queue.remaining_ms, -2);
    assert_int_equal(reply.queue.position, 0);
    answers(REQUEST_QUEUE, "[0 7 -2 4294967295 0]", ANSWER_QUEUED);
    assert_int_equal(reply.queue.remaining_ms, -1);
    assert_int_equal(reply.queue.position, UINT32_MAX);
}

TEST(a_refused_slot_tells_others)
{
    answers(REQUEST_GRANT, "['1785000000123457 0 1023']", ANSWER_HELD);
    assert_true(reply.clock == 1785000000123457);
    assert_int_equal(reply.grant.free_slot, 1023);
    assert_int_equal(reply.grant.next_slot, 0);
    answers(REQUEST_GRANT, "['7 3']", ANSWER_HELD);
    assert_int_equal(reply.grant.free_slot, -1);
    assert_int_equal(reply.grant.next_slot, 3);
    answers(REQUEST_GRANT, "[-1 7]", ANSWER_HELD);
    assert_int_equal(reply.grant.free_slot, -1);
    assert_int_equal(reply.grant.next_slot, -1);
    answers(REQUEST_GRANT, "1", ANSWER_YES);
    assert_int_equal(reply.grant.free_slot, -1);
    assert_int_equal(reply.grant.next_slot, -1);
    refuses(REQUEST_GRANT,
            "[-1 7 -1 3] | ['7'] | ['7 '] | ['7 3 '] | ['7  3'] | ['0 3'] | ['-7 3']");
    refuses(REQUEST_GRANT,
            "['7 1024'] | ['7 3 1024'] | ['7 -1'] | ['7 3 -1'] | ['7 3 1 1'] | [' 3']");
    refuses(REQUEST_GRANT,
            "['7 00003'] | ['7 3x'] | ['7x 3'] | ['9007199254740993 3'] | '7 3' | ['']");
}

TEST(a_place_for_a_slot_tells_others)
{
    answers(REQUEST_QUEUE, "[0 7 1500 0 1 2 1023]", ANSWER_QUEUED);
    assert_int_equal(reply.queue.remaining_ms, 1500);
    assert_int_equal(reply.queue.position, 0);
    assert_true(reply.queue.foreign);
    assert_int_equal(reply.queue.slots.free_slot, 2);
    assert_int_equal(reply.queue.slots.next_slot, 1023);
    answers(REQUEST_QUEUE, "[0 7 -2 4 0 -1 -1]", ANSWER_QUEUED);
    assert_int_equal(reply.queue.position, 4);
    assert_int_equal(reply.queue.slots.free_slot, -1);
    assert_int_equal(reply.queue.slots.next_slot, -1);
    answers(REQUEST_QUEUE, "[0 7 -2 4 0]", ANSWER_QUEUED);
    assert_int_equal(reply.queue.slots.free_slot, -1);
    assert_int_equal(reply.queue.slots.next_slot, -1);
    answers(REQUEST_QUEUE, "[1 7]", ANSWER_YES);
    assert_int_equal(reply.queue.slots.free_slot, -1);
}

TEST(peek_tells_of_permits)
{
    answers(REQUEST_PEEK, "['redlock:permits' 900 2 'a\nb' 3 'c\nd\ne' 4]", ANSWER_HELD);
    assert_string_equal(reply.peek.value.bytes, PERMITS);
    assert_int_equal(reply.peek.remaining_ms, 900);
    assert_int_equal(reply.peek.waiting, 2);
    assert_string_equal(reply.peek.waiters.bytes, "a\nb");
    assert_int_equal(reply.peek.reading, 3);
    assert_string_equal(reply.peek.readers.bytes, "c\nd\ne");
    assert_int_equal(reply.peek.permits, 4);
    answers(REQUEST_PEEK, "['me' 1500 0 '']", ANSWER_HELD);
    assert_int_equal(reply.peek.permits, 0);
    answers(REQUEST_PEEK, "['redlock:permits' -2 1 'a' 0 '' 1024]", ANSWER_HELD);
    assert_int_equal(reply.peek.permits, 1024);
    assert_int_equal(reply.peek.remaining_ms, -1);
    static const char *const bad[] = {"0", "1025", "-1", "'4'", "nil", "!ERR", "4294967297"};
    for (unsigned i = 0; i < COUNT(bad); i++) {
        char words[120];
        snprintf(words, sizeof words, "['redlock:permits' 1 0 '' 1 'a' %s]", bad[i]);
        refuses(REQUEST_PEEK, words);
    }
}

TEST(a_clock_that_is_gone)
{
    answers(REQUEST_QUEUE, "!'NOCLOCK redlock:clock is gone'", ANSWER_NO_CLOCK);
    answers(REQUEST_GRANT, "!'NOCLOCK redlock:clock is gone'", ANSWER_NO_CLOCK);
    answers(REQUEST_RAISE, "!'NOCLOCK redlock:clock is gone'", ANSWER_NO_CLOCK);
    answers(REQUEST_HELLO, "!'NOCLOCK redlock:clock is gone'", ANSWER_ERROR);
}

TEST(errors_keep_their_words)
{
    for (int kind = REQUEST_HELLO; kind < REQUEST_KINDS; kind++) {
        answers((enum request_kind)kind, "!'NOPERM no\a way'", ANSWER_ERROR);
        assert_string_equal(reply.text.bytes, "NOPERM no? way");
        assert_int_equal(reply.text.length, 14);
    }
}

TEST(a_forgotten_script)
{
    for (int kind = REQUEST_ACQUIRE; kind < REQUEST_KINDS; kind++)
        answers((enum request_kind)kind, "!'NOSCRIPT No matching script.'", ANSWER_NOSCRIPT);
    answers(REQUEST_HELLO, "!'NOSCRIPT No matching script.'", ANSWER_NOSCRIPT);
    answers(REQUEST_ADOPT, "!'NOSCRIPT No matching script.'", ANSWER_ERROR);
    answers(REQUEST_KILL, "!'NOSCRIPT No matching script.'", ANSWER_ERROR);
}

/* ---- What is said of a name ---- */

static void stands(const char *words, enum answer answer, unsigned parties, unsigned counted)
{
    static const enum request_kind kinds[] = {REQUEST_ARRIVE, REQUEST_DEPART};
    for (unsigned i = 0; i < COUNT(kinds); i++) {
        bool waits = answer == ANSWER_QUEUED && kinds[i] == REQUEST_DEPART;
        answers(kinds[i], words, waits ? ANSWER_ABSENT : answer);
        assert_int_equal(reply.barrier.parties, parties);
        assert_int_equal(reply.barrier.counted, counted);
    }
}

TEST(how_it_stands_at_a_barrier)
{
    stands("[0 5 3 '']", ANSWER_QUEUED, 5, 3);
    assert_int_equal(reply.barrier.tokens.length, 0);
    stands("[2 256 2147483647 '']", ANSWER_YES, 256, INT32_MAX);
    stands("[-1 1 0 '']", ANSWER_HELD, 1, 0);
    stands("[1 2 2 'abc:h\ndef:h']", ANSWER_OPEN, 2, 2);
    assert_text(reply.barrier.tokens, "abc:h\ndef:h");
    stands("[3 2 0 9007199254740992]", ANSWER_OVER, 2, 0);
    assert_int_equal(reply.barrier.latest, INT64_C(1) << 53);
}

TEST(how_a_latch_stands)
{
    static const enum request_kind kinds[] = {REQUEST_TALLY, REQUEST_MEND};
    for (unsigned i = 0; i < COUNT(kinds); i++) {
        answers(kinds[i], "0", ANSWER_ABSENT);
        answers(kinds[i], "[0 'abc' 1000 1785000000123 5000 61 'a\nb']", ANSWER_YES);
        assert_int_equal(reply.latch.arrivals, 1000);
        assert_int_equal(reply.latch.ends_ms, INT64_C(1785000000123));
        assert_int_equal(reply.latch.remaining_ms, 5000);
        assert_int_equal(reply.latch.age, MS(61));
        assert_text(reply.latch.id, "abc");
        assert_text(reply.latch.arrived, "a\nb");
        answers(kinds[i], "[1 'a' 1 7 0 0 '']", ANSWER_OPEN);
    }
    answers(REQUEST_DROP, "1", ANSWER_YES);
    answers(REQUEST_DROP, "0", ANSWER_ABSENT);
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

static bool observes(const char *before, size_t length)
{
    struct tag tag = {.kind = REQUEST_OBSERVE};
    char *at = write_long(long_bytes + sprintf(long_bytes, "*2\r\n"), before, length);
    at += sprintf(at, ":1\r\n");
    feed_bytes(long_bytes, (size_t)(at - long_bytes));
    return reply_read(&raw, &tag, &login, &hello, &reply);
}

TEST(what_is_said_is_told)
{
    answers(REQUEST_OBSERVE, "nil", ANSWER_ABSENT);
    assert_true(reply.said.term == 0);
    answers(REQUEST_OBSERVE, "['1785000000123456 3 abc:host a b' 1500]", ANSWER_YES);
    struct said said = reply.said;
    assert_true(said.term == 1785000000123456);
    assert_int_equal(said.number, 3);
    assert_text(said.token, "abc:host");
    assert_text(said.value, "a b");
    assert_int_equal(said.remaining_ms, 1500);
    answers(REQUEST_OBSERVE, "['9007199254740992 9007199254740992 t ' 9223372036854775807]",
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
        assert_true(observes("7 1 t ", lengths[i]));
        struct said said = reply.said;
        assert_int_equal(said.value.length, lengths[i]);
        assert_memory_equal(said.value.bytes, value, lengths[i]);
        assert_int_equal(said.value.bytes[lengths[i]], '\0');
        assert_int_equal(said.term, 7);
        assert_memory_equal(said.token.bytes, "t ", 2);
    }
    assert_false(observes("7 1 t ", 65537));
    assert_false(observes("7 1 t ", REPLY_LONG_MAX));
    assert_false(observes("7 x ", 65536));
    assert_true(observes("7 1 t ", 5));
}

TEST(the_longest_token_is_told)
{
    char before[TOKEN_MAX + 10] = "7 1 ";
    memset(before + 4, 't', TOKEN_MAX);
    memcpy(before + 4 + TOKEN_MAX, " ", 2);
    assert_true(observes(before, 5));
    assert_int_equal(reply.said.token.length, TOKEN_MAX);
    memcpy(before + 4 + TOKEN_MAX, "t ", 3);
    assert_false(observes(before, 5));
}

TEST(impossible_records)
{
    refuses(REQUEST_OBSERVE, "['' 1] | [' ' 1] | ['7' 1] | ['7 ' 1] | ['7 1' 1] | ['7 1 ' 1]");
    refuses(REQUEST_OBSERVE, "['7 1 t' 1] | ['7 1  ' 1] | [' 7 1 t ' 1] | ['7  1 t ' 1]");
    refuses(REQUEST_OBSERVE, "['0 1 t ' 1] | ['7 0 t ' 1] | ['-7 1 t ' 1] | ['7 -1 t ' 1]");
    refuses(REQUEST_OBSERVE, "['+7 1 t ' 1] | ['7x 1 t ' 1] | ['0x7 1 t ' 1]");
    refuses(REQUEST_OBSERVE, "['9007199254740993 1 t ' 1] | ['7 9007199254740993 t ' 1]");
    refuses(REQUEST_OBSERVE, "['00000000000000007 1 t ' 1] | ['7 1 t v' 0] | ['7 1 t v' -1]");
    refuses(REQUEST_OBSERVE, "['7 1 t v' -2]");
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
    answers(REQUEST_SURVEY, "['18446744073709551615' 1000000 3 '1:a4:a:bc']", ANSWER_YES);
    assert_string_equal(reply.survey.cursor.bytes, "18446744073709551615");
    assert_int_equal(reply.survey.keys, 1000000);
    assert_int_equal(reply.survey.left_out, 3);
    assert_text(reply.survey.names, "1:a4:a:bc");
    answers(REQUEST_SURVEY, "['0' 0 0 '']", ANSWER_YES);
    assert_int_equal(reply.survey.names.length, 0);
    answers(REQUEST_SURVEY, "!'NOPERM no'", ANSWER_ERROR);
    refuses(REQUEST_SURVEY, "['0' 0 0 '1:ab'] | ['0' 0 0 '2:a'] | ['0' 0 0 '0:']");
    refuses(REQUEST_SURVEY, "['0' 0 0 ':a'] | ['0' 0 0 'a'] | ['0' 0 0 '1'] | ['0' 0 0 '-1:a']");
    refuses(REQUEST_SURVEY, "['0' 0 0 '1:a '] | ['0' 0 0 '1x:a']");
    refuses(REQUEST_SURVEY, "['0' 0 0 '99999999999999999:a']");
}

TEST(an_answer_to_a_wish_tells_the_holder)
{
    answers(REQUEST_ASK, "['abc:host' 1500 3 1]", ANSWER_HELD);
    assert_text(reply.heed.value, "abc:host");
    assert_int_equal(reply.heed.remaining_ms, 1500);
    assert_int_equal(reply.heed.waiting, 3);
    assert_int_equal(reply.heed.heeding, 1);
    answers(REQUEST_ASK, "['(a list, not a lock)' -1 0 0]", ANSWER_HELD);
    assert_int_equal(reply.heed.remaining_ms, -2); /* it never expires */
    answers(REQUEST_ASK, "nil", ANSWER_ABSENT);
    answers(REQUEST_ASK, "!'NOPERM no'", ANSWER_ERROR);
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

static void refuses_each(enum request_kind kind, const char *list)
{
    for (char words[300]; next_of(&list, words);) {
        feed(words);
        assert_false(reads_each(kind, 0, 2));
    }
}

TEST(each_release_is_answered)
{
    feed("[1 0 -1 !'ERR no']");
    const enum answer wanted[] = {ANSWER_YES, ANSWER_ABSENT, ANSWER_HELD, ANSWER_ERROR};
    for (unsigned i = 0; i < COUNT(wanted); i++)
        answers_each(REQUEST_RELEASE, i, COUNT(wanted), wanted[i]);
    assert_string_equal(reply.text.bytes, "ERR no");
}

TEST(each_grant_is_answered)
{
    feed("[1785000000123456 0 -1785000000123457 !'NOCLOCK gone' 1 '7 3 1']");
    const enum answer wanted[] = {ANSWER_YES,      ANSWER_YES, ANSWER_HELD,
                                  ANSWER_NO_CLOCK, ANSWER_YES, ANSWER_HELD};
    const usec clocks[] = {1785000000123456, 0, 1785000000123457, 0, 1, 7};
    for (unsigned i = 0; i < COUNT(wanted); i++) {
        answers_each(REQUEST_GRANT, i, COUNT(wanted), wanted[i]);
        assert_true(reply.clock == clocks[i]);
    }
}

TEST(impossible_grants)
{
    refuses_each(
        REQUEST_GRANT,
        "1 | [1] | [9007199254740993 1] | [-9007199254740993 1] | ['1785000000123456' 1] | "
        "[nil 1] | [+OK 1]");
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
    feed("!'NOSCRIPT No matching script.'");
    answers_each(REQUEST_RELEASE, 1, 2, ANSWER_NOSCRIPT);
    feed("!'NOPERM of one of them'");
    answers_each(REQUEST_RENEW, 0, 2, ANSWER_NOSCRIPT);
    assert_string_equal(reply.text.bytes, "NOPERM of one of them");
}

TEST(impossible_replies_to_several)
{
    static const enum request_kind kinds[] = {REQUEST_RENEW, REQUEST_RELEASE};
    for (unsigned i = 0; i < COUNT(kinds); i++) {
        refuses_each(kinds[i], "*-1\r\n");
        refuses_each(kinds[i],
                     "1 | +OK | nil | [] | [1] | [1 1 1] | [3 1] | [-2 1] | [nil 1] | [+OK 1] | "
                     "['late' '1785000000123456'] | ['-1' 1] | ['' 1]");
    }
    feed("[2 '5']");
    assert_false(reads_each(REQUEST_RELEASE, 0, 2));
    assert_false(reads_each(REQUEST_RELEASE, 1, 2));
}

/* ---- Hello ---- */

#define HELLO_TAIL " 1785000000123456 29000000 30000 17 1 'volatile-x' 1785000060123456 17654321]"
#define HELLO      "['" RUN_ID "' '7.0.15' 'master'" HELLO_TAIL

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
            "['r' '' 'slave' '1785000000123456' '0' '0' '17' '0' '' '1785000060123456' '17']",
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
    answers(REQUEST_HELLO, "['r' '7.0.15\n-a-build-with-a-long-long-name' 'master'" HELLO_TAIL,
            ANSWER_HELLO);
    assert_string_equal(hello.version, "7.0.15?-a-build-with-a-long-lon");
    answers(REQUEST_HELLO, "['r' 'valkey 255.255.255' 'master'" HELLO_TAIL, ANSWER_HELLO);
    assert_string_equal(hello.version, "valkey 255.255.255");
}

TEST(half_a_hello_is_none)
{
    refuses(REQUEST_HELLO, "+OK | nil | 1 | []");
    refuses(REQUEST_HELLO, "['' '7.0.15' 'master'" HELLO_TAIL);
    refuses(REQUEST_HELLO, "[5 '7.0.15' 'master'" HELLO_TAIL);
    refuses(REQUEST_HELLO, "['" RUN_ID "0123' '7.0.15' 'master'" HELLO_TAIL);
    refuses(REQUEST_HELLO, "['r' nil 'master'" HELLO_TAIL);
    refuses(REQUEST_HELLO, "['r' '7' 'mastermaster'" HELLO_TAIL);
    refuses(REQUEST_HELLO, "['r' '7' 'master' 1 0 0 0 0]");
    refuses(REQUEST_HELLO, "['r' '7' 'master' -1 0 0 0 0 '' 1 1]");
    refuses(REQUEST_HELLO, "['r' '7' 'master' 9007199254740993 0 0 0 0 '' 1 1]");
    refuses(REQUEST_HELLO, "['r' '7' 'master' 1 '1x' 0 0 0 '' 1 1]");
    refuses(REQUEST_HELLO, "['r' '7' 'master' 1 '' 0 0 0 '' 1 1]");
    refuses(REQUEST_HELLO, "['r' '7' 'master' 1 0 '99999999999999999999' 0 0 '' 1 1]");
    refuses(REQUEST_HELLO, "['r' '7' 'master' 1 0 0 0 0 0 1 1]");
    refuses(REQUEST_HELLO, "['r' '7' 'master' 1 0 0 0 0 '' 'x' 1]");
    refuses(REQUEST_HELLO, "['r' '7' 'master' 1 0 0 0 0 '' 1]");
    refuses(REQUEST_HELLO, "['r' '7' 'master' 1 0 0 0 0 '' 1 -1]");
}

TEST(impossible_replies)
{
    refuses(REQUEST_ACQUIRE, "+QUEUED | 'OK' | 0 | 2 | [+OK] | [nil] | [] | [1 7] | [-1 7 -1 0]");
    refuses(REQUEST_GRANT, "+OK | -1 | 2 | [nil] | [1 0] | [1 -7] | [1 9007199254740993] | [0 7]");
    refuses(REQUEST_GRANT, "[2 7] | [1 7 7] | [1 7 -1 0] | [0 7 -1 0] | ['-1' 7 -1 0]");
    refuses(REQUEST_GRANT, "[-1 0 -1 0] | [-1 7 -2 0] | [-1 7 1024 0] | [-1 7 -1 1024]");
    refuses(REQUEST_GRANT, "[-1 7 -1 -2] | [-1 7 -1 4294967296] | [-1 7 -1 '0'] | [-1 7 nil 0]");
    refuses(REQUEST_GRANT, "[-1 7 -1] | [-1 7 -1 0 0]");
    refuses(REQUEST_RAISE, "1 | [-1 7 -1 0] | [2 7] | ['1' 7]");
    refuses(REQUEST_UPGRADE, "[-1 7 -1 0]");
    refuses(REQUEST_RENEW, "[-1 7 -1 0] | +OK | nil | 3 | -2 | 4294967297 | [3] | ['later' '1'] | "
                           "['late' 'x'] | ['late' nil] | ['late' '1' '1']");
    refuses(REQUEST_RELEASE, "[-1 7 -1 0] | ['7 3'] | +OK | 2 | [2] | [] | [+OK] | [1 1] | nil");
    refuses(REQUEST_QUEUE, "+OK | 1 | nil | [] | [1] | [0 7] | [-1 7] | [3 7] | [1 0] | [1 -7]");
    refuses(REQUEST_QUEUE, "[1 9007199254740993] | [2 'x'] | ['1' 7] | [!ERR 7] | [1 7 5 0 0]");
    refuses(REQUEST_QUEUE, "[2 7 5 0 0] | [0 7 5] | [0 7 5 0] | [0 7 5 0 2] | [0 7 5 0 0 0]");
    refuses(REQUEST_QUEUE, "[0 0 5 0 0] | [0 7 -3 0 0] | [0 7 '5' 0 0] | [0 7 5 -1 0]");
    refuses(REQUEST_QUEUE, "[0 7 5 4294967296 0] | [0 7 5 nil 0] | [1 7 5 0 0 0 0]");
    refuses(REQUEST_QUEUE, "[0 7 5 0 0 -2 0] | [0 7 5 0 0 1024 0] | [0 7 5 0 0 0 -2]");
    refuses(REQUEST_QUEUE, "[0 7 5 0 0 0 1024] | [0 7 5 0 0 0 '0'] | [0 7 5 0 2 0 0]");
    refuses(REQUEST_QUEUE, "[0 7 5 0 0 0 0 0]");
    refuses(REQUEST_PEEK, "1 | 'x' | ['x'] | ['x' 1] | [1 1 0 'x'] | ['x' '1' 0 'x']");
    refuses(REQUEST_PEEK, "['x' -3 0 'x'] | [!ERR 1 0 'x'] | ['x' 1 -1 'x']");
    refuses(REQUEST_PEEK, "['x' 1 2147483648 'x'] | ['x' 1 '1' 'x'] | ['x' 1 1 1]");
    refuses(REQUEST_PEEK, "['x' 1 0 '' 1] | ['x' 1 0 '' 1 '' 1]");
    refuses(REQUEST_PEEK, "['redlock:permits' 1 0 '' 1 '' 1 1]");
    refuses(REQUEST_ANNOUNCE, "2 | +OK | nil | [1]");
    refuses(REQUEST_UNSAY, "2 | -1 | '1' | [1]");
    refuses(REQUEST_OBSERVE,
            "1 | +OK | '7 1 t v' | [] | ['7 1 t v'] | ['7 1 t v' 5 5] | ['7 1 t v' '5'] | "
            "[+'7 1 t v' 5] | [nil 5] | [7 5]");
    refuses(REQUEST_ARRIVE, "0 | +OK | [0 5 3] | [0 5 3 '' 1] | [3 5 3 ''] | [3 5 3 -1]");
    refuses(REQUEST_ARRIVE, "[4 5 3 ''] | [-2 5 3 ''] | ['1' 5 3 ''] | [0 0 3 '']");
    refuses(REQUEST_ARRIVE, "[0 257 3 ''] | [0 5 -1 ''] | [0 5 2147483648 ''] | [0 5 3 0]");
    refuses(REQUEST_ARRIVE, "[0 5 3 nil]");
    refuses(REQUEST_DEPART, "1 | [3 5 3 '']");
    static const enum request_kind kinds[] = {REQUEST_TALLY, REQUEST_MEND};
    for (unsigned i = 0; i < COUNT(kinds); i++) {
        refuses(kinds[i], "1 | +OK | nil | [0 'a' 5 7 1 -1 ''] | [0 'a' 5 7 1 '']");
        refuses(kinds[i], "[0 'a' 5 7 1] | [2 'a' 5 7 1 3 ''] | [-1 'a' 5 7 1 3 '']");
        refuses(kinds[i], "[0 '' 5 7 1 3 ''] | [0 ' ' 5 7 1 3 '']");
        refuses(kinds[i], "[0 'a\033' 5 7 1 3 ''] | [0 '\177a' 5 7 1 3 '']");
        refuses(kinds[i], "[0 1 5 7 1 3 ''] | [0 'a' 0 7 1 3 '']");
        refuses(kinds[i], "[0 'a' 1001 7 1 3 ''] | [0 'a' 5 -7 1 3 '']");
        refuses(kinds[i], "[0 'a' 5 7 -1 3 ''] | [0 'a' 5 7 1 3 0]");
        refuses(kinds[i], "[0 'a' 5 7 1 3 nil]");
        refuses(kinds[i], "[0 '" LONG_ID "' 5 7 1 3 '']");
    }
    refuses(REQUEST_DROP, "-1 | +OK");
    refuses(REQUEST_SURVEY, "1 | nil | ['0' 1 0] | ['0' 1 0 '' 1] | [0 1 0 ''] | ['' 1 0 '']");
    refuses(REQUEST_SURVEY, "['-1' 1 0 ''] | ['184467440737095516150' 1 0 ''] | ['0' -1 0 '']");
    refuses(REQUEST_SURVEY, "['0' 1 -1 ''] | ['0' 1 2147483648 ''] | ['0' 1 0 0]");
    refuses(REQUEST_SURVEY, "['0' 1 0 nil]");
    refuses(REQUEST_ASK, "1 | 'x' | +OK | ['x' 1 0] | ['x' 1 0 0 0] | [1 1 0 0] | [nil 1 0 0]");
    refuses(REQUEST_ASK, "['x' -3 0 0] | ['x' 'x' 0 0] | ['x' 1 -1 0] | ['x' 1 0 -1]");
    refuses(REQUEST_ASK, "['x' 1 2147483648 0] | ['x' 1 0 2147483648] | ['x' 1 'x' 0]");
    refuses(REQUEST_KILL, "+OK | nil | [1]");
}

/* ---- What a listener hears ---- */

#define MESSAGE(channel, payload) "['message' " channel " " payload "]"
#define CHANNEL                   "'redlock:me'"

static struct push push;

static bool hears(const char *words)
{
    feed(words);
    return reply_read_push(&raw, "redlock:me", &push);
}

static bool hears_text(const char *text)
{
    char words[200];
    snprintf(words, sizeof words, MESSAGE(CHANNEL, "'%s'"), text);
    return hears(words);
}

TEST(a_handover_is_heard)
{
    assert_true(hears(MESSAGE(CHANNEL, "'abc:host 1785000000123456'")));
    assert_text(push.token, "abc:host");
    assert_true(push.clock == 1785000000123456);
    assert_true(hears(MESSAGE(CHANNEL, "'t 9007199254740992'")));
    assert_true(push.clock == INT64_C(9007199254740992));
    assert_int_equal(push.free_slot, -1);
}

TEST(a_free_slot_is_heard_of)
{
    assert_true(hears(MESSAGE(CHANNEL, "'abc:host slot 0'")));
    assert_text(push.token, "abc:host");
    assert_int_equal(push.clock, 0);
    assert_int_equal(push.free_slot, 0);
    assert_true(hears(MESSAGE(CHANNEL, "'t slot 1023'")));
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
    assert_text(push.name, "jo b 7");
    assert_int_equal(push.said.term, 12);
    assert_int_equal(push.said.number, 3);
    assert_text(push.said.token, "abc:host");
    assert_text(push.said.value, "a b");
    assert_int_equal(push.said.remaining_ms, 1500);
    assert_null(push.token.bytes);
    assert_int_equal(push.token.length, 0);
    assert_int_equal(push.clock, 0);
    assert_int_equal(push.free_slot, -1);
}

TEST(what_is_taken_back_is_heard)
{
    assert_true(hears_text("said 4 jobs 0 "));
    assert_text(push.name, "jobs");
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
    char *at = long_bytes;
    at += sprintf(at, "*3\r\n$7\r\nmessage\r\n$10\r\nredlock:me\r\n");
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
    assert_true(hears(MESSAGE(CHANNEL, "'t 5'")));
}

TEST(the_longest_token_is_heard)
{
    char token[TOKEN_MAX + 2], words[300];
    memset(token, 't', sizeof token);
    for (int length = TOKEN_MAX; length <= TOKEN_MAX + 1; length++) {
        snprintf(words, sizeof words, MESSAGE(CHANNEL, "'%.*s 5'"), length, token);
        assert_int_equal(hears(words), length == TOKEN_MAX);
    }
}

static void hears_none(const char *list)
{
    for (char words[300]; next_of(&list, words);)
        if (hears(words))
            fail_msg("taken for a message: %s", words);
}

static void hears_no_payload(const char *list)
{
    for (char payload[300], words[400]; next_of(&list, payload);) {
        snprintf(words, sizeof words, MESSAGE(CHANNEL, "%s"), payload);
        hears_none(words);
    }
}

TEST(impossible_messages)
{
    hears_none("*-1\r\n");
    hears_none("+OK | 1 | nil | [] | !'ERR x'");
    hears_none("['message' 'redlock:me'] | ['message' 'redlock:me' 't 5' 'x']");
    hears_none("['subscribe' 'redlock:me' 1] | ['pmessage' 'redlock:me' 't 5']");
    hears_none("[+message 'redlock:me' 't 5'] | ['message' 'redlock:m' 't 5']");
    hears_none("['message' 'redlock:me2' 't 5'] | ['message' +redlock:me 't 5']");
    hears_no_payload("5 | +'t 5' | nil | '' | 't' | 't ' | ' 5' | 't 0' | 't -5'");
    hears_no_payload("'t +5' | 't  5' | 't 5 ' | 't u 5' | 't 5x' | 't 1e3'");
    hears_no_payload("'t 9007199254740993' | 't 00000000000000005' | 't slot'");
    hears_no_payload("'t slot ' | 't slot 1024' | 't slot 00001' | 't slot -1'");
    hears_no_payload("'t slot +1' | 't slot 1x' | 't slot  1' | 't slot 1 5'");
    hears_no_payload("'t Slot 1' | ' slot 1'");
}

TEST(impossible_changes)
{
    hears_no_payload("'said 4 jobs 0' | 'Said 4 jobs 0 ' | 'say 4 jobs 0 '");
    hears_no_payload("'said 3 jobs 0 ' | 'said 5 jobs 0 ' | 'said 7 jobs 0 '");
    hears_no_payload("'said 8 jobs 0 ' | 'said 9007199254740992 jobs 0 ' | 'said 0  0 '");
    hears_no_payload("'said -4 jobs 0 ' | 'said x jobs 0 ' | 'said 4 jobs 5 '");
    hears_no_payload("'said 4 jobs -5 ' | 'said 4 jobs 00 ' | 'said 4 jobs 0 7 1 t v'");
    hears_no_payload("'said 4 jobs 5 0 1 t v' | 'said 4 jobs 5 7 x t v'");
    hears_no_payload("'said 4 jobs 5 7 1 t' | 'said 4 jobs 5 7 1  ' | 'said' | 'said '");
    hears_no_payload("'said 4 '");
}

/* ---- The login ---- */

static void step(enum step step, const char *words, bool possible)
{
    feed(words);
    assert_int_equal(reply_take_step(&login, step, &raw), possible);
}

static void refuses_step(enum step which, const char *list)
{
    for (char words[300]; next_of(&list, words);)
        step(which, words, false);
}

TEST(a_refused_login_is_the_answer_to_hello)
{
    step(STEP_AUTH, "!'WRONGPASS invalid username-password pair'", true);
    step(STEP_SELECT, "!'NOAUTH Authentication required.'", true);
    step(STEP_SETNAME, "!'NOAUTH Authentication required.'", true);
    answers(REQUEST_HELLO, "!'NOAUTH Authentication required.'", ANSWER_ERROR);
    assert_string_equal(reply.text.bytes, "WRONGPASS invalid username-password pair");
    assert_true(login.denied);
    answers(REQUEST_HELLO, HELLO, ANSWER_ERROR);
}

TEST(a_login_that_is_missing_is_denied)
{
    step(STEP_SETNAME, "!'NOAUTH Authentication required.'", true);
    assert_true(login.denied);
    answers(REQUEST_HELLO, "!'NOAUTH Authentication required.'", ANSWER_ERROR);
}

TEST(a_refused_database_is_the_answer_to_hello)
{
    step(STEP_SELECT, "!'ERR DB index is out of range'", true);
    answers(REQUEST_HELLO, HELLO, ANSWER_ERROR);
    assert_string_equal(reply.text.bytes, "ERR DB index is out of range");
    assert_false(login.denied);
}

TEST(a_subscription_is_confirmed)
{
    step(STEP_SUBSCRIBE, "['subscribe' " CHANNEL " 1]", true);
    assert_false(login.failed);
    refuses_step(STEP_SUBSCRIBE,
                 "['subscribe' 'redlock:me' 2] | ['subscribe' 'redlock:me' '1'] | "
                 "['subscribe' 1 1] | ['unsubscribe' 'redlock:me' 1] | "
                 "['message' 'redlock:me' 't 5'] | ['subscribe' 'redlock:me'] | +OK | nil");
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
    refuses_step(STEP_INFO, "+OK | 1");
    step(STEP_INFO, "!'NOPERM no info'", true);
    assert_false(login.failed);
}

TEST(a_sign_of_life)
{
    feed("['pong' '']");
    assert_true(reply_is_alive(&raw));
    feed("['pong' 'x']");
    assert_false(reply_is_alive(&raw));
    feed("+PONG");
    assert_false(reply_is_alive(&raw));
    feed("!'NOPERM no ping'");
    assert_true(reply_is_alive(&raw));
}

TEST(a_refused_subscription_is_a_refused_login)
{
    step(STEP_SETNAME, "!'NOPERM no setname'", true);
    step(STEP_SUBSCRIBE, "!'NOPERM no channel'", true);
    assert_true(login.failed);
    assert_string_equal(login.why, "NOPERM no channel");
}

TEST(what_the_login_can_do_without)
{
    step(STEP_SETNAME, "!'NOPERM no setname'", true);
    step(STEP_CLIENT_ID, "!'ERR unknown command'", true);
    step(STEP_LOAD, "!'NOPERM no script'", true);
    answers(REQUEST_HELLO, HELLO, ANSWER_HELLO);
    assert_int_equal(hello.client_id, 0);
}

TEST(a_refusal_counts_more_than_what_came_before)
{
    step(STEP_SETNAME, "!'NOPERM no setname'", true);
    step(STEP_SELECT, "!'ERR DB index is out of range'", true);
    step(STEP_LOAD, "!'NOPERM no script'", true);
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
    refuses_step(STEP_AUTH, "1 | [!'ERR x']");
    step(STEP_SELECT, "'OK'", false);
    step(STEP_SETNAME, "[+OK]", false);
    refuses_step(STEP_CLIENT_ID, "+OK | -5");
    refuses_step(STEP_LOAD, "+OK | nil");
    assert_false(login.failed);
}

/* ---- Bounds ---- */

static void breaks_off(const char *bytes)
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
    breaks_off("*33\r\n");
    breaks_off("*2147483647\r\n");
    breaks_off("*4294967297\r\n");
    breaks_off("*9223372036854775807\r\n");
    breaks_off("*1\r\n*0\r\n");
    breaks_off("*1\r\n*1\r\n:1\r\n");
    char longest[400] = "*32\r\n";
    for (unsigned i = 0; i < 32; i++)
        snprintf(longest + strlen(longest), sizeof longest - strlen(longest), ":%u\r\n", i);
    feed(longest);
    assert_int_equal(raw.count, 32);
    assert_int_equal(raw.fields[31].integer, 31);
}

TEST(other_protocols_are_refused)
{
    breaks_off("hello\r\n");
    breaks_off("HTTP/1.1 400 Bad Request\r\n");
    breaks_off("%1\r\n:1\r\n:1\r\n");
    breaks_off(">2\r\n+message\r\n:1\r\n");
    breaks_off("~1\r\n:1\r\n");
    breaks_off("#t\r\n");
    breaks_off(",1.5\r\n");
    breaks_off("(12345678901234567890\r\n");
    breaks_off("=5\r\ntxt:x\r\n");
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
    feed("'zz'");
    assert_string_equal(raw.fields[0].text, "zz");
}

TEST(a_reply_may_come_byte_by_byte)
{
    char *hello_bytes = spell(HELLO), *bytes = hello_bytes;
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
    free(hello_bytes);
}

PROGRAM_OF_CASES(NULL, NULL)
