/*
 * Several requests in one command, as one real master sees them: the quick way through a script
 * answers as one request after the other would.
 * rule: K9, K14, V8
 */
#define _GNU_SOURCE

#include "one_master.h"

#define MOST 6

static struct several {
    unsigned count;
    struct names *names[MOST];
    struct request requests[MOST];
} several;

static void add(enum request_kind kind, const char *name, const char *token)
{
    unsigned i = several.count++;
    several.names[i] = split(name);
    several.requests[i] = request_of(kind, several.names[i], token);
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

PROGRAM(.masters = 1)
