/*
 * Several requests in one command, as one real master sees them: the quick way through a script
 * answers as one request after the other would.
 *
 * rule: K9, K14, P3, P4, P12, S2, S3, S10, V8
 */
#define _GNU_SOURCE

#include "ground/slots.h"
#include "one_master.h"

#define MOST 6

static struct several {
    unsigned count;
    unsigned asked; /* in the last command */
    struct names *names[MOST];
    struct request requests[MOST];
} several;

static struct request *add_names(enum request_kind kind, struct names *names, const char *token)
{
    unsigned i = several.count++;
    several.names[i] = names;
    several.requests[i] = request_of(kind, names, token);
    return &several.requests[i];
}

static void add(enum request_kind kind, const char *name, const char *token)
{
    add_names(kind, split(name), token);
}

#define ALL(...)                                                                                   \
    expect_answers((const enum answer[]){__VA_ARGS__},                                             \
                   sizeof((const enum answer[]){__VA_ARGS__}) / sizeof(enum answer))

static void expect_answers(const enum answer *answers, unsigned count)
{
    assert_int_equal(several.count, count);
    ask_each(several.requests, count);
    for (unsigned i = 0; i < count; i++)
        assert_int_equal(answer_of_each(several.requests, i, count), answers[i]);
    for (unsigned i = 0; i < count; i++)
        names_drop(&memory, several.names[i]);
    several.asked = count;
    several.count = 0;
}

/* Each script where one of the names differs from the others, with these rights. */
static void one_answer_for_each(const char *rights)
{
    TELL("MSET x a y b z c");
    TELL("RPUSH list thing");
    become(rights);
    add(REQUEST_RELEASE, "x", "a");
    add(REQUEST_RELEASE, "y", "a");
    add(REQUEST_RELEASE, "list", "a");
    add(REQUEST_RELEASE, "x", "a");
    add(REQUEST_RELEASE, "z", "c");
    ALL(ANSWER_YES, ANSWER_HELD, ANSWER_HELD, ANSWER_ABSENT, ANSWER_YES);
    become_anybody();
    assert_int_equal(ASK_COUNT("EXISTS x y z list"), 2);
    TELL("DEL list");
    assert_int_equal(release("y", "b"), ANSWER_YES);
}

#define TEST(name) CASE_WITH(name, set_up, tear_down)

TEST(releases_are_answered_one_by_one)
{
    one_answer_for_each("~* &*");
    one_answer_for_each("~* &* -mget");
}

static void propose(const char *name, usec proposal)
{
    add(REQUEST_GRANT, name, "a");
    several.requests[several.count - 1].grant.proposal = proposal;
}

/* Without memory, or without the right to set a name; and no clock moves for it. */
static void nothing_is_granted_with(const char *rights, const char *maxmemory)
{
    TELL("SET held b");
    TELL("CONFIG SET maxmemory %s", maxmemory);
    become(rights);
    propose("x", 0);
    propose("held", 0);
    propose("y", 5000);
    ALL(ANSWER_ERROR, ANSWER_ERROR, ANSWER_ERROR);
    become_anybody();
    TELL("CONFIG SET maxmemory 0");
    assert_int_equal(ASK_COUNT("EXISTS x y"), 0);
    assert_true(read_clock() == 1000);
}

TEST(what_cannot_be_set_is_not_granted)
{
    nothing_is_granted_with("~* &*", "1");
    nothing_is_granted_with("~* &* -set", "0");
}

TEST(proposals_that_follow_one_another_count_on)
{
    TELL("SET held b");
    TELL("RPUSH list thing");
    propose("held", 5000);
    propose("list", 5001);
    propose("x", 5002);
    propose("y", 5003);
    ALL(ANSWER_HELD, ANSWER_HELD, ANSWER_YES, ANSWER_YES);
    assert_true(read_clock() == 5003);
    assert_int_equal(queue("z", "a", 1), ANSWER_YES);
    assert_told("a");
    assert_int_equal(queue("z", "b", FAR), ANSWER_QUEUED);
    TELL("HSET redlock:clock h 6000");
    propose("held", 7000);
    propose("z", 7001);
    propose("v", 7002);
    ALL(ANSWER_HELD, ANSWER_HELD, ANSWER_YES);
    assert_true(read_clock() == 7002);
}

static bool lasts(const char *name)
{
    long long left = ASK_COUNT("PTTL %s", name);
    return left > LIFE - 10000 && left <= LIFE;
}

static void heal(const char *name, const char *token)
{
    add(REQUEST_RENEW, name, token);
    several.requests[several.count - 1].renew.heal = true;
}

/* A name without an end gets one; none is shortened; one that was healed is taken by no other. */
static void renewals_with(const char *rights)
{
    TELL("SET soon a PX 5000");
    TELL("SET later a PX 90000");
    TELL("SET never a");
    TELL("SET other b PX 5000");
    become(rights);
    add(REQUEST_RENEW, "soon", "a");
    add(REQUEST_RENEW, "later", "a");
    add(REQUEST_RENEW, "never", "a");
    add(REQUEST_RENEW, "other", "a");
    heal("free", "a");
    heal("free", "b");
    ALL(ANSWER_YES, ANSWER_YES, ANSWER_YES, ANSWER_HELD, ANSWER_HEALED, ANSWER_HELD);
    assert_int_equal(simply(REQUEST_RENEW, "soon later", "a"), ANSWER_YES);
    become_anybody();
    assert_true(lasts("soon") && lasts("never") && lasts("free"));
    assert_true(ASK_COUNT("PTTL later") > LIFE && ASK_COUNT("PTTL other") <= 5000);
    TELL("PERSIST soon");
    assert_int_equal(simply(REQUEST_RENEW, "soon", "a"), ANSWER_YES);
    assert_true(lasts("soon"));
    TELL("DEL soon later never other free");
}

TEST(renewals_prolong_and_never_shorten)
{
    renewals_with("~* &*");
    renewals_with("~* &* -mget");
}

/* ---- Readers ---- */

static void propose_reading(const char *name, usec proposal, int64_t ttl_ms)
{
    struct request *request = add_names(REQUEST_GRANT, split(name), "a");
    request->grant.proposal = proposal;
    request->ttl_ms = ttl_ms;
}

static void read_three(usec first, usec second, usec third, int64_t ttl_ms)
{
    propose_reading("~x", first, LIFE);
    propose_reading("~y", second, ttl_ms);
    propose_reading("~z", third, LIFE);
}

static bool lasts_with_its_reader(const char *name)
{
    long long left = ASK_COUNT("PTTL %s", name);
    return left > 0 && llabs(left - ASK_COUNT("PTTL redlock:holders:%s", name)) < 1000;
}

TEST(the_first_readers_of_names_are_granted_one_by_one)
{
    static const usec thirds[] = {5002, 4000, 9000}; /* the first two follow one another */
    static const usec clocks[] = {5002, 6002, 9000};
    for (unsigned i = 0; i < 3; i++) {
        TELL("HSET redlock:clock h %d", i == 1 ? 6000 : 1000);
        read_three(5000, 5001, thirds[i], i == 0 ? LIFE : LIFE / 2);
        ALL(ANSWER_YES, ANSWER_YES, ANSWER_YES);
        assert_true(read_clock() == clocks[i] + (i == 1));
        assert_true(lasts_with_its_reader("x") && lasts_with_its_reader("y"));
        assert_true(lasts("x") && (i > 0) == !lasts("y"));
        TELL("DEL x y z redlock:holders:x redlock:holders:y redlock:holders:z");
    }
    TELL("ZADD redlock:holders:x 9000000000000 early");
    read_three(0, 0, 0, LIFE);
    ALL(ANSWER_YES, ANSWER_YES, ANSWER_YES);
    assert_int_equal(ASK_COUNT("ZCARD redlock:holders:x"), 1); /* of an earlier marker */
    assert_true(read_clock() == 9000);
    TELL("SET held b");
    propose_reading("~held", 0, LIFE);
    propose_reading("~free", 0, LIFE);
    ALL(ANSWER_HELD, ANSWER_YES);
    propose_reading("~twice", 0, LIFE);
    propose_reading("~twice", 0, LIFE / 2);
    ALL(ANSWER_YES, ANSWER_YES);
    assert_true(lasts("twice") && lasts("redlock:holders:twice"));
}

TEST(no_reader_comes_past_a_waiter_or_without_a_clock)
{
    TELL("SET x a");
    assert_int_equal(queue("x", "v", 3000), ANSWER_QUEUED);
    TELL("DEL x");
    read_three(0, 0, 0, LIFE);
    ALL(ANSWER_HELD, ANSWER_YES, ANSWER_YES);
    assert_holder("x", "v");
    assert_heard("v 3001");
    TELL("FLUSHALL");
    read_three(0, 5000, 0, LIFE);
    ALL(ANSWER_NO_CLOCK, ANSWER_NO_CLOCK, ANSWER_NO_CLOCK);
    assert_int_equal(ASK_COUNT("DBSIZE"), 0);
    TELL("HSET redlock:clock h 1000");
}

TEST(a_reader_comes_at_most_a_window_ahead)
{
    read_three(FAR, FAR + 1, FAR + 2, LIFE);
    ALL(ANSWER_YES, ANSWER_YES, ANSWER_YES);
    assert_true(read_clock() < FAR);
}

TEST(first_readers_that_cannot_be_made_leave_nothing)
{
    static const char *const rights[] = {"~* &* -pexpireat", "~* &* -zadd", "~* &* -set",
                                         "~* &* -hset"};
    for (unsigned i = 0; i < 4; i++) {
        become(rights[i]);
        read_three(5000, 5001, 5002, LIFE);
        ALL(ANSWER_ERROR, ANSWER_ERROR, ANSWER_ERROR);
        become_anybody();
        assert_int_equal(ASK_COUNT("EXISTS x y z"), 0);
        assert_int_equal(ASK_COUNT("EXISTS redlock:holders:x"), i == 2); /* without a marker */
        assert_true(read_clock() == 1000);
        TELL("DEL redlock:holders:x redlock:holders:y redlock:holders:z");
    }
    become("~* &* -hset");
    read_three(0, 5001, 0, LIFE);
    ALL(ANSWER_YES, ANSWER_ERROR, ANSWER_YES);
    become_anybody();
    assert_int_equal(ASK_COUNT("EXISTS x redlock:holders:x y redlock:holders:y"), 2);
}

static void leave(const char *list)
{
    add_names(REQUEST_RELEASE, split(list), "a");
}

TEST(readers_leave_one_by_one)
{
    read_three(0, 0, 0, LIFE);
    ALL(ANSWER_YES, ANSWER_YES, ANSWER_YES);
    TELL("SET w a");
    TELL("ZADD redlock:holders:y 1 dead");
    leave("~x");
    leave("w");
    leave("~y");
    leave("~x");
    ALL(ANSWER_YES, ANSWER_YES, ANSWER_YES, ANSWER_ABSENT);
    assert_int_equal(ASK_COUNT("EXISTS w x y redlock:holders:x redlock:holders:y"), 0);
    assert_int_equal(grant("~z", "b"), ANSWER_YES);
    assert_int_equal(grant("~x", "b"), ANSWER_YES);
    leave("~z"); /* beside another */
    leave("~x"); /* another's */
    ALL(ANSWER_YES, ANSWER_HELD);
    assert_int_equal(ASK_COUNT("ZCARD redlock:holders:z"), 1);
    assert_int_equal(ASK_COUNT("EXISTS x z redlock:holders:x"), 3);
}

TEST(a_reader_whose_time_is_over_has_left)
{
    TELL("MSET x redlock:shared y redlock:shared z a");
    TELL("ZADD redlock:holders:x 1 a");
    TELL("ZADD redlock:holders:y 1 a 9000000000000 b");
    leave("~x");
    leave("z");
    ALL(ANSWER_HELD, ANSWER_YES);
    assert_int_equal(ASK_COUNT("EXISTS x redlock:holders:x"), 0);
    TELL("SET z a");
    leave("~y");
    leave("z");
    ALL(ANSWER_HELD, ANSWER_YES);
    assert_int_equal(ASK_COUNT("EXISTS y redlock:holders:y"), 2);
}

/* ---- Slots ---- */

static struct names *slot(const char *name, unsigned number)
{
    return slot_new(&memory, (struct slice){name, strlen(name)}, number);
}

static struct request *grant_slot(const char *name, unsigned number, const char *token)
{
    struct request *request = add_names(REQUEST_GRANT, slot(name, number), token);
    request->grant.permits = 4;
    return request;
}

static void release_slot(const char *name, unsigned number, const char *token)
{
    add_names(REQUEST_RELEASE, slot(name, number), token);
}

/* It stands in the queue of slot 1 of "pool", which "b" has. */
static void stand_in_pool(const char *token)
{
    struct request request = request_of(REQUEST_QUEUE, slot("pool", 1), token);
    TELL("SET redlock:permit:1:pool b PX 60000");
    request.queue = (struct queue_request){FAR, 4};
    assert_int_equal(ask(&request), ANSWER_QUEUED);
    names_drop(&memory, (struct names *)(uintptr_t)request.names);
}

static void told(unsigned index, usec clock, int line, int other)
{
    assert_int_equal(answer_of_each(several.requests, index, several.asked), ANSWER_HELD);
    assert_true(reply.clock == clock);
    assert_int_equal(reply.grant.next_slot, line);
    assert_int_equal(reply.grant.free_slot, other);
}

/* Once where the master knows the number of slots, and once where it does not: a first grant of a
 * name then stores it. */
#define TEST_BOTH_WAYS(name)                                                                       \
    static void name(void);                                                                        \
    TEST(name##_known_or_not)                                                                      \
    {                                                                                              \
        name();                                                                                    \
        TELL("FLUSHALL");                                                                          \
        TELL("HSET redlock:clock h 1000");                                                         \
        TELL("SET redlock:permits:pool 4 PX 90000");                                               \
        name();                                                                                    \
    }                                                                                              \
    static void name(void)

TEST_BOTH_WAYS(slots_of_several_names_are_granted)
{
    grant_slot("pool", 0, "a");
    grant_slot("pool", 3, "b")->grant.proposal = 5000;
    grant_slot("other", 1, "c")->grant.proposal = 10;
    grant_slot("pool", 0, "d"); /* "a" has it */
    grant_slot("pool", 2, "e")->grant.proposal = 7000;
    grant_slot("pool", 1, "f");
    ALL(ANSWER_YES, ANSWER_YES, ANSWER_YES, ANSWER_HELD, ANSWER_YES, ANSWER_YES);
    told(3, 5002, 0, 1);
    assert_true(read_clock() == 7000);
    assert_holder("redlock:permit:3:pool", "b");
    assert_holder("redlock:permit:1:other", "c");
    assert_holder("redlock:permits:pool", "4");
    assert_holder("redlock:permits:other", "4");
}

TEST_BOTH_WAYS(a_slot_may_move_the_clock_by_the_window)
{
    grant_slot("pool", 0, "a")->grant.proposal = FAR;
    grant_slot("pool", 0, "b")->grant.proposal = FAR;
    ALL(ANSWER_YES, ANSWER_HELD);
    assert_true(read_clock() < FAR);
    grant_slot("pool", 1, "c")->grant.proposal = FAR;
    grant_slot("pool", 2, "d")->grant.proposal = FAR;
    ALL(ANSWER_YES, ANSWER_YES);
    assert_true(read_clock() < FAR);
}

/* Each stores a number that the master did not know, or that the one before has made smaller. */
TEST(the_number_is_above_each_slot)
{
    grant_slot("pool", 0, "a")->grant.permits = 2;
    several.requests[0].ttl_ms = 3600000;
    grant_slot("pool", 3, "b")->ttl_ms = 1000;
    ALL(ANSWER_YES, ANSWER_YES);
    assert_holder("redlock:permits:pool", "4");
    assert_true(ASK_COUNT("PTTL redlock:permits:pool") > 7000000);
    release_slot("pool", 0, "a");
    release_slot("pool", 3, "b");
    ALL(ANSWER_YES, ANSWER_YES);
    TELL("PEXPIRE redlock:permits:pool 1000");
    grant_slot("pool", 1, "a")->grant.permits = 2; /* the larger number is forgotten */
    grant_slot("pool", 3, "b");
    grant_slot("pool", 0, "c")->grant.permits = 2;
    ALL(ANSWER_YES, ANSWER_YES, ANSWER_YES);
    assert_holder("redlock:permits:pool", "4");
    assert_true(ASK_COUNT("PTTL redlock:permits:pool") > LIFE);
}

TEST(the_number_lasts_for_each_grant)
{
    TELL("SET redlock:permits:pool 4 PX 29000");
    grant_slot("pool", 0, "a")->ttl_ms = 1000;
    grant_slot("pool", 1, "b"); /* for 20 s */
    ALL(ANSWER_YES, ANSWER_YES);
    assert_true(ASK_COUNT("PTTL redlock:permits:pool") > 39000);
}

/* The others are of another name. */
TEST_BOTH_WAYS(no_slot_is_granted_past_those_who_wait)
{
    char payload[40];
    stand_in_pool("w");
    grant_slot("other", 0, "a");
    grant_slot("pool", 0, "c");
    grant_slot("other", 1, "d");
    grant_slot("pool", 2, "e")->grant.proposal = 7;
    usec before = read_clock();
    ALL(ANSWER_YES, ANSWER_HELD, ANSWER_YES, ANSWER_HELD);
    told(1, before + 1, 0, -1);
    told(3, before + 2, 2, -1);
    assert_int_equal(ASK_COUNT("EXISTS redlock:permit:0:pool redlock:permit:2:pool"), 0);
    TELL("DEL redlock:permit:1:pool");
    grant_slot("pool", 0, "c");
    grant_slot("pool", 1, "f");
    grant_slot("pool", 0, "c");
    ALL(ANSWER_HELD, ANSWER_HELD, ANSWER_YES);
    assert_holder("redlock:permit:1:pool", "w");
    told(1, before + 5, 1, 2);
    snprintf(payload, sizeof payload, "w %lld", (long long)before + 4);
    assert_heard(payload);
}

/* Without the right to write the clock, or to set a slot. */
TEST_BOTH_WAYS(a_slot_that_is_not_granted_is_an_error_of_its_own)
{
    TELL("SET redlock:permit:3:pool b");
    become("~* &* -hset");
    grant_slot("pool", 0, "a")->grant.proposal = 5000;
    grant_slot("pool", 1, "b");
    grant_slot("pool", 3, "c");
    grant_slot("pool", 2, "d");
    ALL(ANSWER_ERROR, ANSWER_YES, ANSWER_ERROR, ANSWER_YES);
    become_anybody();
    assert_holder("redlock:permit:0:pool", NULL);
    assert_true(read_clock() == 1000);
    TELL("DEL redlock:clock");
    TELL("RPUSH redlock:clock none");
    grant_slot("other", 0, "a");
    grant_slot("other", 1, "b")->grant.proposal = 5000;
    grant_slot("other", 2, "c");
    ALL(ANSWER_YES, ANSWER_ERROR, ANSWER_YES);
    TELL("DEL redlock:clock");
    TELL("HSET redlock:clock h 1000");
}

/* Without memory, or without the right to set a slot. */
static void no_slot_is_granted_with(const char *rights, const char *maxmemory)
{
    TELL("CONFIG SET maxmemory %s", maxmemory);
    become(rights);
    grant_slot("pool", 0, "a");
    grant_slot("pool", 1, "b")->grant.proposal = 5000;
    grant_slot("other", 0, "c");
    ALL(ANSWER_ERROR, ANSWER_ERROR, ANSWER_ERROR);
    become_anybody();
    TELL("CONFIG SET maxmemory 0");
    assert_int_equal(ASK_COUNT("EXISTS redlock:permit:0:pool redlock:permit:1:pool"), 0);
}

TEST_BOTH_WAYS(a_slot_that_cannot_be_set_is_not_granted)
{
    no_slot_is_granted_with("~* &*", "1");
    no_slot_is_granted_with("~* &* -set", "0");
}

TEST_BOTH_WAYS(a_slot_without_a_fence_needs_no_clock)
{
    TELL("DEL redlock:clock");
    grant_slot("pool", 0, "a");
    grant_slot("pool", 1, "b")->grant.proposal = 7;
    grant_slot("pool", 2, "c");
    grant_slot("pool", 2, "d");
    ALL(ANSWER_YES, ANSWER_NO_CLOCK, ANSWER_YES, ANSWER_NO_CLOCK);
    assert_holder("redlock:permit:1:pool", NULL);
    TELL("HSET redlock:clock h 1000");
}

static void slots_are_released_with(const char *rights)
{
    TELL("MSET redlock:permit:0:pool a redlock:permit:1:pool b redlock:permit:0:other c");
    become(rights);
    release_slot("pool", 0, "a");
    release_slot("pool", 1, "a");
    release_slot("pool", 0, "a");
    release_slot("other", 0, "c");
    ALL(ANSWER_YES, ANSWER_HELD, ANSWER_ABSENT, ANSWER_YES);
    become_anybody();
    assert_holder("redlock:permit:1:pool", "b");
    assert_int_equal(ASK_COUNT("EXISTS redlock:permit:0:pool redlock:permit:0:other"), 0);
    TELL("SET redlock:permit:0:pool a");
    become(rights);
    release_slot("pool", 0, "a");
    release_slot("pool", 0, "a");
    release_slot("pool", 1, "b");
    ALL(ANSWER_YES, ANSWER_ABSENT, ANSWER_YES);
    become_anybody();
}

TEST(slots_are_released_one_by_one)
{
    slots_are_released_with("~* &*");
    slots_are_released_with("~* &* -mget");
}

TEST(a_slot_that_may_not_be_seen_is_not_released)
{
    TELL("SET redlock:permit:1:pool b PX 5000");
    become("~* &* -mget -get");
    release_slot("pool", 0, "a");
    release_slot("pool", 1, "b");
    ALL(ANSWER_ERROR, ANSWER_ERROR);
    become_anybody();
    become("~* &* -set");
    add_names(REQUEST_RENEW, slot("pool", 1), "b");
    add_names(REQUEST_RENEW, slot("pool", 0), "a")->renew.heal = true;
    add_names(REQUEST_RENEW, slot("pool", 1), "b");
    ALL(ANSWER_YES, ANSWER_ERROR, ANSWER_YES);
    become_anybody();
}

/* One goes to its own waiter, of the other it hears. */
TEST(who_waits_hears_of_each_slot)
{
    stand_in_pool("w");
    TELL("SET redlock:permit:0:pool a");
    TELL("SET redlock:permit:2:pool c");
    TELL("SET redlock:permit:3:pool d");
    release_slot("pool", 0, "a");
    release_slot("pool", 1, "b");
    release_slot("pool", 2, "c");
    ALL(ANSWER_YES, ANSWER_YES, ANSWER_YES);
    assert_heard("w slot 0");
    assert_told("w");
    assert_holder("redlock:permit:1:pool", "w");
}

TEST_BOTH_WAYS(slots_are_renewed_one_by_one)
{
    static const enum answer answers[] = {ANSWER_HELD, ANSWER_LATE, ANSWER_YES, ANSWER_HEALED};
    for (unsigned first = 0; first < 4; first++) {
        TELL("SET redlock:permit:0:pool a PX 5000");
        TELL("SET redlock:permit:1:pool b PX 90000");
        TELL("SET redlock:permit:2:pool c PX 5000");
        TELL("DEL redlock:permit:3:pool");
        add_names(REQUEST_RENEW, slot("pool", 0), "a");
        if (first == 0)
            add_names(REQUEST_RENEW, slot("pool", 2), "a");
        else if (first == 1)
            add_names(REQUEST_RENEW, slot("pool", 2), "c")->renew.not_after = 1;
        else if (first == 2)
            add_names(REQUEST_RENEW, slot("pool", 1), "b"); /* it is not made shorter */
        else
            add_names(REQUEST_RENEW, slot("pool", 3), "d")->renew.heal = true;
        add_names(REQUEST_RENEW, slot("other", 3), "a");
        ALL(ANSWER_YES, answers[first], ANSWER_ABSENT);
        assert_true(lasts("redlock:permit:0:pool"));
        assert_true(ASK_COUNT("PTTL redlock:permit:1:pool") > LIFE);
        assert_true(ASK_COUNT("PTTL redlock:permit:2:pool") <= 5000);
        assert_int_equal(ASK_COUNT("EXISTS redlock:permit:3:pool"), first == 3);
    }
    assert_holder("redlock:permits:pool", "4");
}

PROGRAM(.masters = 1)
