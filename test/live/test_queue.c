/*
 * Waiting in turn, as one real master sees it. The scripts come through lib/wire; a subscription
 * gets the pushes.
 * rule: K5, K7, W3, W4, W5, W7, W8, W32
 */
#define _GNU_SOURCE

#include "libev_loop.h"
#include "link.h"
#include "one_master.h"

/* ---- Order ---- */

#define TEST(name) CASE_WITH(name, set_up, tear_down)

TEST(the_order_is_by_ticket_not_by_arrival)
{
    assert_int_equal(queue("x", "holder", 2000), ANSWER_YES);
    assert_told("holder");
    assert_int_equal(queue("x", "late", 2030), ANSWER_QUEUED);
    assert_int_equal(queue("x", "b-tie", 2020), ANSWER_QUEUED);
    assert_int_equal(reply.queue.position, 0);
    assert_int_equal(queue("x", "B-tie", 2020), ANSWER_QUEUED);
    assert_int_equal(reply.queue.position, 0);
    assert_int_equal(queue("x", "early", 2010), ANSWER_QUEUED);
    assert_int_equal(reply.queue.position, 0);
    assert_int_equal(queue("x", "late", 2030), ANSWER_QUEUED);
    assert_int_equal(reply.queue.position, 3);
    const char *const order[] = {"holder", "early", "B-tie", "b-tie", "late"};
    for (unsigned i = 0; i < 5; i++) {
        assert_holder("x", order[i]);
        assert_int_equal(release("x", order[i]), ANSWER_YES);
        if (i < 4)
            assert_told(order[i + 1]);
    }
    assert_int_equal(cluster_keys(&cluster), 0);
}

/* A token of ours has 22 characters, of which the last is one of four, and a label behind a colon
 * or none. */
TEST(a_holder_of_another_library_is_told)
{
    static const struct {
        const char *token;
        bool foreign;
    } holders[] = {
        {"0123456789abcdefghijkl:web:17", false}, {"0123456789abcdefghijkl:", false},
        {"0123456789abcdefghij_Q", false},        {"0123456789abcdefghijQl", true},
        {"0123456789abcdefghij.Q", true},         {"f47ac10b58cc4372a5670e02b2c3d479", true},
        {"0Zg2Vb8nQ4mXs1kP7yLh3A==", true},       {"short", true}};
    for (unsigned i = 0; i < sizeof holders / sizeof holders[0]; i++) {
        cluster_tell(&cluster, 0, "SET x %s PX 5000", holders[i].token);
        assert_int_equal(queue("x", "waiter", 2000), ANSWER_QUEUED);
        assert_int_equal(reply.queue.foreign, holders[i].foreign);
    }
    cluster_tell(&cluster, 0, "SET y 0123456789abcdefghijkl:web:17 PX 5000");
    assert_int_equal(queue("x y", "another", 2001), ANSWER_QUEUED);
    assert_false(reply.queue.foreign); /* one of ours has the other name */
    assert_int_equal(release("x y", "another"), ANSWER_HELD);
    cluster_tell(&cluster, 0, "DEL x y");
    cluster_tell(&cluster, 0, "RPUSH x no-lock");
    assert_int_equal(queue("x", "waiter", 2000), ANSWER_QUEUED);
    assert_false(reply.queue.foreign);
    cluster_tell(&cluster, 0, "DEL x");
    assert_int_equal(queue("x", "waiter", 2000), ANSWER_YES);
    assert_told("waiter");
    assert_int_equal(release("x", "waiter"), ANSWER_YES);
}

TEST(a_name_that_is_waited_for_is_never_free)
{
    assert_int_equal(grant("x", "holder"), ANSWER_YES);
    assert_int_equal(queue_for("x", "waiter", 2000, 15000), ANSWER_QUEUED);
    assert_true(reply.queue.remaining_ms > 10000 && reply.queue.remaining_ms <= LIFE);
    struct names *names = split("x");
    struct request request = request_of(REQUEST_RELEASE, names, "holder");
    struct buffer both = {0};
    enum step steps[STEPS_MAX];
    command_write(&both, &request, NULL, steps);
    request = request_of(REQUEST_ACQUIRE, names, "barger");
    command_write(&both, &request, NULL, steps);
    read_raw(&both);
    assert_int_equal(raw.fields[0].integer, 1);
    void *second;
    assert_int_equal(redisGetReply(master, &second), REDIS_OK);
    assert_int_equal(raw.fields[0].kind, FIELD_NIL);
    names_drop(&memory, names);
    assert_holder("x", "waiter");
    long long left = ASK_COUNT("PTTL x");
    assert_true(left > 5000 && left <= 15000);
    assert_told("waiter");
    assert_int_equal(cluster_keys(&cluster), 1);
}

static void put_dead(unsigned count)
{
    TELL("EVAL %s 0 %u",
         "for i = 1, ARGV[1] do redis.call('zadd', 'redlock:queue:x', i, 'dead-' .. i) end", count);
}

/* A script takes out 256 of them: many would hold the master up. */
TEST(the_dead_are_taken_out_some_at_a_time)
{
    assert_int_equal(grant("x", "holder"), ANSWER_YES);
    put_dead(600);
    assert_int_equal(queue("x", "alive", 20001), ANSWER_QUEUED);
    assert_int_equal(reply.queue.position, 600 - 256);
    assert_int_equal(queue("x ~y", "another", 20002), ANSWER_QUEUED); /* by queue.lua */
    assert_int_equal(reply.queue.position, 600 - 2 * 256 + 1);
    put_dead(600);
    assert_int_equal(release("x", "holder"), ANSWER_YES);
    assert_nothing_more_was_told();
    assert_int_equal(grant("x", "barger"), ANSWER_HELD);
    assert_nothing_more_was_told();
    assert_int_equal(queue("x", "alive", 20001), ANSWER_YES);
    assert_told("alive");
}

/* ---- Grants ---- */

TEST(a_grant_does_not_pass_those_who_wait)
{
    assert_int_equal(grant("x", "holder"), ANSWER_YES);
    assert_int_equal(queue("x", "waiter", 2000), ANSWER_QUEUED);
    TELL("DEL x");
    assert_int_equal(grant("x", "barger"), ANSWER_HELD);
    assert_holder("x", "waiter");
    char payload[64];
    snprintf(payload, sizeof payload, "waiter %lld", (long long)reply.clock - 1);
    assert_heard(payload);
}

TEST(without_a_clock_nothing_is_handed_over)
{
    assert_int_equal(grant("x", "holder"), ANSWER_YES);
    assert_int_equal(queue("x", "waiter", 2000), ANSWER_QUEUED);
    TELL("DEL redlock:clock");
    assert_int_equal(queue("x", "waiter", 2000), ANSWER_NO_CLOCK);
    assert_int_equal(grant("x", "other"), ANSWER_NO_CLOCK);
    assert_int_equal(release("x", "holder"), ANSWER_YES);
    assert_holder("x", NULL);
    TELL("HSET redlock:clock h 1000");
    assert_int_equal(queue("x", "waiter", 2000), ANSWER_YES);
    assert_told("waiter");
}

/* ---- Several names ---- */

TEST(names_of_any_bytes)
{
    const struct slice odd[] = {{"\0\r\n$\xff\xfe", 6}, {"%s [x] \\ \"", 10}, {"\0", 1}};
    struct names *names = make_names(odd, 3);
    struct request holder = request_of(REQUEST_GRANT, names, "holder");
    struct request waiter = request_of(REQUEST_QUEUE, names, "waiter");
    waiter.queue.ticket = 2000;
    assert_int_equal(ask(&holder), ANSWER_YES);
    assert_int_equal(ask(&waiter), ANSWER_QUEUED);
    holder.tag.kind = REQUEST_RELEASE;
    assert_int_equal(ask(&holder), ANSWER_YES);
    assert_told("waiter");
    for (unsigned i = 0; i < 3; i++) {
        redisReply *value = cluster_ask(&cluster, 0, "GET %b", odd[i].bytes, odd[i].length);
        assert_string_equal(value->str, "waiter");
        freeReplyObject(value);
    }
    waiter.tag.kind = REQUEST_RELEASE;
    assert_int_equal(ask(&waiter), ANSWER_YES);
    assert_int_equal(cluster_keys(&cluster), 0);
    names_drop(&memory, names);
}

#define LIST_SIZE (64 * 8)

/* "n0 n1 n2 ..." */
static void name_64(char list[LIST_SIZE], char letter)
{
    size_t length = 0;
    for (unsigned i = 0; i < 64; i++)
        length +=
            (size_t)snprintf(list + length, LIST_SIZE - length, "%s%c%u", i ? " " : "", letter, i);
}

/* More would hold the master up. */
TEST(a_script_gives_sixty_four_names)
{
    char a[LIST_SIZE], b[LIST_SIZE];
    name_64(a, 'a');
    name_64(b, 'b');
    assert_int_equal(grant("a0 b0", "holder"), ANSWER_YES);
    assert_int_equal(queue(a, "first", 2000), ANSWER_QUEUED);
    assert_int_equal(queue(b, "second", 2010), ANSWER_QUEUED);
    assert_int_equal(release("a0 b0", "holder"), ANSWER_YES);
    assert_told("first");
    assert_nothing_more_was_told();
    assert_int_equal(grant("b0", "barger"), ANSWER_HELD);
    assert_heard("second 2012");
}

/* ---- Asking again ---- */

TEST(asking_again_prolongs_and_never_shortens)
{
    assert_int_equal(queue_for("x y", "holder", 2000, 5000), ANSWER_YES);
    assert_told("holder");
    assert_int_equal(queue_for("x y", "holder", 2000, 20000), ANSWER_YES);
    assert_true(ASK_COUNT("PTTL x") > 10000 && ASK_COUNT("PTTL y") > 10000);
    assert_int_equal(queue_for("x y", "holder", 2000, 5000), ANSWER_YES);
    assert_true(ASK_COUNT("PTTL x") > 10000 && ASK_COUNT("PTTL y") > 10000);

    assert_int_equal(queue_for("x", "waiter", 2010, 5000), ANSWER_QUEUED);
    assert_true(ASK_COUNT("PTTL redlock:queue:x") > 8000);
    assert_int_equal(queue_for("x", "waiter", 2010, 20000), ANSWER_QUEUED);
    assert_true(ASK_COUNT("PTTL redlock:waiter:waiter") > 10000);
    assert_true(ASK_COUNT("PTTL redlock:queue:x") > 30000);
    assert_int_equal(queue_for("x", "other", 2020, 5000), ANSWER_QUEUED);
    assert_true(ASK_COUNT("PTTL redlock:queue:x") > 30000);
}

TEST(who_has_it_is_told_as_far_as_it_is_known)
{
    TELL("SET x for-ever");
    assert_int_equal(queue("x", "waiter", 2000), ANSWER_QUEUED);
    assert_int_equal(reply.queue.remaining_ms, -2);
    TELL("LPUSH list no-lock");
    assert_int_equal(queue("list", "waiter2", 2000), ANSWER_QUEUED);
    assert_int_equal(reply.queue.remaining_ms, -2);
    assert_int_equal(release("list", "waiter2"), ANSWER_HELD);
}

/* ---- Leaving ---- */

/* Keys of another program where those of a waiter would be. */
TEST(what_is_no_waiter_stops_no_release)
{
    static const char *const made[] = {
        "SET redlock:queue:x text",           "SET redlock:waiter:w text",
        "SET redlock:waiter:w \xc1",          "SET redlock:waiter:w \x91\xa1x",
        "SET redlock:waiter:w \x92\x90\xa1x", "RPUSH redlock:waiter:w text"};
    for (unsigned i = 0; i < sizeof made / sizeof *made; i++) {
        assert_int_equal(grant("x", "holder"), ANSWER_YES);
        if (i > 0)
            TELL("ZADD redlock:queue:x 1 w");
        TELL(made[i]);
        if (i > 0)
            TELL("PEXPIRE redlock:waiter:w 60000");
        assert_int_equal(release("x", "holder"), ANSWER_YES);
        assert_holder("x", NULL);
        TELL("DEL redlock:queue:x redlock:waiter:w");
    }
}

/* ---- Masters that forbid something ---- */

TEST(who_may_not_publish_hands_over_all_the_same)
{
    assert_int_equal(grant("x", "holder"), ANSWER_YES);
    assert_int_equal(queue("x", "waiter", 2000), ANSWER_QUEUED);
    become("~* resetchannels");
    assert_int_equal(release("x", "holder"), ANSWER_YES);
    assert_holder("x", "waiter");
    become_anybody();
}

TEST(who_may_not_see_the_queues_gives_back_all_the_same)
{
    assert_int_equal(grant("x", "holder"), ANSWER_YES);
    assert_int_equal(queue("x", "waiter", 2000), ANSWER_QUEUED);
    become("~redlock:clock ~x");
    assert_int_equal(release("x", "holder"), ANSWER_YES);
    assert_holder("x", NULL);
    assert_int_equal(grant("x", "barger"), ANSWER_ERROR);
    become_anybody();
    assert_int_equal(queue("x", "waiter", 2000), ANSWER_YES);
    assert_told("waiter");
}

/* Requests that need the clock fail; so do refusals, because they report what is stored. */
static void no_fences_with(const char *rights)
{
    static const char *const each[] = {"x", "y", "z", "held"};
    static const enum answer answers[] = {ANSWER_YES, ANSWER_ERROR, ANSWER_YES, ANSWER_ERROR};
    struct names *names[4];
    struct request requests[4];
    TELL("SET held holder");
    for (unsigned i = 0; i < 4; i++) {
        names[i] = split(each[i]);
        requests[i] = request_of(REQUEST_GRANT, names[i], "token");
    }
    requests[1].grant.proposal = 5000;
    become(rights);
    ask_each(requests, 4);
    for (unsigned i = 0; i < 4; i++) {
        assert_int_equal(answer_of_each(requests, i, 4), answers[i]);
        assert_true(answers[i] == ANSWER_YES || reply.text.bytes[0]);
        names_drop(&memory, names[i]);
    }
    assert_int_equal(grant("held", "token"), ANSWER_ERROR);
    assert_int_equal(grant_proposing("more", "token", 5000), ANSWER_ERROR);
    become_anybody();
    assert_holder("x", "token");
    assert_holder("z", "token");
    assert_true(read_clock() == 1000);
}

/* It leaves no key behind, unless it may not delete it either. */
TEST(who_may_not_move_the_clock_gets_no_fence)
{
    no_fences_with("~* &* -hset");
    assert_holder("y", NULL);
    assert_holder("more", NULL);
    TELL("DEL x z");
    no_fences_with("~* &* -hset -del");
}

TEST(who_may_not_give_all_names_gives_none)
{
    assert_int_equal(grant("x", "holder"), ANSWER_YES);
    assert_int_equal(queue("x y", "waiter", 2000), ANSWER_QUEUED);
    become("~redlock:* ~x");
    assert_int_equal(release("x", "holder"), ANSWER_YES);
    assert_holder("x", NULL);
    assert_int_equal(grant("x", "barger"), ANSWER_HELD);
    become_anybody();
    assert_int_equal(queue("x y", "waiter", 2000), ANSWER_YES);
    assert_told("waiter");
}

TEST(a_full_master_still_hands_over)
{
    assert_int_equal(grant("x", "holder"), ANSWER_YES);
    assert_int_equal(queue("x", "waiter", 2000), ANSWER_QUEUED);
    assert_int_equal(queue("x", "next", 2010), ANSWER_QUEUED);
    TELL("CONFIG SET maxmemory 1");
    assert_int_equal(queue("x", "more", 2020), ANSWER_ERROR);
    assert_int_equal(release("x", "holder"), ANSWER_YES);
    assert_told("waiter");
    assert_int_equal(queue("x", "waiter", 2000), ANSWER_YES);
    TELL("DEL x");
    assert_int_equal(grant("x", "barger"), ANSWER_ERROR);
    assert_holder("x", NULL);
    assert_int_equal(release("x", "waiter"), ANSWER_ABSENT);
    assert_holder("x", "next");
    assert_told("next");
}

/* It has nothing of the token: the script deletes nothing that would let it set the mark. */
TEST(a_full_master_marks_what_was_given_back)
{
    struct request request = request_of(REQUEST_RELEASE, NULL, "given");
    request.ttl_ms = LIFE;
    TELL("CONFIG SET maxmemory 1");
    assert_int_equal(ask_about("x", request), ANSWER_ABSENT);
    assert_int_equal(ASK_COUNT("EXISTS redlock:released:given"), 1);
}

/* ---- A listener ---- */

static struct {
    unsigned subscribed, pushes, closed;
    char token[32];
    usec clock;
} heard;

static void hear(void *owner, usec now, const struct event *event)
{
    (void)owner;
    (void)now;
    heard.subscribed += event->kind == EVENT_SUBSCRIBED;
    heard.closed += event->kind == EVENT_CLOSED;
    if (event->kind != EVENT_PUSH)
        return;
    heard.pushes++;
    heard.clock = event->push->clock;
    snprintf(heard.token, sizeof heard.token, "%.*s", (int)event->push->token.length,
             event->push->token.bytes);
}

static void run_until(struct ev_loop *loop, const unsigned *count, unsigned wanted)
{
    for (int64_t deadline = now_us() + 10000000; *count < wanted;) {
        assert_true(now_us() < deadline);
        ev_run(loop, EVRUN_NOWAIT);
    }
}

TEST(a_listener_hears_what_a_master_hands_over)
{
    struct ev_loop *loop = ev_loop_new(EVFLAG_AUTO);
    char name[] = "listener", why[200];
    struct address address;
    assert_int_equal(addresses_parse(&address, 1, cluster.nodes, why, sizeof why), 1);
    struct io_loop *io = libev_loop_new(loop, NULL, NULL);
    struct link *link = link_new(io, &address, name, (struct link_owner){hear, NULL, 0});
    for (unsigned round = 1; round <= 2; round++) {
        link_subscribe(link, CHANNEL);
        run_until(loop, &heard.subscribed, round);
        assert_int_equal(grant("x", "holder"), ANSWER_YES);
        assert_int_equal(queue("x", "waiter", 2000), ANSWER_QUEUED);
        assert_int_equal(release("x", "holder"), ANSWER_YES);
        run_until(loop, &heard.pushes, round);
        assert_string_equal(heard.token, "waiter");
        assert_true(heard.clock == read_clock());
        assert_told("waiter");
        assert_int_equal(release("x", "waiter"), ANSWER_YES);
        assert_int_equal(heard.closed, round - 1);
        TELL("CLIENT KILL TYPE pubsub");
        run_until(loop, &heard.closed, round);
        redisFree(ear);
        ear = connect_to_master();
        freeReplyObject(redisCommand(ear, "SUBSCRIBE " CHANNEL));
    }
    assert_int_equal(link_counters(link)->protocol_errors, 0);
    link_free(link);
    io_loop_free(io);
    addresses_clear(&address, 1);
    ev_loop_destroy(loop);
}

PROGRAM(.masters = 1)
