/* Names, addresses and sockets, from the lookup to the connection. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "link_calls.h"
#include "link_world.h"

LINK_TEST(nobody_there)
{
    make_link(world, "127.0.0.2");
    do_connect(world);
    run_until_closed(world, 1, "cannot connect: Connection refused");
    do_connect(world);
    run_until_closed(world, 2, "cannot connect: Connection refused");
}

LINK_TEST(no_such_socket)
{
    use_unix_socket(world);
    unlink(world->fake.path);
    make_link(world, NULL);
    do_connect(world);
    assert_true(link_pump(world->link));
    assert_closed(&world->told[0], "cannot connect: No such file or directory");
}

LINK_TEST(over_a_unix_socket)
{
    use_unix_socket(world);
    come_up(world, NULL);
    assert_exchange(world, 4);
}

static int flag_of(int fd, int level, int option)
{
    int value = 0;
    socklen_t size = sizeof value;
    getsockopt(fd, level, option, &value, &size);
    return value;
}

/* The descriptor whose other end is the fake master. */
static int find_socket(int port)
{
    for (int fd = 0; fd < 1024; fd++) {
        struct sockaddr_in peer;
        socklen_t size = sizeof peer;
        if (getpeername(fd, (struct sockaddr *)&peer, &size) == 0 && ntohs(peer.sin_port) == port)
            return fd;
    }
    return -1;
}

UP_TEST(the_socket_is_set_up_well)
{
    int fd = find_socket(world->fake.port);
    assert_true(fd >= 0);
    assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    assert_true(fcntl(fd, F_GETFL) & O_NONBLOCK);
    assert_true(flag_of(fd, IPPROTO_TCP, TCP_NODELAY));
    assert_true(flag_of(fd, SOL_SOCKET, SO_KEEPALIVE));
    do_close(world);
    assert_int_equal(find_socket(world->fake.port), -1);
}

LINK_TEST(a_name_is_looked_up)
{
    come_up(world, "localhost");
    assert_exchange(world, 1);
}

static unsigned count_descriptors(void)
{
    unsigned count = 0;
    for (int fd = 0; fd < 1024; fd++)
        count += fcntl(fd, F_GETFD) != -1;
    return count;
}

LINK_TEST(the_next_address_is_tried)
{
    come_up(world, "localhost");
    close_link(world);
    unsigned descriptors = count_descriptors();
    world->told_count = 0;
    world->address.host = (char *)(uintptr_t) "two.test";
    come_up(world, NULL);
    assert_int_equal(world->fake.accepted, 2);
    assert_int_equal(count_descriptors(), descriptors + 1);
}

LINK_TEST(a_name_that_does_not_exist)
{
    make_link(world, "none.test");
    do_connect(world);
    run_until_closed(world, 1, "cannot look up none.test: ");
    assert_non_null(strstr(world->told[0].text, gai_strerror(EAI_NONAME)));
}

LINK_TEST(no_thread_to_look_up_with)
{
    no_threads = true;
    make_link(world, "localhost");
    do_connect(world);
    assert_true(link_pump(world->link));
    assert_closed(&world->told[0], "cannot start to look up localhost");
}

LINK_TEST(no_descriptor_to_look_up_with)
{
    struct rlimit usual, none;
    make_link(world, "localhost");
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &usual), 0);
    none = (struct rlimit){0, usual.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    do_connect(world);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &usual), 0);
    assert_true(link_pump(world->link));
    assert_closed(&world->told[0], "cannot start to look up localhost: Too many open files");
    do_connect(world);
    run_until_told(world, 2);
    assert_int_equal(world->told[1].kind, EVENT_CONNECTED);
}

LINK_TEST(a_lookup_does_not_block_the_loop)
{
    begin_slow_lookup(world);
    ev_run(world->loop, EVRUN_NOWAIT);
    assert_int_equal(world->told_count, 0);
    sigset_t blocked;
    pthread_sigmask(SIG_BLOCK, NULL, &blocked);
    assert_false(sigismember(&blocked, SIGINT));
    assert_true(lookup_blocks_signals);
    let_a_lookup_through();
    run_until_told(world, 1);
    assert_int_equal(world->told[0].kind, EVENT_CONNECTED);
}

LINK_TEST(closing_during_the_lookup)
{
    unsigned freed_before = read_count(&lookups_freed);
    begin_slow_lookup(world);
    do_close(world);
    assert_true(link_pump(world->link));
    assert_closed(&world->told[0], NULL);

    begin_slow_lookup(world);
    let_a_lookup_through();
    await_at_least(&lookups_freed, freed_before + 1);
    ev_run(world->loop, EVRUN_NOWAIT);
    assert_int_equal(world->told_count, 1);
    let_a_lookup_through();
    run_until_told(world, 2);
    assert_int_equal(world->told[1].kind, EVENT_CONNECTED);
}

LINK_TEST(freeing_during_the_lookup)
{
    unsigned freed_before = read_count(&lookups_freed);
    begin_slow_lookup(world);
    ev_prepare_stop(world->loop, &world->pumping);
    link_free(world->link);
    world->link = NULL;
    let_a_lookup_through();
    await_at_least(&lookups_freed, freed_before + 1);
    assert_int_equal(world->told_count, 0);
}

/* The answer is there already, but the loop has not seen it. */
LINK_TEST(closing_after_the_lookup)
{
    unsigned before = read_count(&lookups_handed);
    make_link(world, "slow.test");
    do_connect(world);
    let_a_lookup_through();
    await_at_least(&lookups_handed, before + 1);
    do_close(world);
    assert_true(link_pump(world->link));
    assert_closed(&world->told[0], NULL);
    ev_run(world->loop, EVRUN_NOWAIT);
    assert_int_equal(world->told_count, 1);
}

/* The thread has the mutex of its lookup, in the child for ever. */
LINK_TEST(freeing_in_a_forked_child_during_the_lookup)
{
    unsigned before = read_count(&lookups_handed);
    int status;
    hold_back_answers(true);
    make_link(world, "slow.test");
    do_connect(world);
    let_a_lookup_through();
    await_at_least(&lookups_handed, before + 1);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        alarm(10);
        link_free(world->link);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    hold_back_answers(false);
    run_until_told(world, 1);
    assert_int_equal(world->told[0].kind, EVENT_CONNECTED);
}

PROGRAM_OF_CASES(link_tests_begin, NULL)
