/* However a connection ends, each request has its answer, and then the end is reported. */
/* rule: K22 */
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>

#include "link_calls.h"
#include "link_world.h"

UP_TEST(closing_answers_what_is_in_flight)
{
    send_round(world, REQUEST_HELLO, 1);
    send_round(world, REQUEST_RELEASE, 2);
    assert_false(link_breaks(world->link));
    do_close(world);
    do_close(world);
    assert_true(link_breaks(world->link));
    assert_int_equal(world->told_count, 0);
    assert_true(link_pump(world->link));
    assert_false(link_pump(world->link));
    assert_int_equal(world->told_count, 3);
    assert_end(world, 0, 1, NULL);
    while (!world->fake.left_by)
        ev_run(world->loop, EVRUN_ONCE);
}

LINK_TEST(closing_a_closed_link_tells_nothing)
{
    make_link(world, LOCAL);
    do_close(world);
    assert_false(link_pump(world->link));
    assert_int_equal(world->told_count, 0);
}

LINK_TEST(closing_while_connecting)
{
    make_link(world, LOCAL);
    do_connect(world);
    do_close(world);
    assert_true(link_pump(world->link));
    assert_int_equal(world->told_count, 1);
    assert_closed(&world->told[0], NULL);
}

UP_TEST(a_master_that_goes_away)
{
    for (unsigned i = 0; i < 3; i++)
        send_round(world, REQUEST_RELEASE, i);
    run_until_heard(world, 3 * release_length(world));
    fake_say(&world->fake, ":1\r\n:");
    fake_hang_up(&world->fake);
    run_until_told(world, 4);
    assert_reply(&world->told[0], 0, ANSWER_YES);
    assert_lost(&world->told[1], 1);
    assert_string_equal(world->told[1].text, "closed by the master");
    assert_end(world, 2, 2, "closed by the master");
    assert_int_equal(link_counters(world->link)->protocol_errors, 0);
}

UP_TEST(a_connection_that_is_reset)
{
    send_round(world, REQUEST_RELEASE, 1);
    run_until_heard(world, release_length(world));
    fake_reset(&world->fake);
    run_until_end(world, 2, 0, 1, "cannot read: Connection reset by peer");
}

/* On a unix socket the other side's end is seen by the very next write. */
LINK_TEST(a_pipe_that_breaks_while_flushing)
{
    assert_ptr_equal(signal(SIGPIPE, SIG_DFL), SIG_DFL);
    use_unix_socket(world);
    come_up(world, NULL);
    fake_hang_up(&world->fake);
    send_round(world, REQUEST_RELEASE, 1);
    do_flush(world);
    send_round(world, REQUEST_RELEASE, 2);
    do_flush(world);
    assert_int_equal(world->told_count, 0);
    assert_true(link_breaks(world->link));
    assert_true(link_pump(world->link));
    assert_false(link_breaks(world->link));
    assert_int_equal(world->told_count, 3);
    assert_end(world, 0, 1, "closed by the master");
}

LINK_TEST(what_came_before_the_break_is_read)
{
    use_unix_socket(world);
    come_up(world, NULL);
    send_round(world, REQUEST_RELEASE, 1);
    run_until_heard(world, release_length(world));
    fake_say(&world->fake, ":1\r\n");
    fake_hang_up(&world->fake);
    send_round(world, REQUEST_RELEASE, 2);
    do_flush(world);
    assert_true(link_pump(world->link));
    assert_int_equal(world->told_count, 3);
    assert_reply(&world->told[0], 1, ANSWER_YES);
    assert_end(world, 1, 2, "cannot send: Broken pipe");
}

/* Nothing to read, and not the end either. */
LINK_TEST(a_master_that_only_stops_reading)
{
    use_unix_socket(world);
    come_up(world, NULL);
    shutdown(world->fake.connection, SHUT_RD);
    send_round(world, REQUEST_RELEASE, 1);
    do_flush(world);
    assert_true(link_pump(world->link));
    assert_end(world, 0, 1, "cannot send: Broken pipe");
}

LINK_TEST(nothing_of_a_connection_survives_it)
{
    use_unix_socket(world);
    come_up(world, NULL);
    fake_hang_up(&world->fake);
    send_round(world, REQUEST_RELEASE, 1);
    do_flush(world);
    link_pump(world->link);
    come_up(world, NULL);
    assert_exchange(world, 2);

    send_round(world, REQUEST_RELEASE, 3);
    close_link(world);
    come_up(world, NULL);
    assert_exchange(world, 4);

    world->told_count = 0;
    fake_hang_up(&world->fake);
    run_until_closed(world, 1, "closed by the master");
}

static void send_while_losing(struct world *world, const struct event *event)
{
    if (event->kind == EVENT_REPLY && event->reply->tag.round < 10)
        send_round(world, REQUEST_RELEASE, event->reply->tag.round + 10);
}

UP_TEST(a_request_between_the_break_and_its_news_is_lost_too)
{
    send_round(world, REQUEST_RELEASE, 1);
    send_round(world, REQUEST_RELEASE, 2);
    do_close(world);
    send_round(world, REQUEST_RELEASE, 3);
    do_flush(world);
    world->react = send_while_losing;
    assert_true(link_pump(world->link));
    assert_int_equal(world->told_count, 7);
    const unsigned rounds[] = {1, 2, 3, 11, 12, 13};
    for (unsigned i = 0; i < COUNT(rounds); i++)
        assert_lost(&world->told[i], rounds[i]);
    assert_closed(&world->told[6], NULL);
}

static void close_at_reply(struct world *world, const struct event *event)
{
    if (event->kind != EVENT_REPLY || event->reply->answer == ANSWER_LOST)
        return;
    char text[64];
    snprintf(text, sizeof text, "%s", text_of(event->reply));
    do_close(world);
    assert_false(link_pump(world->link));
    assert_string_equal(text_of(event->reply), text);
}

UP_TEST(closing_inside_a_reply_ends_reading)
{
    world->react = close_at_reply;
    send_round(world, REQUEST_PEEK, 1);
    send_round(world, REQUEST_PEEK, 2);
    run_until_heard(world, 2 * 70);
    fake_say(&world->fake, "*4\r\n$2\r\nme\r\n:5\r\n:0\r\n$0\r\n\r\n"
                           "*4\r\n$2\r\nme\r\n:5\r\n:0\r\n$0\r\n\r\n");
    run_until_told(world, 3);
    assert_reply(&world->told[0], 1, ANSWER_HELD);
    assert_end(world, 1, 2, NULL);
}

static void connect_again(struct world *world, const struct event *event)
{
    if (event->kind != EVENT_CLOSED)
        return;
    char text[200];
    snprintf(text, sizeof text, "%s", event->text);
    world->react = NULL;
    do_connect(world);
    assert_string_equal(event->text, text);
}

UP_TEST(connecting_again_inside_the_news_of_the_end)
{
    world->react = connect_again;
    fake_hang_up(&world->fake);
    run_until_told(world, 2);
    assert_closed(&world->told[0], "closed by the master");
    assert_int_equal(world->told[1].kind, EVENT_CONNECTED);
    assert_exchange(world, 5);
}

UP_TEST(a_failure_to_connect_again_does_not_spoil_the_news)
{
    world->react = connect_again;
    no_threads = true;
    world->address.host = (char *)(uintptr_t) "none.test";
    fake_hang_up(&world->fake);
    run_until_told(world, 2);
    assert_closed(&world->told[0], "closed by the master");
    assert_closed(&world->told[1], "cannot start to look up none.test");
}

UP_TEST(freeing_tells_nothing)
{
    send_round(world, REQUEST_RELEASE, 1);
    ev_prepare_stop(world->loop, &world->pumping);
    link_free(world->link);
    world->link = NULL;
    while (!world->fake.left_by)
        ev_run(world->loop, EVRUN_ONCE);
    assert_int_equal(world->told_count, 0);
}

PROGRAM_OF_CASES(link_tests_begin, NULL)
