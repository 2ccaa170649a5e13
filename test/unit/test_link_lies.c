/* A master that says what no master can say is left. */
/* rule: K11 */
#include "link_world.h"

UP_TEST(a_reply_to_nothing)
{
    fake_say(&world->fake, "+OK\r\n");
    run_until_closed(world, 1, "a reply to nothing");
    assert_int_equal(link_counters(world->link)->protocol_errors, 1);
    assert_int_equal(link_counters(world->link)->replies, 0);
}

UP_TEST(an_error_to_nothing_is_quoted)
{
    fake_say(&world->fake, "-ERR max number of clients reached\r\n");
    run_until_closed(world, 1, "a reply to nothing: ERR max number of clients reached");
}

UP_TEST(one_reply_too_many)
{
    send_round(world, REQUEST_RELEASE, 1);
    run_until_heard(world, release_length(world));
    fake_say(&world->fake, ":1\r\n:1\r\n");
    run_until_told(world, 2);
    assert_reply(&world->told[0], 1, ANSWER_YES);
    assert_closed(&world->told[1], "a reply to nothing");
}

/* The second request goes alone, the third one in a command that others may share. */
static void send_two_more(struct world *world, const struct event *event)
{
    if (event->kind != EVENT_REPLY || event->reply->tag.round != 1)
        return;
    send_round(world, REQUEST_RELEASE, 2);
    send_one(world, REQUEST_RELEASE, 3);
}

UP_TEST(a_reply_to_a_request_not_yet_written)
{
    world->react = send_two_more;
    assert_stray_reply_ends(world);
}

LINK_TEST(malformed_or_impossible_replies)
{
    static const struct {
        const char *bytes, *why;
    } lies[] = {
        {"hello\r\n", "malformed reply: Protocol error"},
        {":1x\r\n", "reply"},
        {"*x\r\n", "malformed reply"},
        {"*33\r\n", "an array too long or too deep"},
        {"*1\r\n*1\r\n:1\r\n", "an array too long or too deep"},
        {"$-2\r\n", "malformed reply"},
        {":7\r\n", "that the request cannot have"},
    };
    for (unsigned i = 0; i < COUNT(lies); i++) {
        come_up(world, LOCAL);
        send_round(world, REQUEST_RELEASE, i);
        send_round(world, REQUEST_RELEASE, i + 100);
        run_until_heard(world, 2 * release_length(world));
        fake_say(&world->fake, lies[i].bytes);
        run_until_told(world, 3);
        assert_lost(&world->told[0], i);
        assert_lost(&world->told[1], i + 100);
        assert_closed(&world->told[2], lies[i].why);
        assert_int_equal(link_counters(world->link)->protocol_errors, i + 1);
        assert_int_equal(link_counters(world->link)->replies, 0);
    }
}

UP_TEST(an_impossible_reply_to_the_login)
{
    send_round(world, REQUEST_HELLO, 1);
    run_until_heard(world, 100);
    fake_say(&world->fake, "*1\r\n:1\r\n");
    run_until_end(world, 2, 0, 1, "that the login cannot have");
    assert_int_equal(link_counters(world->link)->protocol_errors, 1);
}

static void say_endlessly(struct world *world, const char *start)
{
    static char flood[60000];
    memset(flood, 'x', sizeof flood);
    send_round(world, REQUEST_PEEK, 1);
    run_until_heard(world, 70);
    fake_say(&world->fake, start);
    for (int i = 0; i < 4; i++) {
        fake_say_bytes(&world->fake, flood, sizeof flood);
        for (int j = 0; j < 3; j++)
            ev_run(world->loop, EVRUN_NOWAIT);
    }
    run_until_end(world, 2, 0, 1, "longer than 200000 bytes");
    assert_int_equal(link_counters(world->link)->protocol_errors, 1);
}

UP_TEST(a_giant_string)
{
    say_endlessly(world, "$536870912\r\n");
}

UP_TEST(a_line_without_end)
{
    say_endlessly(world, "-ERR ");
}

UP_TEST(a_length_that_overflows)
{
    say_endlessly(world, "$9223372036854775800\r\n");
}

PROGRAM_OF_CASES(link_tests_begin, NULL)
