/* Without memory a connection ends; its requests are answered. */
#include "link_calls.h"
#include "link_world.h"

UP_TEST(no_memory_to_expect_more_replies)
{
    send_long_name(world, 0); /* leaves room for the bytes of all others */
    no_memory = true;
    for (unsigned i = 1; i < 40; i++)
        send_round(world, REQUEST_RELEASE, i);
    no_memory = false;
    pump_to_end(world, 41, 0, 0, "out of memory");

    come_up(world, LOCAL);
    assert_exchange(world, 50);
}

UP_TEST(no_memory_for_the_bytes)
{
    no_memory = true;
    send_round(world, REQUEST_RELEASE, 1);
    send_round(world, REQUEST_RELEASE, 2);
    no_memory = false;
    do_flush(world);
    pump_to_end(world, 3, 0, 1, "out of memory");
    assert_int_equal(link_in_flight(world->link), 0);
}

UP_TEST(no_memory_for_a_batch)
{
    send_batch(world, REQUEST_RELEASE, 1, 2);
    no_memory = true;
    do_flush(world);
    no_memory = false;
    assert_true(link_breaks(world->link));
    pump_to_end(world, 3, 0, 1, "out of memory");
    assert_int_equal(link_in_flight(world->link), 0);
}

LINK_TEST(no_memory_for_a_long_string)
{
    static char text[5000];
    memset(text, 'x', sizeof text);
    come_up(world, LOCAL);
    send_round(world, REQUEST_PEEK, 1);
    run_until_heard(world, 70);
    fake_say(&world->fake, "$5000\r\n");
    fake_say_bytes(&world->fake, text, sizeof text);
    fake_say(&world->fake, "\r\n");
    no_memory = true;
    run_until_told(world, 2);
    no_memory = false;
    assert_end(world, 0, 1, "out of memory");
    assert_int_equal(link_counters(world->link)->protocol_errors, 0);

    come_up(world, LOCAL);
    send_round(world, REQUEST_PEEK, 2);
    run_until_heard(world, 70);
    fake_say(&world->fake, "*33\r\n");
    run_until_closed(world, 2, "an array too long or too deep");
}

PROGRAM_OF_CASES(link_tests_begin, NULL)
