/* A link's effects on the loop of the application. */
#include "link_calls.h"
#include "link_world.h"

UP_TEST(an_idle_link_does_not_keep_the_loop_alive)
{
    fake_let_go_of_loop(&world->fake);
    ev_prepare_stop(world->loop, &world->pumping);
    ev_run(world->loop, 0);
    close_link(world);
    ev_run(world->loop, 0);
}

LINK_TEST(nor_does_a_lookup)
{
    unsigned freed_before = read_count(&lookups_freed);
    begin_slow_lookup(world);
    fake_let_go_of_loop(&world->fake);
    ev_prepare_stop(world->loop, &world->pumping);
    ev_run(world->loop, 0);
    close_link(world);
    ev_run(world->loop, 0);
    let_a_lookup_through();
    await_at_least(&lookups_freed, freed_before + 1);
}

static void on_late(struct ev_loop *loop, ev_timer *watcher, int events)
{
    (void)events;
    bool *late = watcher->data;
    *late = true;
    ev_break(loop, EVBREAK_ALL);
}

/* One ev_unref() too many would end the loop under the application's own watchers. */
LINK_TEST(the_application_keeps_its_loop)
{
    bool late = false;
    ev_timer timer;
    for (unsigned i = 0; i < 3; i++) {
        come_up(world, i ? LOCAL : "localhost");
        close_link(world);
        world->told_count = 0;
    }
    fake_let_go_of_loop(&world->fake);
    ev_prepare_stop(world->loop, &world->pumping);
    ev_timer_init(&timer, on_late, 0.01, 0);
    timer.data = &late;
    ev_timer_start(world->loop, &timer);
    ev_run(world->loop, 0);
    assert_true(late);
}

PROGRAM_OF_CASES(link_tests_begin, NULL)
