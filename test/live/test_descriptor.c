/*
 * A client that shows a descriptor, run by nothing but poll(): redlock_fd(), redlock_process(), and
 * what an application may do to them.  All other live tests also run over a descriptor; see
 * descriptor_loop.c.
 * rule: C9, C11, C12
 */
#include "fixture.h"
#include "user.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATIENCE_US 10000000

static redlock *client;
static redlock_lease *lease;
static unsigned told[KINDS], ready, lines;
static redlock_code last;
static void (*in_callback)(void);

/* ---- the application's loop: poll(), and nothing else ----------------------------- */

static bool is_readable(int timeout_ms)
{
    struct pollfd fd = {.fd = redlock_fd(client), .events = POLLIN};
    return poll(&fd, 1, timeout_ms) == 1 && fd.revents & POLLIN;
}

/* Unless it is readable there is nothing to do: no time-out brings a turn. */
static bool turn(int64_t end_us)
{
    int64_t left_ms = (end_us - now_us()) / 1000;
    if (left_ms <= 0 || !is_readable((int)left_ms))
        return false;
    last = redlock_process(client);
    return true;
}

#define POLL_UNTIL(condition)                                                                      \
    do {                                                                                           \
        int64_t end_ = now_us() + PATIENCE_US;                                                     \
        while (!(condition))                                                                       \
            if (!turn(end_))                                                                       \
                fail_msg("the descriptor is not readable, but not: %s", #condition);               \
    } while (0)

static void on_event(redlock_lease *of, const redlock_event *event, void *data)
{
    (void)of, (void)data;
    told[event->kind]++;
    if (in_callback)
        in_callback();
}

static void on_ready(redlock *of, redlock_code code, const char *text, void *data)
{
    (void)of, (void)code, (void)text, (void)data;
    ready++;
}

static void on_log(redlock_level level, const char *text, void *data)
{
    (void)level, (void)text, (void)data;
    lines++;
    if (in_callback)
        in_callback();
}

static void open_client(void)
{
    char why[256] = "";
    redlock_options options = {.size = sizeof(redlock_options)};
    options.nodes = cluster.nodes;
    options.request_timeout_ms = 1000;
    options.on_ready = on_ready;
    options.on_log = on_log;
    memset(told, 0, sizeof told);
    ready = lines = 0;
    in_callback = NULL;
    if (redlock_open(&client, NULL, &options, why, sizeof why))
        fail_msg("redlock_open: %s", why);
    POLL_UNTIL(ready);
}

static int set_up(void **state)
{
    (void)state;
    open_client();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    redlock_free(client);
    client = NULL;
    return 0;
}

static void ask(const char *name, int64_t ttl_ms)
{
    redlock_lease_options terms = lease_terms(ttl_ms, 0);
    assert_code(redlock_acquire(client, &lease, name, &terms, on_event, NULL), REDLOCK_OK);
}

static void take_name(const char *name, int64_t ttl_ms)
{
    ask(name, ttl_ms);
    POLL_UNTIL(told[REDLOCK_ACQUIRED]);
}

static void give_back(void)
{
    assert_code(redlock_lease_release(lease), REDLOCK_OK);
    POLL_UNTIL(told[REDLOCK_RELEASED]);
    redlock_lease_free(lease);
}

/* Nothing is under way, and nothing is left to be done. */
static void settle(void)
{
    POLL_UNTIL(!redlock_is_busy(client));
    while (is_readable(0))
        assert_code(redlock_process(client), REDLOCK_OK);
}

/* ---- its purpose ------------------------------------------------------------------- */

#define TEST(name) CASE_WITH(name, set_up, tear_down)

TEST(a_lease_from_beginning_to_end)
{
    take_name("whole", 1000);
    int64_t end = now_us() + 1500000; /* it is renewed meanwhile */
    while (turn(end))
        assert_code(last, REDLOCK_OK);
    assert_true(redlock_lease_valid_for(lease) > 0);
    assert_int_equal(told[REDLOCK_LOST], 0);
    give_back();
    settle();
}

TEST(a_call_makes_it_readable)
{
    settle();
    ask("stirs", 10000);
    assert_true(is_readable(0));
    assert_int_equal(redlock_next_timeout_ms(client), 0);
    assert_true(redlock_is_busy(client));
    POLL_UNTIL(told[REDLOCK_ACQUIRED]);
    give_back();
}

TEST(an_idle_client_is_left_alone)
{
    unsigned turns = 0;
    settle();
    int64_t end = now_us() + 1500000;
    while (turn(end))
        turns++;
    assert_in_range(turns, 0, 40); /* signs of life, and timers that were put off */
    assert_true(redlock_next_timeout_ms(client) > 0);
}

/* For as long as it may, so it hears of each answer late. */
static void sleep_until_called_for(int most_ms)
{
    int ms = redlock_next_timeout_ms(client);
    assert_in_range(ms, 0, most_ms);
    poll(NULL, 0, ms);
    assert_code(redlock_process(client), REDLOCK_OK);
}

TEST(who_never_looks_keeps_a_lease)
{
    unsigned turns = 0;
    ask("unseen", 2000);
    for (int64_t end = now_us() + 4000000; now_us() < end; turns++)
        sleep_until_called_for(2000);
    assert_in_range(turns, 0, 60); /* it is not called back too early, over and over */
    assert_int_equal(told[REDLOCK_ACQUIRED], 1);
    assert_int_equal(told[REDLOCK_LOST], 0);
    assert_true(redlock_lease_valid_for(lease) > 0);
    give_back();
}

static void free_it(void)
{
    redlock_free(client);
    client = NULL;
}

TEST(a_callback_frees_the_client)
{
    int fd = redlock_fd(client);
    in_callback = free_it;
    ask("freed", 10000);
    int64_t end = now_us() + PATIENCE_US;
    while (client)
        assert_true(turn(end));
    assert_code(last, REDLOCK_OK);
    assert_int_equal(write(fd, "", 1), -1);
    assert_int_equal(errno, EBADF);
}

/* ---- calls that cannot be -------------------------------------------------------------- */

static redlock_code inside;

static void process_inside(void)
{
    inside = redlock_process(client);
}

TEST(no_turn_inside_a_callback)
{
    in_callback = process_inside;
    take_name("inside", 10000);
    assert_code(inside, REDLOCK_E_STATE);
    assert_says(redlock_last_error(client), "callback");
    assert_code(last, REDLOCK_OK);
    in_callback = NULL;
    give_back();
}

TEST(nor_inside_on_log)
{
    inside = REDLOCK_OK;
    lines = 0;
    in_callback = process_inside;
    cluster_tell(&cluster, 0, "CLIENT KILL TYPE normal SKIPME yes");
    POLL_UNTIL(lines);
    assert_code(inside, REDLOCK_E_STATE);
    assert_code(last, REDLOCK_OK);
}

static void *process_elsewhere(void *code)
{
    *(redlock_code *)code = redlock_process(client);
    return NULL;
}

/* In a child, as a build with assertions ends there. */
static void try_elsewhere(void)
{
    pthread_t thread;
    redlock_code code = REDLOCK_OK;
    signal(SIGABRT, SIG_DFL);
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    open_client();
    if (pthread_create(&thread, NULL, process_elsewhere, &code))
        _exit(2);
    pthread_join(thread, NULL);
    _exit(code == REDLOCK_E_STATE && redlock_process(client) == REDLOCK_OK ? 0 : 1);
}

TEST(no_turn_on_another_thread)
{
    int status;
    pid_t child = fork();
    if (child == 0)
        try_elsewhere();
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true((WIFEXITED(status) && WEXITSTATUS(status) == 0) ||
                (WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT));
}

/* It may be opened on one thread, and run by another from the beginning. */
static void *run_whole(void *data)
{
    a_lease_from_beginning_to_end(data);
    return NULL;
}

TEST(the_first_turn_decides_for_a_thread)
{
    pthread_t thread;
    char why[100];
    redlock_options options = {.size = sizeof(redlock_options)};
    options.nodes = cluster.nodes;
    redlock_free(client);
    assert_code(redlock_open(&client, NULL, &options, why, sizeof why), REDLOCK_OK);
    assert_int_equal(pthread_create(&thread, NULL, run_whole, state), 0);
    pthread_join(thread, NULL);
}

TEST(a_client_on_libev_has_none)
{
    redlock *other;
    redlock_options options = {.size = sizeof(redlock_options)};
    struct ev_loop *loop = ev_loop_new(0);
    options.nodes = cluster.nodes;
    unsetenv("REDLOCK_TEST_LOOP");
    assert_code(redlock_open(&other, loop, &options, NULL, 0), REDLOCK_OK);
    assert_int_equal(redlock_fd(other), -1);
    assert_int_equal(redlock_next_timeout_ms(other), -1);
    assert_code(redlock_process(other), REDLOCK_E_ARGUMENT);
    assert_says(redlock_last_error(other), "libev");
    redlock_free(other);
    ev_loop_destroy(loop);
}

/* ---- forks ------------------------------------------------------------------------- */

static void look_in_child(void)
{
    bool nothing = redlock_process(client) == REDLOCK_E_FORKED && redlock_fd(client) == -1 &&
                   redlock_next_timeout_ms(client) == -1 && !redlock_is_busy(client);
    redlock_free(client);
    _exit(nothing ? 0 : 1);
}

static void await_success_of(pid_t child)
{
    int status;
    int64_t end = now_us() + PATIENCE_US;
    while (waitpid(child, &status, WNOHANG) == 0)
        assert_true(turn(now_us() + 20000) || now_us() < end);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

/* The child has the parent's epoll instance: what it stops must go on in the parent. */
TEST(a_child_leaves_the_parent_alone)
{
    take_name("parent's", 1000);
    pid_t child = fork();
    if (child == 0)
        look_in_child();
    await_success_of(child);
    int64_t end = now_us() + 1500000;
    while (turn(end))
        ;
    assert_true(redlock_lease_valid_for(lease) > 0);
    give_back();
}

static pid_t forked;

static void fork_inside(void)
{
    in_callback = NULL;
    forked = fork();
}

TEST(a_callback_forks)
{
    pid_t self = getpid();
    in_callback = fork_inside;
    take_name("forks", 10000);
    if (getpid() != self)
        _exit(last == REDLOCK_E_FORKED ? (redlock_free(client), 0) : 1);
    assert_code(last, REDLOCK_OK);
    await_success_of(forked);
    give_back();
}

/* ---- descriptors that the application closes ----------------------------------------- */

/* Of this process, in /proc/self/fd, those that lead there. */
static unsigned find(const char *kind, int found[20])
{
    unsigned count = 0;
    DIR *all = opendir("/proc/self/fd");
    for (struct dirent *one; (one = readdir(all));) {
        char path[300], to[100] = "";
        snprintf(path, sizeof path, "/proc/self/fd/%s", one->d_name);
        ssize_t length = readlink(path, to, sizeof to - 1);
        if (length > 0 && strstr(to, kind) && count < 20)
            found[count++] = atoi(one->d_name);
    }
    closedir(all);
    return count;
}

static bool leads_to_master(int fd)
{
    union {
        struct sockaddr any;
        char bytes[128];
    } peer;
    int64_t on = 0;
    socklen_t size = sizeof peer, on_size = sizeof on;
    /* The fixture's own connections are blocking, and without keep-alive. */
    return getpeername(fd, &peer.any, &size) == 0 && peer.any.sa_family == AF_INET &&
           getsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, &on_size) == 0 && on;
}

TEST(connections_are_closed)
{
    int found[20];
    unsigned count = find("socket:", found), closed = 0;
    for (unsigned i = 0; i < count && closed < 2; i++)
        if (leads_to_master(found[i]))
            close(found[i]), closed++;
    assert_int_equal(closed, 2);
    take_name("three are left", 10000);
    give_back();
    int64_t end = now_us() + PATIENCE_US;
    for (unsigned up = 0; up < 5;) { /* connected anew */
        redlock_node node = {.size = sizeof node};
        assert_true(turn(end));
        for (unsigned i = up = 0; i < 5; i++)
            up += redlock_node_get(client, i, &node) == REDLOCK_OK && node.state == REDLOCK_NODE_UP;
    }
}

/* LOST still comes in time to a user that goes on calling. */
TEST(the_descriptor_is_closed)
{
    take_name("cut off", 1000);
    close(redlock_fd(client));
    int64_t end = now_us() + PATIENCE_US;
    while (!told[REDLOCK_LOST]) {
        assert_true(now_us() < end);
        assert_code(redlock_process(client), REDLOCK_E_SYSTEM);
        poll(NULL, 0, 1);
    }
    assert_says(redlock_last_error(client), "closed");
    assert_int_equal(redlock_lease_valid_for(lease), 0);
}

static unsigned open_descriptors(void)
{
    int unused[20];
    return find("", unused);
}

/* In turn, each of the loop's own descriptors is one too many. */
TEST(descriptors_are_out)
{
    struct rlimit before, none;
    char why[200];
    redlock_free(client);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    int lowest = dup(0);
    close(lowest);
    unsigned open = open_descriptors();
    for (unsigned room = 0; room < 3; room++) {
        none = (struct rlimit){(rlim_t)lowest + room, before.rlim_max};
        setrlimit(RLIMIT_NOFILE, &none);
        redlock_options options = {.size = sizeof(redlock_options)};
        options.nodes = cluster.nodes;
        redlock_code code = redlock_open(&client, NULL, &options, why, sizeof why);
        setrlimit(RLIMIT_NOFILE, &before);
        assert_code(code, REDLOCK_E_SYSTEM);
        assert_says(why, "open files");
        assert_null(client);
        assert_int_equal(open_descriptors(), open);
    }
}

/* ---- time ------------------------------------------------------------------------- */

/* A clock that counts suspend; that of the validity.  No test can suspend the machine. */
TEST(its_timer_counts_suspend)
{
    int timer[20];
    char path[64], text[400] = "";
    assert_int_equal(find("[timerfd]", timer), 1);
    snprintf(path, sizeof path, "/proc/self/fdinfo/%d", timer[0]);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    size_t length = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[length] = '\0';
    assert_says(text, "clockid: 7\n"); /* CLOCK_BOOTTIME */
}

/* Reports to the parent when it holds, and when LOST comes; waits for the descriptor alone. */
static void hold_until_lost(int to_parent)
{
    int64_t lost;
    open_client();
    take_name("stopped", 1000);
    if (write(to_parent, "held", 4) != 4)
        _exit(2);
    while (!told[REDLOCK_LOST])
        if (!turn(now_us() + 60000000))
            _exit(3);
    lost = now_us();
    _exit(write(to_parent, &lost, sizeof lost) == sizeof lost ? 0 : 4);
}

TEST(a_stopped_process_is_told_when_it_goes_on)
{
    int pipes[2], status;
    char held[4];
    int64_t lost;
    assert_int_equal(pipe(pipes), 0);
    pid_t child = fork();
    if (child == 0)
        hold_until_lost(pipes[1]);
    assert_int_equal(read(pipes[0], held, 4), 4);
    kill(child, SIGSTOP);
    int64_t end = now_us() + PATIENCE_US;
    while (cluster_holders(&cluster, "stopped", NULL))
        assert_true(now_us() < end);
    int64_t before = now_us();
    kill(child, SIGCONT);
    assert_int_equal(read(pipes[0], &lost, sizeof lost), sizeof lost);
    assert_true(lost >= before);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    close(pipes[0]);
    close(pipes[1]);
}

PROGRAM(.masters = 5)
