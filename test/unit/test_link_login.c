/* The first hello of a connection logs in, and every connection does it afresh. */
#define _GNU_SOURCE
#include "link_world.h"

static int64_t client_id;

static void keep_client_id(struct world *world, const struct event *event)
{
    (void)world;
    if (event->kind == EVENT_REPLY && event->reply->answer == ANSWER_HELLO)
        client_id = event->reply->hello->client_id;
}

UP_TEST(the_first_hello_logs_in)
{
    world->react = keep_client_id;
    send_round(world, REQUEST_HELLO, 1);
    assert_int_equal(link_in_flight(world->link), 1);
    run_until_heard(world, 100);
    assert_memory_equal(world->fake.heard, "*3\r\n$6\r\nCLIENT\r\n$7\r\nSETNAME\r\n", 29);
    assert_non_null(memmem(world->fake.heard, world->fake.heard_length, NAME, strlen(NAME)));
    fake_say(&world->fake, LOGIN_REPLIES HELLO_REPLY);
    run_until_reply(world, 1, 1, ANSWER_HELLO);
    assert_int_equal(client_id, 77);

    world->fake.heard_length = 0;
    send_round(world, REQUEST_HELLO, 2);
    run_until_heard(world, 100);
    assert_memory_equal(world->fake.heard, "*10\r\n$7\r\nEVALSHA\r\n", 18);
    fake_say(&world->fake, HELLO_REPLY);
    run_until_reply(world, 2, 2, ANSWER_HELLO);
    assert_int_equal(link_counters(world->link)->requests, 2);
    assert_int_equal(link_counters(world->link)->replies, 2);
    assert_int_equal(link_in_flight(world->link), 0);
}

/* The scripts are not there: they come with the next hello, behind the same login. */
UP_TEST(a_whole_hello_loads_the_scripts)
{
    world->react = keep_client_id;
    client_id = 0;
    send_round(world, REQUEST_HELLO, 1);
    run_until_heard(world, 100);
    fake_say(&world->fake, LOGIN_REPLIES "-NOSCRIPT none\r\n");
    run_until_reply(world, 1, 1, ANSWER_NOSCRIPT);

    world->fake.heard_length = 0;
    send_whole_hello(world, 2);
    run_until_heard(world, 1000);
    assert_memory_equal(world->fake.heard, "*3\r\n$6\r\nSCRIPT\r\n$4\r\nLOAD\r\n", 26);
    fake_say(&world->fake, LOADED HELLO_REPLY);
    run_until_reply(world, 2, 2, ANSWER_HELLO);
    assert_int_equal(client_id, 77);
    assert_int_equal(link_in_flight(world->link), 0);
}

LINK_TEST(credentials_come_from_the_address)
{
    char user[] = "ann", password[] = "pw";
    make_link_to(world,
                 (struct address){.host = LOCAL, .user = user, .password = password, .db = 2});
    come_up(world, NULL);
    send_round(world, REQUEST_HELLO, 1);
    const char start[] = "*3\r\n$4\r\nAUTH\r\n$3\r\nann\r\n$2\r\npw\r\n"
                         "*2\r\n$6\r\nSELECT\r\n$1\r\n2\r\n*3\r\n$6\r\nCLIENT\r\n";
    run_until_heard(world, sizeof start - 1);
    assert_memory_equal(world->fake.heard, start, sizeof start - 1);
    fake_say(&world->fake, "-WRONGPASS no\r\n+OK\r\n+OK\r\n:1\r\n");
    fake_say(&world->fake, "-NOAUTH no\r\n");
    run_until_reply(world, 1, 1, ANSWER_ERROR);
    assert_string_equal(world->told[0].text, "WRONGPASS no");
    assert_true(link_was_denied(world->link));
}

/* The link knows the denial until the next connection, which has the login that the address has by
 * then. */
LINK_TEST(the_login_of_an_address_may_change)
{
    char user[] = "bob", old[] = "old", new[] = "new";
    make_link_to(world, (struct address){.host = LOCAL, .password = old});
    come_up(world, NULL);
    send_round(world, REQUEST_HELLO, 1);
    run_until_heard(world, 100);
    fake_say(&world->fake, "-WRONGPASS no\r\n");
    fake_hang_up(&world->fake);
    run_until_told(world, 2);
    assert_true(link_was_denied(world->link));

    world->told_count = 0;
    world->fake.heard_length = 0;
    world->address.user = user;
    world->address.password = new;
    come_up(world, NULL);
    assert_false(link_was_denied(world->link));
    send_round(world, REQUEST_HELLO, 2);
    const char start[] = "*3\r\n$4\r\nAUTH\r\n$3\r\nbob\r\n$3\r\nnew\r\n";
    run_until_heard(world, sizeof start - 1);
    assert_memory_equal(world->fake.heard, start, sizeof start - 1);
}

LINK_TEST(each_connection_logs_in_afresh)
{
    char password[] = "pw";
    make_link_to(world, (struct address){.host = LOCAL, .password = password});
    come_up(world, NULL);
    send_round(world, REQUEST_HELLO, 1);
    run_until_heard(world, 100);
    fake_say(&world->fake, "-WRONGPASS no\r\n");
    fake_hang_up(&world->fake);
    run_until_end(world, 2, 0, 1, "closed by the master after: WRONGPASS no");

    come_up(world, LOCAL);
    send_round(world, REQUEST_HELLO, 2);
    run_until_heard(world, 100);
    assert_memory_equal(world->fake.heard, "*2\r\n$4\r\nAUTH\r\n", 14);
    fake_say(&world->fake, "+OK\r\n" LOGIN_REPLIES HELLO_REPLY);
    run_until_reply(world, 1, 2, ANSWER_HELLO);
    fake_hang_up(&world->fake);
    run_until_told(world, 2);
    assert_string_equal(world->told[1].text, "closed by the master");
}

UP_TEST(a_full_master_is_told_as_such)
{
    send_round(world, REQUEST_HELLO, 1);
    run_until_heard(world, 100);
    fake_say(&world->fake, "-ERR max number of clients reached\r\n");
    fake_hang_up(&world->fake);
    run_until_end(world, 2, 0, 1, "max number of clients reached");
    assert_int_equal(link_counters(world->link)->protocol_errors, 0);
}

PROGRAM_OF_CASES(link_tests_begin, NULL)
