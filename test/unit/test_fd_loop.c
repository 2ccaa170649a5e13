/* A loop that shows one descriptor: which watch hears what, and when it is readable. */
/* rule: C10, C11 */
#include "fd_loop.h"
#include "unit.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "forks.h"
#include "system.h"

/* Two ends, of which the first is watched. */
struct end {
    struct io_watch watch;
    int ours, theirs;
    unsigned times;
    int events; /* all that it heard */
    void (*react)(struct end *end);
};

static struct io_loop *loop;
static struct end ends[FD_LOOP_WATCHES];

static void on_ready(void *owner, int events)
{
    struct end *end = owner;
    end->times++;
    end->events |= events;
    if (end->react)
        end->react(end);
}

static void make_end(struct end *end)
{
    int both[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, both), 0);
    *end = (struct end){.ours = both[0], .theirs = both[1]};
    end->watch = (struct io_watch){.loop = loop, .ready = on_ready, .owner = end};
}

static void say(const struct end *end)
{
    assert_int_equal(write(end->theirs, "x", 1), 1);
}

static bool is_readable(int timeout_ms)
{
    struct pollfd fd = {.fd = fd_loop_descriptor(loop), .events = POLLIN};
    return poll(&fd, 1, timeout_ms) == 1;
}

static int set_up(void **state)
{
    (void)state;
    assert_int_equal(forks_watch(), 0);
    loop = fd_loop_new();
    assert_non_null(loop);
    for (unsigned i = 0; i < 3; i++)
        make_end(&ends[i]);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        io_watch(&ends[i].watch, ends[i].ours, 0);
        close(ends[i].ours);
        close(ends[i].theirs);
    }
    io_loop_free(loop);
    return 0;
}

/* ---- descriptors ---- */

#define TEST(name) CASE_WITH(name, set_up, tear_down)

TEST(only_what_is_asked_for_is_told)
{
    io_watch(&ends[0].watch, ends[0].ours, IO_READ);
    assert_false(is_readable(0));
    say(&ends[0]);
    assert_true(is_readable(0));
    assert_true(fd_loop_dispatch(loop));
    assert_int_equal(ends[0].events, IO_READ);
    io_watch(&ends[0].watch, ends[0].ours, IO_READ | IO_WRITE);
    assert_true(fd_loop_dispatch(loop));
    assert_int_equal(ends[0].events, IO_READ | IO_WRITE);
    assert_int_equal(ends[0].times, 2);
    io_watch(&ends[0].watch, ends[0].ours, 0);
    assert_false(is_readable(0));
    assert_true(fd_loop_dispatch(loop));
    assert_int_equal(ends[0].times, 2);
}

TEST(an_end_is_told_to_who_reads_and_who_writes)
{
    io_watch(&ends[0].watch, ends[0].ours, IO_READ);
    io_watch(&ends[1].watch, ends[1].ours, IO_WRITE);
    shutdown(ends[0].theirs, SHUT_RDWR);
    shutdown(ends[1].theirs, SHUT_RDWR);
    fd_loop_dispatch(loop);
    assert_int_equal(ends[0].events, IO_READ);
    assert_int_equal(ends[1].events, IO_WRITE);
}

static void stop_the_others(struct end *end)
{
    for (unsigned i = 0; i < 3; i++)
        if (&ends[i] != end)
            io_watch(&ends[i].watch, ends[i].ours, 0);
}

/* All three are ready at once; the first to hear stops the others. */
TEST(what_was_stopped_meanwhile_is_told_nothing)
{
    for (unsigned i = 0; i < 3; i++) {
        ends[i].react = stop_the_others;
        io_watch(&ends[i].watch, ends[i].ours, IO_READ);
        say(&ends[i]);
    }
    fd_loop_dispatch(loop);
    assert_int_equal(ends[0].times + ends[1].times + ends[2].times, 1);
}

static void change_places(struct end *end)
{
    (void)end;
    for (unsigned i = 0; i < 3; i++)
        io_watch(&ends[i].watch, ends[i].ours, 0);
    for (unsigned i = 3; i-- > 0;) /* so each gets the slot of another */
        io_watch(&ends[i].watch, ends[i].ours, IO_WRITE);
}

TEST(nor_is_what_has_got_its_slot)
{
    for (unsigned i = 0; i < 3; i++) {
        ends[i].react = change_places;
        io_watch(&ends[i].watch, ends[i].ours, IO_WRITE);
    }
    fd_loop_dispatch(loop);
    assert_int_equal(ends[0].times + ends[1].times + ends[2].times, 1);
}

/* A file cannot be watched at all. */
TEST(a_refusal_is_told_in_the_next_turn)
{
    int file = open("/proc/self/stat", O_RDONLY);
    assert_true(file >= 0);
    io_watch(&ends[0].watch, file, IO_READ);
    assert_int_equal(ends[0].times, 0);
    io_loop_wake_at(loop, NEVER); /* the turn in which it was refused ends */
    assert_true(is_readable(0));
    fd_loop_dispatch(loop);
    assert_int_equal(ends[0].events, IO_REFUSED);
    fd_loop_dispatch(loop);
    assert_int_equal(ends[0].times, 1);
    io_watch(&ends[0].watch, file, 0);
    close(file);
}

TEST(who_takes_the_place_of_a_refused_one_is_not_refused)
{
    int file = open("/proc/self/stat", O_RDONLY);
    io_watch(&ends[0].watch, file, IO_READ);
    io_watch(&ends[0].watch, file, 0);
    io_watch(&ends[1].watch, ends[1].ours, IO_READ);
    fd_loop_dispatch(loop);
    assert_int_equal(ends[0].times + ends[1].times, 0);
    close(file);
}

TEST(all_of_them_fit)
{
    for (unsigned i = 3; i < FD_LOOP_WATCHES; i++)
        make_end(&ends[i]);
    for (unsigned i = 0; i < FD_LOOP_WATCHES; i++)
        io_watch(&ends[i].watch, ends[i].ours, IO_WRITE);
    fd_loop_dispatch(loop);
    for (unsigned i = 0; i < FD_LOOP_WATCHES; i++)
        assert_int_equal(ends[i].times, 1);
    for (unsigned i = 3; i < FD_LOOP_WATCHES; i++) {
        io_watch(&ends[i].watch, ends[i].ours, 0);
        close(ends[i].ours);
        close(ends[i].theirs);
    }
}

/* ---- time ---- */

TEST(it_wakes_at_the_time)
{
    usec at = system_now() + 30000;
    assert_true(fd_loop_next_turn(loop) == NEVER);
    io_loop_wake_at(loop, at);
    assert_true(fd_loop_next_turn(loop) == at);
    assert_true(is_readable(10000));
    assert_true(system_now() >= at);
    fd_loop_dispatch(loop);
    assert_true(fd_loop_next_turn(loop) == 0);
    io_loop_wake_at(loop, NEVER);
    assert_false(is_readable(0));
}

/* An earlier time that was asked for before stands; a later one may then be asked for. */
TEST(a_time_that_is_put_off_costs_one_turn)
{
    usec at = system_now() + 20000, later = at + 3600000000;
    io_loop_wake_at(loop, at);
    io_loop_wake_at(loop, later);
    assert_true(is_readable(10000));
    fd_loop_dispatch(loop);
    io_loop_wake_at(loop, later);
    assert_false(is_readable(0));
    assert_true(fd_loop_next_turn(loop) == later);
}

TEST(an_earlier_time_replaces_a_later_one)
{
    io_loop_wake_at(loop, system_now() + 3600000000);
    io_loop_wake_at(loop, system_now() + 10000);
    assert_true(is_readable(10000));
}

TEST(what_is_over_wakes_at_once)
{
    io_loop_wake_at(loop, system_now() - 5000000);
    assert_true(is_readable(10000));
}

TEST(stirred_it_is_readable_until_the_next_turn)
{
    io_loop_wake_at(loop, system_now() + 3600000000);
    for (unsigned i = 0; i < 3; i++) {
        io_loop_stir(loop);
        io_loop_stir(loop);
        assert_true(is_readable(0));
        assert_true(fd_loop_next_turn(loop) == 0);
        fd_loop_dispatch(loop);
        assert_false(is_readable(0));
        assert_true(fd_loop_next_turn(loop) > 0);
    }
}

/* The child has the same epoll instance, timer and bell. */
TEST(a_forked_child_changes_nothing)
{
    int status;
    io_watch(&ends[0].watch, ends[0].ours, IO_READ);
    pid_t child = fork();
    if (child == 0) {
        io_watch(&ends[0].watch, ends[0].ours, 0);
        io_loop_stir(loop);
        io_loop_wake_at(loop, system_now() - 1000);
        io_loop_free(loop);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_false(is_readable(0));
    say(&ends[0]);
    assert_true(is_readable(0));
}

/* ---- the loop's own descriptors, and an application that closes them ---- */

static int find(const char *kind)
{
    for (int fd = 3; fd < 1024; fd++) {
        char path[32], to[64] = "";
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        if (readlink(path, to, sizeof to - 1) > 0 && strstr(to, kind))
            return fd;
    }
    fail_msg("there is no %s", kind);
    return -1;
}

TEST(they_are_closed_on_exec)
{
    const int own[] = {fd_loop_descriptor(loop), find("[timerfd]"), find("[eventfd]")};
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(fcntl(own[i], F_GETFD), FD_CLOEXEC);
}

TEST(a_timer_that_was_closed_while_set_is_made_again)
{
    usec at = system_now() + 10000;
    io_loop_wake_at(loop, at);
    close(find("[timerfd]"));
    while (system_now() < at)
        ;
    fd_loop_dispatch(loop);
    io_loop_wake_at(loop, at = system_now() + 10000);
    assert_true(is_readable(10000));
    assert_true(system_now() >= at);
}

/* It is another's timer, which rings in an hour. */
TEST(whoever_has_got_the_timers_number_is_left_alone)
{
    struct itimerspec hour = {.it_value.tv_sec = 3600}, left;
    int number = find("[timerfd]"), timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
    assert_int_equal(dup2(timer, number), number);
    assert_int_equal(timerfd_settime(timer, 0, &hour, NULL), 0);
    io_loop_wake_at(loop, system_now() + 10000);
    assert_true(is_readable(10000));
    assert_int_equal(timerfd_gettime(timer, &left), 0);
    assert_true(left.it_value.tv_sec > 3000);
    close(number);
    close(timer);
}

TEST(a_socket_that_has_got_the_bells_number_is_watched)
{
    int number = find("[eventfd]");
    assert_int_equal(dup2(ends[0].ours, number), number);
    close(ends[0].ours);
    ends[0].ours = number;
    io_watch(&ends[0].watch, number, IO_READ);
    for (unsigned i = 0; i < 2; i++) {
        io_loop_stir(loop);
        assert_true(is_readable(0));
        fd_loop_dispatch(loop);
        assert_false(is_readable(0));
    }
    assert_int_equal(ends[0].times, 0);
    say(&ends[0]);
    assert_true(is_readable(0));
    fd_loop_dispatch(loop);
    assert_int_equal(ends[0].events, IO_READ);
}

static void check_that_it_stays_open(const char *kind, int file)
{
    int number = find(kind);
    assert_int_equal(dup2(file, number), number);
    io_loop_free(loop);
    assert_int_equal(close(number), 0);
    loop = fd_loop_new();
    assert_non_null(loop);
}

TEST(whoever_has_got_a_number_stays_open)
{
    int file = open("/proc/self/stat", O_RDONLY); /* which epoll does not take */
    check_that_it_stays_open("[timerfd]", ends[0].ours);
    check_that_it_stays_open("[eventfd]", file);
    close(file);
}

/* Then the loop's own descriptors are closed all the same. */
TEST(another_epoll_instance_has_got_its_number)
{
    int alien = epoll_create1(EPOLL_CLOEXEC), timer = find("[timerfd]"), bell = find("[eventfd]");
    assert_int_equal(dup2(alien, fd_loop_descriptor(loop)), fd_loop_descriptor(loop));
    io_loop_wake_at(loop, system_now());
    io_loop_free(loop);
    loop = NULL;
    assert_int_equal(close(timer), -1);
    assert_int_equal(close(bell), -1);
    close(alien);
}

PROGRAM_OF_CASES(NULL, NULL)
