/* Replies are of the requests in their order, however the bytes come and go. */
#include <stdio.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "command.h"
#include "link_world.h"
#include "system.h"
#include "transport.h"

bool __real_transport_read(redisContext *context, struct tls *tls);
bool __wrap_transport_read(redisContext *context, struct tls *tls);

static usec read_by; /* all that was read, and the clock has gone on since */

bool __wrap_transport_read(redisContext *context, struct tls *tls)
{
    bool goes_on = __real_transport_read(context, tls);
    read_by = system_now();
    while (system_now() == read_by)
        ;
    return goes_on;
}

UP_TEST(one_look_at_the_clock_for_what_was_read_together)
{
    send_round(world, REQUEST_RELEASE, 1);
    send_round(world, REQUEST_RELEASE, 2);
    run_until_heard(world, 2 * release_length(world));
    fake_say(&world->fake, ":1\r\n:1\r\n");
    run_until_told(world, 2);
    assert_true(world->told[0].now > read_by);
    assert_int_equal(world->told[1].now, world->told[0].now);
}

UP_TEST(ten_thousand_in_flight_are_answered_in_order)
{
    for (unsigned i = 0; i < MANY; i++)
        send_round(world, REQUEST_RELEASE, i);
    assert_int_equal(link_in_flight(world->link), MANY);
    run_until_heard(world, MANY * release_length(world));
    static const char *const replies[] = {":1\r\n", ":0\r\n", ":-1\r\n"};
    static const enum answer answers[] = {ANSWER_YES, ANSWER_ABSENT, ANSWER_HELD};
    for (unsigned i = 0; i < MANY; i++)
        fake_say(&world->fake, replies[i % 3]);
    run_until_told(world, MANY);
    for (unsigned i = 0; i < MANY; i++)
        assert_reply(&world->told[i], i, answers[i % 3]);
    assert_int_equal(link_in_flight(world->link), 0);
    assert_int_equal(link_counters(world->link)->replies, MANY);
}

UP_TEST(one_wake_up_reads_a_bounded_amount)
{
    for (unsigned i = 0; i < MANY; i++)
        send_round(world, REQUEST_RELEASE, i);
    run_until_heard(world, MANY * release_length(world));
    for (unsigned i = 0; i < MANY; i++)
        fake_say(&world->fake, ":1\r\n");
    ev_run(world->loop, EVRUN_ONCE);
    assert_in_range(world->told_count, 1, 16384 / 4);
    run_until_told(world, MANY);
}

UP_TEST(replies_may_come_byte_by_byte)
{
    send_round(world, REQUEST_HELLO, 1);
    send_round(world, REQUEST_PEEK, 2);
    for (const char *at = LOGIN_REPLIES HELLO_REPLY "*4\r\n$2\r\nme\r\n:5\r\n:0\r\n$0\r\n\r\n"; *at;
         at++) {
        fake_say_bytes(&world->fake, at, 1);
        ev_run(world->loop, EVRUN_ONCE);
    }
    run_until_told(world, 2);
    assert_reply(&world->told[0], 1, ANSWER_HELLO);
    assert_reply(&world->told[1], 2, ANSWER_HELD);
    assert_string_equal(world->told[1].text, "me");
}

UP_TEST(one_flush_for_many_requests)
{
    fake_go_deaf(&world->fake);
    for (unsigned i = 0; i < 10; i++)
        send_round(world, REQUEST_RELEASE, i);
    char bytes[4096];
    assert_int_equal(recv(world->fake.connection, bytes, sizeof bytes, 0), -1);
    do_flush(world);
    assert_int_equal(recv(world->fake.connection, bytes, sizeof bytes, 0),
                     10 * release_length(world));
}

LINK_TEST(a_slow_reader_gets_every_byte)
{
    enum { REQUESTS = 300 };
    static char bytes[65536];
    struct buffer wanted = {0};
    enum step steps[STEPS_MAX];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (char)(i * 31 + i / 251);
    struct slice slice = {bytes, sizeof bytes};
    struct names *names = names_new(&unit_memory, (struct slice){"", 0}, &slice, 1);
    struct request request = {.tag = {.kind = REQUEST_PEEK, .sent_at = 1000}, .names = names};
    come_up(world, LOCAL);
    fake_go_deaf(&world->fake);
    for (unsigned i = 0; i < REQUESTS; i++) {
        do_send(world, &request);
        command_write(&wanted, &request, NULL, steps);
        do_flush(world);
    }
    ev_run(world->loop, EVRUN_NOWAIT);
    fake_hear_again(&world->fake);
    run_until_heard(world, wanted.length);
    assert_int_equal(world->fake.heard_length, wanted.length);
    assert_memory_equal(world->fake.heard, wanted.data, wanted.length);
    for (unsigned i = 0; i < REQUESTS; i++)
        fake_say(&world->fake, "$-1\r\n");
    run_until_told(world, REQUESTS);
    assert_reply(&world->told[REQUESTS - 1], 0, ANSWER_ABSENT);
    buffer_free(&wanted);
    names_drop(&unit_memory, names);
}

LINK_TEST(replies_can_be_fetched_without_the_loop)
{
    use_unix_socket(world);
    come_up(world, NULL);
    assert_false(link_read(world->link));
    send_round(world, REQUEST_RELEASE, 1);
    run_until_heard(world, release_length(world));
    assert_false(link_read(world->link));
    fake_say(&world->fake, ":1\r\n");
    assert_true(link_read(world->link));
    assert_int_equal(world->told_count, 1);
    assert_reply(&world->told[0], 1, ANSWER_YES);
    fake_hang_up(&world->fake);
    assert_false(link_read(world->link));
    assert_int_equal(world->told_count, 2);
    assert_closed(&world->told[1], "closed by the master");
    assert_false(link_read(world->link));
}

LINK_TEST(a_forked_child_leaves_the_replies_to_its_parent)
{
    int status;
    come_up(world, LOCAL);
    send_round(world, REQUEST_RELEASE, 1);
    run_until_heard(world, release_length(world));
    fake_say(&world->fake, ":1\r\n");
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        alarm(10);
        ev_loop_fork(world->loop);
        for (int i = 0; i < 3; i++)
            ev_run(world->loop, EVRUN_NOWAIT);
        _exit((int)world->told_count);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    run_until_reply(world, 1, 1, ANSWER_YES);
}

/* No flush comes by: the loop itself goes on when there is room. */
LINK_TEST(the_rest_is_written_when_there_is_room)
{
    static char bytes[1 << 16];
    size_t wanted = 0, got = 0;
    come_up(world, LOCAL);
    fake_go_deaf(&world->fake);
    for (unsigned i = 0; i < 200; i++) {
        send_long_name(world, i);
        wanted += sizeof bytes;
    }
    do_flush(world);
    ev_prepare_stop(world->loop, &world->pumping);
    while (got < wanted) {
        ssize_t length = recv(world->fake.connection, bytes, sizeof bytes, MSG_DONTWAIT);
        if (length > 0)
            got += (size_t)length;
        else
            ev_run(world->loop, EVRUN_NOWAIT);
    }
}

PROGRAM_OF_CASES(link_tests_begin, NULL)
