/* Requests of one kind go in one command, and its reply is taken apart again. */
/* rule: K9, K10 */
#include <stdio.h>

#include "command.h"
#include "link_world.h"

/* The commands that `count` requests about one name become. */
static void want(struct world *world, struct buffer *wanted, enum request_kind kind, unsigned count,
                 bool whole)
{
    enum step steps[STEPS_MAX];
    struct request requests[BATCH_MAX];
    for (unsigned i = 0; i < count; i++)
        requests[i] = request_of(world->name, kind, i);
    requests[0].whole = count == 1 && whole;
    if (count == 1)
        command_write(wanted, &requests[0], NULL, steps);
    else
        command_write_each(wanted, requests, count, whole);
}

static void assert_heard(struct world *world, struct buffer *wanted)
{
    run_until_heard(world, wanted->length);
    assert_int_equal(world->fake.heard_length, wanted->length);
    assert_memory_equal(world->fake.heard, wanted->data, wanted->length);
    world->fake.heard_length = 0;
    buffer_free(wanted);
}

static void assert_hears_batch(struct world *world, enum request_kind kind, unsigned count,
                               bool whole)
{
    struct buffer wanted = {0};
    want(world, &wanted, kind, count, whole);
    assert_heard(world, &wanted);
}

UP_TEST(several_go_in_one_command)
{
    send_batch(world, REQUEST_RELEASE, 1, 3);
    assert_int_equal(link_in_flight(world->link), 3);
    assert_hears_batch(world, REQUEST_RELEASE, 3, false);
    fake_say(&world->fake, "*3\r\n:1\r\n:0\r\n:-1\r\n");
    run_until_told(world, 3);
    assert_reply(&world->told[0], 1, ANSWER_YES);
    assert_reply(&world->told[1], 2, ANSWER_ABSENT);
    assert_reply(&world->told[2], 3, ANSWER_HELD);
    assert_int_equal(link_in_flight(world->link), 0);
    assert_int_equal(link_counters(world->link)->requests, 3);
    assert_int_equal(link_counters(world->link)->replies, 3);

    send_batch(world, REQUEST_RENEW, 4, 2);
    assert_hears_batch(world, REQUEST_RENEW, 2, false);
    for (const char *at = "*2\r\n$16\r\n1785000000123456\r\n-OOM x\r\n"; *at; at++) {
        fake_say_bytes(&world->fake, at, 1);
        ev_run(world->loop, EVRUN_NOWAIT);
    }
    run_until_told(world, 5);
    assert_reply(&world->told[3], 4, ANSWER_LATE);
    assert_reply(&world->told[4], 5, ANSWER_ERROR);
    assert_string_equal(world->told[4].text, "OOM x");
}

UP_TEST(one_alone_is_a_command_of_its_own)
{
    send_one(world, REQUEST_RELEASE, 1);
    assert_hears_batch(world, REQUEST_RELEASE, 1, false);
    fake_say(&world->fake, ":1\r\n");
    run_until_reply(world, 1, 1, ANSWER_YES);
}

LINK_TEST(the_order_of_requests_is_kept)
{
    struct buffer wanted = {0};
    enum step steps[STEPS_MAX];
    struct request two = request_of(world->names, REQUEST_RELEASE, 9);
    come_up(world, LOCAL);
    send_batch(world, REQUEST_RELEASE, 0, 2);
    send_batch(world, REQUEST_RENEW, 2, 2); /* of another kind */
    do_send(world, &two);                   /* about two names */
    send_batch(world, REQUEST_RELEASE, 4, BATCH_MAX + 1);
    send_one(world, REQUEST_PEEK, 5);
    send_one(world, REQUEST_RELEASE, 6);
    want(world, &wanted, REQUEST_RELEASE, 2, false);
    want(world, &wanted, REQUEST_RENEW, 2, false);
    command_write(&wanted, &two, NULL, steps);
    want(world, &wanted, REQUEST_RELEASE, BATCH_MAX, false);
    want(world, &wanted, REQUEST_RELEASE, 1, false);
    want(world, &wanted, REQUEST_PEEK, 1, false);
    want(world, &wanted, REQUEST_RELEASE, 1, false);
    assert_heard(world, &wanted);
}

/* Releases are the same in both modes. */
LINK_TEST(shared_names_go_in_a_command_of_their_own)
{
    struct buffer wanted = {0};
    struct names *shared = unit_names(1, (const char *const[]){"read"});
    names_set_shared(shared, 0);
    come_up(world, LOCAL);
    static const enum request_kind kinds[] = {REQUEST_RENEW, REQUEST_GRANT, REQUEST_RELEASE};
    for (unsigned i = 0; i < COUNT(kinds); i++) {
        struct request requests[] = {
            request_of(world->name, kinds[i], 0), request_of(world->name, kinds[i], 1),
            request_of(shared, kinds[i], 2), request_of(shared, kinds[i], 3)};
        for (unsigned at = 0; at < 4; at++)
            do_send(world, &requests[at]);
        if (kinds[i] == REQUEST_RELEASE) {
            command_write_each(&wanted, requests, 4, false);
        } else {
            command_write_each(&wanted, requests, 2, false);
            command_write_each(&wanted, requests + 2, 2, false);
        }
    }
    assert_heard(world, &wanted);
    names_drop(&unit_memory, shared);
}

LINK_TEST(a_request_with_its_script_goes_alone)
{
    struct buffer wanted = {0};
    struct request whole = request_of(world->name, REQUEST_RELEASE, 1);
    whole.whole = true;
    come_up(world, LOCAL);
    send_one(world, REQUEST_RELEASE, 0);
    do_send(world, &whole);
    send_one(world, REQUEST_RELEASE, 2);
    want(world, &wanted, REQUEST_RELEASE, 1, false);
    want(world, &wanted, REQUEST_RELEASE, 1, true);
    want(world, &wanted, REQUEST_RELEASE, 1, false);
    assert_heard(world, &wanted);
}

static void say_array(struct world *world, unsigned first, unsigned count)
{
    static const char *const replies[] = {":1\r\n", ":0\r\n", ":-1\r\n"};
    char header[16];
    snprintf(header, sizeof header, "*%u\r\n", count);
    fake_say(&world->fake, header);
    for (unsigned i = first; i < first + count; i++)
        fake_say(&world->fake, replies[i % 3]);
}

LINK_TEST(ten_thousand_in_batches_are_answered_in_order)
{
    struct buffer wanted = {0};
    static const enum answer answers[] = {ANSWER_YES, ANSWER_ABSENT, ANSWER_HELD};
    come_up(world, LOCAL);
    send_batch(world, REQUEST_RELEASE, 0, MANY);
    for (unsigned i = 0; i < MANY; i += BATCH_MAX)
        want(world, &wanted, REQUEST_RELEASE, MANY - i < BATCH_MAX ? MANY - i : BATCH_MAX, false);
    assert_heard(world, &wanted);
    for (unsigned i = 0; i < MANY; i += BATCH_MAX)
        say_array(world, i, MANY - i < BATCH_MAX ? MANY - i : BATCH_MAX);
    run_until_told(world, MANY);
    for (unsigned i = 0; i < MANY; i++)
        assert_reply(&world->told[i], i, answers[i % 3]);
    assert_int_equal(link_in_flight(world->link), 0);
}

/* An error may be the fault of one: each is sent again alone.  Or the script is gone:
 * the next batch of that kind brings it, whatever goes out before. */
UP_TEST(a_refused_batch_is_a_forgotten_script_for_each)
{
    send_batch(world, REQUEST_RENEW, 0, 3);
    assert_hears_batch(world, REQUEST_RENEW, 3, false);
    fake_say(&world->fake, "-NOPERM this one you may not touch\r\n");
    run_until_told(world, 3);
    for (unsigned i = 0; i < 3; i++)
        assert_reply(&world->told[i], i, ANSWER_NOSCRIPT);
    assert_int_equal(link_counters(world->link)->protocol_errors, 0);

    send_one(world, REQUEST_RELEASE, 3);
    assert_hears_batch(world, REQUEST_RELEASE, 1, false);
    send_batch(world, REQUEST_RELEASE, 4, 2);
    assert_hears_batch(world, REQUEST_RELEASE, 2, false);
    send_batch(world, REQUEST_RENEW, 6, 2);
    assert_hears_batch(world, REQUEST_RENEW, 2, true);
    send_batch(world, REQUEST_RENEW, 8, 2);
    assert_hears_batch(world, REQUEST_RENEW, 2, false);
}

LINK_TEST(impossible_replies_to_a_batch)
{
    static const struct {
        const char *bytes, *why;
    } lies[] = {
        {":1\r\n", "that the request cannot have"},
        {"*2\r\n:7\r\n:1\r\n", "that the request cannot have"},
        {"*2\r\n*1\r\n:1\r\n:1\r\n", "an array too long or too deep"},
        {"*33\r\n", "an array too long or too deep"},
    };
    for (unsigned i = 0; i < COUNT(lies); i++) {
        come_up(world, LOCAL);
        send_batch(world, REQUEST_RELEASE, i, 2);
        assert_hears_batch(world, REQUEST_RELEASE, 2, false);
        fake_say(&world->fake, lies[i].bytes);
        run_until_told(world, 3);
        assert_end(world, 0, i, lies[i].why);
        assert_int_equal(link_counters(world->link)->protocol_errors, i + 1);
        assert_int_equal(link_counters(world->link)->replies, 0);
    }
}

UP_TEST(a_batch_is_believed_up_to_the_lie)
{
    send_batch(world, REQUEST_RELEASE, 0, 3);
    send_one(world, REQUEST_PEEK, 3);
    run_until_heard(world, 2);
    fake_say(&world->fake, "*3\r\n:1\r\n+OK\r\n:1\r\n$-1\r\n");
    run_until_told(world, 5);
    assert_reply(&world->told[0], 0, ANSWER_YES);
    assert_end(world, 1, 1, "that the request cannot have");
}

UP_TEST(half_a_reply_to_a_batch_is_none)
{
    send_batch(world, REQUEST_RELEASE, 0, 3);
    assert_hears_batch(world, REQUEST_RELEASE, 3, false);
    fake_say(&world->fake, "*3\r\n:1\r\n:1\r\n");
    ev_run(world->loop, EVRUN_NOWAIT);
    assert_int_equal(world->told_count, 0);
    fake_hang_up(&world->fake);
    run_until_end(world, 4, 0, 0, "closed by the master");
}

static void close_at_once(struct world *world, const struct event *event)
{
    if (event->kind == EVENT_REPLY && event->reply->answer != ANSWER_LOST)
        do_close(world);
}

UP_TEST(closing_inside_a_batch_loses_the_rest)
{
    world->react = close_at_once;
    send_batch(world, REQUEST_RELEASE, 0, 3);
    assert_hears_batch(world, REQUEST_RELEASE, 3, false);
    fake_say(&world->fake, "*3\r\n:1\r\n:1\r\n:1\r\n");
    run_until_told(world, 4);
    assert_reply(&world->told[0], 0, ANSWER_YES);
    assert_end(world, 1, 1, NULL);
}

UP_TEST(what_was_not_written_is_lost_and_forgotten)
{
    send_batch(world, REQUEST_RELEASE, 0, 3);
    do_close(world);
    do_flush(world);
    assert_true(link_pump(world->link));
    assert_int_equal(world->told_count, 4);
    for (unsigned i = 0; i < 3; i++)
        assert_lost(&world->told[i], i);
    come_up(world, LOCAL);
    send_one(world, REQUEST_RELEASE, 4);
    assert_hears_batch(world, REQUEST_RELEASE, 1, false);
}

static void send_another(struct world *world, const struct event *event)
{
    if (event->reply->tag.round < 10)
        send_one(world, REQUEST_RELEASE, event->reply->tag.round + 10);
}

UP_TEST(requests_made_while_a_batch_is_answered)
{
    world->react = send_another;
    send_batch(world, REQUEST_RELEASE, 0, 3);
    assert_hears_batch(world, REQUEST_RELEASE, 3, false);
    fake_say(&world->fake, "*3\r\n:1\r\n:1\r\n:1\r\n");
    run_until_told(world, 3);
    assert_hears_batch(world, REQUEST_RELEASE, 3, false);
    fake_say(&world->fake, "*3\r\n:0\r\n:0\r\n:0\r\n");
    run_until_told(world, 6);
    for (unsigned i = 0; i < 3; i++)
        assert_reply(&world->told[3 + i], 10 + i, ANSWER_ABSENT);
}

/* As the core does: two releases follow an answer, and an answer frees what it is about. */
static struct names *names_of_one;

static void send_two_or_free(struct world *world, const struct event *event)
{
    if (event->kind != EVENT_REPLY)
        return;
    if (event->reply->tag.round != 1) {
        names_drop(&unit_memory, names_of_one);
        names_of_one = NULL;
        return;
    }
    struct request request = request_of(names_of_one, REQUEST_RELEASE, 2);
    do_send(world, &request);
    send_one(world, REQUEST_RELEASE, 3);
}

UP_TEST(a_reply_to_a_batch_not_yet_written)
{
    names_of_one = unit_names(1, (const char *const[]){"one"});
    world->react = send_two_or_free;
    assert_stray_reply_ends(world);
}

PROGRAM_OF_CASES(link_tests_begin, NULL)
