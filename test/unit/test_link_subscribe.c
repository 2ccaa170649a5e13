/* A link that is a notification connection. */
#include "link_calls.h"
#include "link_world.h"

#define CHANNEL       "redlock:me"
#define SUBSCRIBE     "*2\r\n$9\r\nSUBSCRIBE\r\n$10\r\n" CHANNEL "\r\n"
#define SUBSCRIBED    "*3\r\n$9\r\nsubscribe\r\n$10\r\n" CHANNEL "\r\n:1\r\n"
#define MESSAGE(said) "*3\r\n$7\r\nmessage\r\n$10\r\n" CHANNEL "\r\n" said "\r\n"
#define SETNAME       "*3\r\n$6\r\nCLIENT\r\n$7\r\nSETNAME\r\n$10\r\nthe-client\r\n"
#define ASK_WHO       "*2\r\n$4\r\nINFO\r\n$6\r\nserver\r\n"
#define WHO           "$24\r\n# Server\r\nrun_id:the-run\r\n"
#define ALL_HEARD     (sizeof SETNAME ASK_WHO SUBSCRIBE - 1)

static void do_subscribe(struct world *world)
{
    bool was = world->inside;
    world->inside = true;
    link_subscribe(world->link, CHANNEL);
    world->inside = was;
}

/* It has sent all that a listener sends. */
static void subscribe(struct world *world)
{
    unsigned accepted = world->fake.accepted;
    if (!world->link)
        make_link(world, LOCAL);
    world->told_count = 0;
    do_subscribe(world);
    while (world->fake.accepted == accepted)
        ev_run(world->loop, EVRUN_ONCE);
    run_until_heard(world, ALL_HEARD);
    assert_int_equal(world->told_count, 0);
}

static void come_to_subscribe(struct world *world)
{
    subscribe(world);
    fake_say(&world->fake, "+OK\r\n" WHO SUBSCRIBED);
    run_until_told(world, 1);
    assert_int_equal(world->told[0].kind, EVENT_SUBSCRIBED);
    assert_string_equal(world->told[0].text, "the-run");
    world->told_count = 0;
}

static void assert_push(const struct told *told, const char *token, usec clock)
{
    assert_int_equal(told->kind, EVENT_PUSH);
    assert_string_equal(told->text, token);
    assert_true(told->clock == clock);
}

LINK_TEST(a_listener_hears_what_is_handed_over)
{
    come_to_subscribe(world);
    assert_int_equal(world->fake.heard_length, ALL_HEARD);
    assert_memory_equal(world->fake.heard, SETNAME ASK_WHO SUBSCRIBE, ALL_HEARD);
    fake_say(&world->fake, MESSAGE("$18\r\na 1785000000123456") MESSAGE("$5\r\nbob 7"));
    run_until_told(world, 2);
    assert_push(&world->told[0], "a", 1785000000123456);
    assert_push(&world->told[1], "bob", 7);
    assert_int_equal(link_counters(world->link)->pushes, 2);
    assert_int_equal(link_counters(world->link)->replies, 0);
    assert_int_equal(link_counters(world->link)->requests, 0);
    assert_int_equal(link_in_flight(world->link), 0);
}

LINK_TEST(a_message_comes_with_the_confirmation_and_in_pieces)
{
    subscribe(world);
    const char *bytes = "+OK\r\n" WHO SUBSCRIBED MESSAGE("$3\r\na 7");
    for (const char *at = bytes; *at; at++) {
        fake_say_bytes(&world->fake, at, 1);
        ev_run(world->loop, EVRUN_NOWAIT);
    }
    run_until_told(world, 2);
    assert_int_equal(world->told[0].kind, EVENT_SUBSCRIBED);
    assert_push(&world->told[1], "a", 7);
}

LINK_TEST(pushes_can_be_fetched_without_the_loop)
{
    come_to_subscribe(world);
    assert_false(link_read(world->link));
    fake_say(&world->fake, MESSAGE("$3\r\na 7"));
    assert_true(link_read(world->link));
    assert_int_equal(world->told_count, 1);
    assert_push(&world->told[0], "a", 7);
}

LINK_TEST(a_message_that_is_none_closes)
{
    static const struct {
        const char *bytes, *why;
    } lies[] = {
        {"+OK\r\n", "that no master can send"},
        {"-ERR x\r\n", "that no master can send"},
        {SUBSCRIBED, "that no master can send"},
        {MESSAGE("$1\r\na"), "that no master can send"},
        {MESSAGE("$3\r\na x"), "that no master can send"},
        {"*3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$3\r\na 7\r\n", "that no master can send"},
        {"*1\r\n*1\r\n:1\r\n", "an array too long or too deep"},
        {"hello\r\n", "malformed reply"},
    };
    for (unsigned i = 0; i < COUNT(lies); i++) {
        come_to_subscribe(world);
        fake_say(&world->fake, MESSAGE("$3\r\na 7"));
        fake_say(&world->fake, lies[i].bytes);
        fake_say(&world->fake, MESSAGE("$3\r\nb 8"));
        run_until_told(world, 2);
        assert_push(&world->told[0], "a", 7);
        assert_closed(&world->told[1], lies[i].why);
        assert_int_equal(link_counters(world->link)->protocol_errors, i + 1);
        assert_false(link_pump(world->link));
        assert_int_equal(world->told_count, 2);
    }
}

LINK_TEST(a_message_before_the_confirmation_closes)
{
    static const char *const early[] = {MESSAGE("$3\r\na 7") "+OK\r\n" WHO SUBSCRIBED,
                                        "+OK\r\n" WHO MESSAGE("$3\r\na 7") SUBSCRIBED};
    for (unsigned i = 0; i < COUNT(early); i++) {
        subscribe(world);
        fake_say(&world->fake, early[i]);
        run_until_closed(world, 1, "that the login cannot have");
        assert_int_equal(link_counters(world->link)->protocol_errors, i + 1);
    }
}

LINK_TEST(a_listener_that_is_refused)
{
    char password[] = "pw";
    make_link_to(world, (struct address){.host = LOCAL, .password = password});
    subscribe(world);
    assert_memory_equal(world->fake.heard, "*2\r\n$4\r\nAUTH\r\n$2\r\npw\r\n*3\r\n", 26);
    fake_say(&world->fake, "-WRONGPASS no\r\n-NOAUTH no\r\n-NOAUTH no\r\n-NOAUTH no\r\n");
    run_until_closed(world, 1, "cannot subscribe: WRONGPASS no");

    subscribe(world);
    fake_say(&world->fake, "+OK\r\n+OK\r\n" WHO "-NOPERM no channel\r\n");
    run_until_closed(world, 1, "cannot subscribe: NOPERM no channel");

    subscribe(world);
    fake_say(&world->fake, "-WRONGPASS no\r\n-NOAUTH no\r\n-NOAUTH no\r\n" SUBSCRIBED);
    run_until_closed(world, 1, "cannot subscribe: WRONGPASS no");
    assert_int_equal(link_counters(world->link)->protocol_errors, 0);
}

LINK_TEST(a_listener_that_may_not_be_named_listens)
{
    subscribe(world);
    fake_say(&world->fake, "-NOPERM no setname\r\n-NOPERM no info\r\n" SUBSCRIBED);
    run_until_told(world, 1);
    assert_int_equal(world->told[0].kind, EVENT_SUBSCRIBED);
}

LINK_TEST(a_listener_is_told_the_end_and_may_listen_again)
{
    subscribe(world);
    fake_hang_up(&world->fake);
    run_until_closed(world, 1, "closed by the master");

    come_to_subscribe(world);
    fake_hang_up(&world->fake);
    run_until_closed(world, 1, "closed by the master");

    come_to_subscribe(world);
    fake_reset(&world->fake);
    run_until_closed(world, 1, "cannot read");

    come_to_subscribe(world);
    fake_say(&world->fake, MESSAGE("$3\r\na 7"));
    run_until_told(world, 1);
    assert_push(&world->told[0], "a", 7);
}

LINK_TEST(a_listener_gives_a_sign_of_life)
{
    make_link(world, LOCAL);
    link_probe(world->link); /* it is not connected */
    come_to_subscribe(world);
    link_probe(world->link);
    run_until_heard(world, ALL_HEARD + sizeof "*1\r\n$4\r\nPING\r\n" - 1);
    assert_memory_equal(world->fake.heard + ALL_HEARD, "*1\r\n$4\r\nPING\r\n", 14);
    fake_say(&world->fake, "*2\r\n$4\r\npong\r\n$0\r\n\r\n" MESSAGE("$3\r\na 7"));
    run_until_told(world, 2);
    assert_int_equal(world->told[0].kind, EVENT_ALIVE);
    assert_push(&world->told[1], "a", 7);
    link_probe(world->link);
    fake_say(&world->fake, "-NOPERM no ping\r\n"); /* it is alive */
    run_until_told(world, 3);
    assert_int_equal(world->told[2].kind, EVENT_ALIVE);
    fake_say(&world->fake, "*2\r\n$4\r\npong\r\n$0\r\n\r\n"); /* it was not asked */
    run_until_closed(world, 4, "that no master can send");
}

LINK_TEST(a_full_master_refuses_a_listener)
{
    subscribe(world);
    fake_say(&world->fake, "-ERR max number of clients reached\r\n");
    fake_hang_up(&world->fake);
    run_until_closed(world, 1, "after: ERR max number of clients reached");
    assert_int_equal(link_counters(world->link)->protocol_errors, 0);
}

LINK_TEST(closing_a_listener)
{
    make_link(world, LOCAL);
    do_subscribe(world);
    do_close(world);
    run_until_closed(world, 1, NULL);

    subscribe(world);
    do_close(world);
    run_until_closed(world, 1, NULL);

    come_to_subscribe(world);
    do_close(world);
    run_until_closed(world, 1, NULL);
}

static void close_at_push(struct world *world, const struct event *event)
{
    if (event->kind == EVENT_PUSH)
        do_close(world);
}

LINK_TEST(closing_inside_a_push_ends_hearing)
{
    come_to_subscribe(world);
    world->react = close_at_push;
    fake_say(&world->fake, MESSAGE("$3\r\na 7") MESSAGE("$3\r\nb 8"));
    run_until_told(world, 2);
    assert_push(&world->told[0], "a", 7);
    assert_closed(&world->told[1], NULL);
    assert_false(link_pump(world->link));
    assert_int_equal(world->told_count, 2);
}

LINK_TEST(a_listener_may_become_a_link_again)
{
    come_to_subscribe(world);
    do_close(world);
    run_until_told(world, 1);
    come_up(world, LOCAL);
    fake_say(&world->fake, MESSAGE("$3\r\na 7"));
    run_until_closed(world, 1, "a reply to nothing");
}

LINK_TEST(nobody_there_to_listen_to)
{
    make_link(world, "127.0.0.2");
    do_subscribe(world);
    run_until_closed(world, 1, "cannot connect");
}

LINK_TEST(no_memory_to_subscribe)
{
    make_link(world, LOCAL);
    no_memory = true;
    do_subscribe(world);
    run_until_closed(world, 1, "out of memory");
    no_memory = false;
    come_to_subscribe(world);
}

PROGRAM_OF_CASES(link_tests_begin, NULL)
