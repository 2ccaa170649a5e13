/* One connection, against a master that does as it is told. */
#define _GNU_SOURCE
#include "link.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ev.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "command.h"
#include "fake_master.h"
#include "reply.h"
#include "system.h"
#include "unit.h"

/* ---- What the link calls, under our control ---- */

int __real_getaddrinfo(const char *, const char *, const struct addrinfo *, struct addrinfo **);
int __wrap_getaddrinfo(const char *, const char *, const struct addrinfo *, struct addrinfo **);
void __real_freeaddrinfo(struct addrinfo *);
void __wrap_freeaddrinfo(struct addrinfo *);
int __real_pthread_create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
int __wrap_pthread_create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
void __real_ev_async_send(struct ev_loop *, ev_async *);
void __wrap_ev_async_send(struct ev_loop *, ev_async *);
void *__real_realloc(void *, size_t);
void *__wrap_realloc(void *, size_t);

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
/* Lookups of "slow.test" that wait and may go on; answers freed; answers handed to a
 * loop.  Under the mutex. */
static unsigned waiting, let_through, freed, handed;
static bool hold_hands;      /* a thread that hands its answer over stops halfway */
static bool signals_blocked; /* in the thread of the last lookup */
static bool no_threads, no_memory;

static void wait_in_line(void)
{
    sigset_t blocked;
    pthread_sigmask(SIG_BLOCK, NULL, &blocked);
    pthread_mutex_lock(&mutex);
    signals_blocked = sigismember(&blocked, SIGINT) && sigismember(&blocked, SIGCHLD);
    unsigned turn = waiting++;
    pthread_cond_broadcast(&changed);
    while (let_through <= turn)
        pthread_cond_wait(&changed, &mutex);
    pthread_mutex_unlock(&mutex);
}

/* Two addresses, of which the first has nobody behind it. */
static int two_addresses(const char *port, const struct addrinfo *hints, struct addrinfo **list)
{
    struct addrinfo *second;
    int error = __real_getaddrinfo("127.0.0.2", port, hints, list);
    if (!error)
        error = __real_getaddrinfo("127.0.0.1", port, hints, &second);
    if (!error)
        (*list)->ai_next = second;
    return error;
}

int __wrap_getaddrinfo(const char *host, const char *port, const struct addrinfo *hints,
                       struct addrinfo **list)
{
    bool name = !(hints->ai_flags & AI_NUMERICHOST);
    if (name && strcmp(host, "slow.test") == 0) {
        wait_in_line();
        host = "127.0.0.1";
    }
    if (name && strcmp(host, "two.test") == 0)
        return two_addresses(port, hints, list);
    if (name && strcmp(host, "none.test") == 0)
        return EAI_NONAME;
    return __real_getaddrinfo(host, port, hints, list);
}

static void count(unsigned *what)
{
    pthread_mutex_lock(&mutex);
    (*what)++;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&mutex);
}

void __wrap_freeaddrinfo(struct addrinfo *list)
{
    __real_freeaddrinfo(list);
    count(&freed);
}

void __wrap_ev_async_send(struct ev_loop *loop, ev_async *watcher)
{
    __real_ev_async_send(loop, watcher);
    count(&handed);
    pthread_mutex_lock(&mutex);
    while (hold_hands)
        pthread_cond_wait(&changed, &mutex);
    pthread_mutex_unlock(&mutex);
}

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                          void *argument)
{
    return no_threads ? EAGAIN : __real_pthread_create(thread, attributes, run, argument);
}

void *__wrap_realloc(void *block, size_t size)
{
    return no_memory ? NULL : __real_realloc(block, size);
}

static void set_hold_hands(bool hold)
{
    pthread_mutex_lock(&mutex);
    hold_hands = hold;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&mutex);
}

static void await_at_least(const unsigned *count, unsigned wanted)
{
    pthread_mutex_lock(&mutex);
    while (*count < wanted)
        pthread_cond_wait(&changed, &mutex);
    pthread_mutex_unlock(&mutex);
}

static void let_one_through(void)
{
    count(&let_through);
}

static unsigned read_count(const unsigned *count)
{
    pthread_mutex_lock(&mutex);
    unsigned value = *count;
    pthread_mutex_unlock(&mutex);
    return value;
}

/* ---- The world of a test ---- */

struct told {
    enum event_kind kind;
    usec clock; /* of a push */
    enum answer answer;
    struct tag tag;
    bool has_text;
    char text[200];
};

struct world {
    struct ev_loop *loop;
    struct fake_master fake;
    struct address address;
    struct names *names; /* two, so that requests about them go alone */
    struct names *name;
    struct link *link;
    ev_prepare pumping;
    bool inside; /* a call of the link, from which it must not deliver */
    struct told *told;
    unsigned told_count, told_capacity;
    void (*react)(struct world *world, const struct event *event);
};

static const char NAME[] = "the-client";
static char LOCAL[] = "127.0.0.1";

static void deliver(void *owner, const struct event *event)
{
    struct world *world = owner;
    assert_false(world->inside);
    assert_int_equal(event->master, 3);
    if (world->told_count == world->told_capacity) {
        world->told_capacity = world->told_capacity ? 2 * world->told_capacity : 16;
        world->told = __real_realloc(world->told, world->told_capacity * sizeof *world->told);
    }
    struct told *told = &world->told[world->told_count++];
    const char *text = event->kind == EVENT_REPLY ? event->reply->text : event->text;
    *told = (struct told){.kind = event->kind, .has_text = text != NULL};
    snprintf(told->text, sizeof told->text, "%s", text ? text : "");
    if (event->kind == EVENT_PUSH) {
        told->clock = event->push->clock;
        snprintf(told->text, sizeof told->text, "%.*s", (int)event->push->token_length,
                 event->push->token);
    }
    if (event->kind == EVENT_REPLY) {
        told->answer = event->reply->answer;
        told->tag = event->reply->tag;
    }
    if (world->react)
        world->react(world, event);
}

static void do_connect(struct world *world)
{
    bool was = world->inside;
    world->inside = true;
    link_connect(world->link);
    world->inside = was;
}

static void do_send(struct world *world, const struct request *request)
{
    bool was = world->inside;
    world->inside = true;
    link_send(world->link, request);
    world->inside = was;
}

static void do_flush(struct world *world)
{
    world->inside = true;
    link_flush(world->link);
    world->inside = false;
}

static void do_close(struct world *world)
{
    bool was = world->inside;
    world->inside = true;
    link_close(world->link);
    world->inside = was;
}

static void on_prepare(struct ev_loop *loop, ev_prepare *watcher, int events)
{
    (void)events;
    struct world *world = watcher->data;
    do_flush(world);
    if (link_pump(world->link))
        ev_break(loop, EVBREAK_ONE);
}

static int set_up(void **state)
{
    struct world *world = calloc(1, sizeof *world);
    alarm(30);
    no_threads = no_memory = false;
    world->loop = ev_loop_new(EVFLAG_AUTO);
    world->names = unit_names(2, (const char *const[]){"jobs", "more"});
    world->name = unit_names(1, (const char *const[]){"jobs"});
    fake_listen(&world->fake, world->loop);
    ev_prepare_init(&world->pumping, on_prepare);
    world->pumping.data = world;
    *state = world;
    return 0;
}

static int tear_down(void **state)
{
    struct world *world = *state;
    if (world->link) {
        ev_prepare_stop(world->loop, &world->pumping);
        link_free(world->link);
    }
    fake_free(&world->fake);
    ev_loop_destroy(world->loop);
    names_drop(&unit_memory, world->names);
    names_drop(&unit_memory, world->name);
    free(world->told);
    free(world);
    return 0;
}

static void make_link_to(struct world *world, struct address address)
{
    world->address = address;
    world->address.port = world->fake.port;
    world->link =
        link_new(world->loop, &world->address, NAME, (struct link_owner){deliver, world, 3});
    assert_non_null(world->link);
    ev_prepare_start(world->loop, &world->pumping);
}

/* NULL: over the fake master's unix socket. */
static void make_link(struct world *world, const char *host)
{
    struct address address = {.host = (char *)(uintptr_t)host};
    if (!host)
        address.path = world->fake.path;
    make_link_to(world, address);
}

static void use_unix_socket(struct world *world)
{
    fake_free(&world->fake);
    fake_listen_unix(&world->fake, world->loop);
}

static void run_until_told(struct world *world, unsigned count)
{
    while (world->told_count < count)
        ev_run(world->loop, EVRUN_ONCE);
}

static void run_until_heard(struct world *world, size_t length)
{
    while (world->fake.heard_length < length)
        ev_run(world->loop, EVRUN_ONCE);
}

/* The link is up, and what it told so far is forgotten. */
static void come_up(struct world *world, const char *host)
{
    unsigned accepted = world->fake.accepted;
    if (!world->link)
        make_link(world, host);
    do_connect(world);
    run_until_told(world, 1);
    while (world->fake.accepted == accepted)
        ev_run(world->loop, EVRUN_ONCE);
    assert_int_equal(world->told_count, 1);
    assert_int_equal(world->told[0].kind, EVENT_CONNECTED);
    world->told_count = 0;
}

static struct request request_of(const struct names *names, enum request_kind kind, unsigned round)
{
    return (struct request){.tag = {.kind = kind, .round = round, .sent_at = 1000 + round},
                            .names = names,
                            .token = "token",
                            .token_length = 5,
                            .ttl_ms = 1000};
}

static void send_round(struct world *world, enum request_kind kind, unsigned round)
{
    struct request request = request_of(world->names, kind, round);
    do_send(world, &request);
}

static void assert_reply(const struct told *told, unsigned round, enum answer answer)
{
    assert_int_equal(told->kind, EVENT_REPLY);
    assert_int_equal(told->tag.round, round);
    assert_int_equal(told->tag.sent_at, 1000 + round);
    assert_int_equal(told->answer, answer);
}

static void assert_lost(const struct told *told, unsigned round)
{
    assert_reply(told, round, ANSWER_LOST);
    assert_true(told->has_text);
}

static void assert_closed(const struct told *told, const char *why)
{
    assert_int_equal(told->kind, EVENT_CLOSED);
    if (!why) {
        assert_false(told->has_text);
        return;
    }
    if (!told->has_text || !strstr(told->text, why))
        fail_msg("closed: \"%s\" instead of \"%s\"", told->text, why);
}

/* Bytes of one release, as command_write() makes them. */
static size_t release_length(const struct world *world)
{
    struct buffer buffer = {0};
    enum step steps[STEPS_MAX];
    struct request request = {.tag = {.kind = REQUEST_RELEASE},
                              .names = world->names,
                              .token = "token",
                              .token_length = 5};
    command_write(&buffer, &request, NULL, steps);
    size_t length = buffer.length;
    buffer_free(&buffer);
    return length;
}

static void send_long_name(struct world *world, unsigned round)
{
    static char bytes[65536];
    struct slice slice = {bytes, sizeof bytes};
    struct names *names = names_new(&unit_memory, (struct slice){"", 0}, &slice, 1);
    struct request request = {
        .tag = {.kind = REQUEST_PEEK, .round = round, .sent_at = 1000 + round}, .names = names};
    do_send(world, &request);
    names_drop(&unit_memory, names);
}

/* ---- Login ---- */

#define LOADED                                                                                     \
    "$1\r\na\r\n$1\r\nb\r\n$1\r\nc\r\n$1\r\nd\r\n$1\r\ne\r\n$1\r\nf\r\n$1\r\ng\r\n$1\r\nh\r\n$"    \
    "1\r\ni\r\n$1\r\nj\r\n"
#define LOGIN_REPLIES "+OK\r\n:77\r\n" LOADED
#define HELLO_REPLY                                                                                \
    "*11\r\n$1\r\nr\r\n$1\r\n7\r\n$6\r\nmaster\r\n:1\r\n:0\r\n:0\r\n:0\r\n:0\r\n$0\r\n\r\n:9\r\n:" \
    "5\r\n"

static int64_t client_id;

static void keep_client_id(struct world *world, const struct event *event)
{
    (void)world;
    if (event->kind == EVENT_REPLY && event->reply->hello)
        client_id = event->reply->hello->client_id;
}

static void the_first_hello_logs_in(void **state)
{
    struct world *world = *state;
    come_up(world, LOCAL);
    world->react = keep_client_id;
    send_round(world, REQUEST_HELLO, 1);
    assert_int_equal(link_in_flight(world->link), 1);
    run_until_heard(world, 1000);
    assert_memory_equal(world->fake.heard, "*3\r\n$6\r\nCLIENT\r\n$7\r\nSETNAME\r\n", 29);
    assert_non_null(memmem(world->fake.heard, world->fake.heard_length, NAME, strlen(NAME)));
    fake_say(&world->fake, LOGIN_REPLIES HELLO_REPLY);
    run_until_told(world, 1);
    assert_reply(&world->told[0], 1, ANSWER_HELLO);
    assert_int_equal(client_id, 77);

    world->fake.heard_length = 0;
    send_round(world, REQUEST_HELLO, 2);
    run_until_heard(world, 100);
    assert_memory_equal(world->fake.heard, "*10\r\n$4\r\nEVAL\r\n", 15);
    fake_say(&world->fake, HELLO_REPLY);
    run_until_told(world, 2);
    assert_reply(&world->told[1], 2, ANSWER_HELLO);
    assert_int_equal(link_counters(world->link)->requests, 2);
    assert_int_equal(link_counters(world->link)->replies, 2);
    assert_int_equal(link_in_flight(world->link), 0);
}

static void credentials_come_from_the_address(void **state)
{
    struct world *world = *state;
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
    fake_say(&world->fake, LOADED "-NOAUTH no\r\n");
    run_until_told(world, 1);
    assert_reply(&world->told[0], 1, ANSWER_ERROR);
    assert_string_equal(world->told[0].text, "WRONGPASS no");
}

static void each_connection_logs_in_afresh(void **state)
{
    struct world *world = *state;
    char password[] = "pw";
    make_link_to(world, (struct address){.host = LOCAL, .password = password});
    come_up(world, NULL);
    send_round(world, REQUEST_HELLO, 1);
    run_until_heard(world, 100);
    fake_say(&world->fake, "-WRONGPASS no\r\n");
    fake_hang_up(&world->fake);
    run_until_told(world, 2);
    assert_lost(&world->told[0], 1);
    assert_closed(&world->told[1], "closed by the master after: WRONGPASS no");

    world->told_count = 0;
    come_up(world, LOCAL);
    send_round(world, REQUEST_HELLO, 2);
    run_until_heard(world, 100);
    assert_memory_equal(world->fake.heard, "*2\r\n$4\r\nAUTH\r\n", 14);
    fake_say(&world->fake, "+OK\r\n" LOGIN_REPLIES HELLO_REPLY);
    run_until_told(world, 1);
    assert_reply(&world->told[0], 2, ANSWER_HELLO);
    fake_hang_up(&world->fake);
    run_until_told(world, 2);
    assert_string_equal(world->told[1].text, "closed by the master");
}

static void a_full_master_is_told_as_such(void **state)
{
    struct world *world = *state;
    come_up(world, LOCAL);
    send_round(world, REQUEST_HELLO, 1);
    run_until_heard(world, 100);
    fake_say(&world->fake, "-ERR max number of clients reached\r\n");
    fake_hang_up(&world->fake);
    run_until_told(world, 2);
    assert_lost(&world->told[0], 1);
    assert_closed(&world->told[1], "max number of clients reached");
    assert_int_equal(link_counters(world->link)->protocol_errors, 0);
}

/* ---- Order ---- */

enum { MANY = 10000 };

static void ten_thousand_in_flight_are_answered_in_order(void **state)
{
    struct world *world = *state;
    come_up(world, LOCAL);
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

static void one_wake_up_reads_a_bounded_amount(void **state)
{
    struct world *world = *state;
    come_up(world, LOCAL);
    for (unsigned i = 0; i < MANY; i++)
        send_round(world, REQUEST_RELEASE, i);
    run_until_heard(world, MANY * release_length(world));
    for (unsigned i = 0; i < MANY; i++)
        fake_say(&world->fake, ":1\r\n");
    ev_run(world->loop, EVRUN_ONCE);
    assert_in_range(world->told_count, 1, 16384 / 4);
    run_until_told(world, MANY);
}

static void replies_may_come_byte_by_byte(void **state)
{
    struct world *world = *state;
    come_up(world, LOCAL);
    send_round(world, REQUEST_HELLO, 1);
    send_round(world, REQUEST_PEEK, 2);
    for (const char *at = LOGIN_REPLIES HELLO_REPLY "*2\r\n$2\r\nme\r\n:5\r\n"; *at; at++) {
        fake_say_bytes(&world->fake, at, 1);
        ev_run(world->loop, EVRUN_ONCE);
    }
    run_until_told(world, 2);
    assert_reply(&world->told[0], 1, ANSWER_HELLO);
    assert_reply(&world->told[1], 2, ANSWER_HELD);
    assert_string_equal(world->told[1].text, "me");
}

static void one_flush_for_many_requests(void **state)
{
    struct world *world = *state;
    come_up(world, LOCAL);
    fake_go_deaf(&world->fake);
    for (unsigned i = 0; i < 10; i++)
        send_round(world, REQUEST_RELEASE, i);
    char bytes[4096];
    assert_int_equal(recv(world->fake.connection, bytes, sizeof bytes, 0), -1);
    do_flush(world);
    assert_int_equal(recv(world->fake.connection, bytes, sizeof bytes, 0),
                     10 * release_length(world));
}

static void a_slow_reader_gets_every_byte(void **state)
{
    struct world *world = *state;
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

static void replies_can_be_fetched_without_the_loop(void **state)
{
    struct world *world = *state;
    use_unix_socket(world);
    come_up(world, NULL);
    assert_false(link_read(world->link));
    send_round(world, REQUEST_RELEASE, 1);
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

static void a_forked_child_leaves_the_replies_to_its_parent(void **state)
{
    struct world *world = *state;
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
    run_until_told(world, 1);
    assert_reply(&world->told[0], 1, ANSWER_YES);
}

/* No flush comes by: the loop itself goes on when there is room. */
static void the_rest_is_written_when_there_is_room(void **state)
{
    struct world *world = *state;
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

/* ---- Several in one command ---- */

static void send_one(struct world *world, enum request_kind kind, unsigned round)
{
    struct request request = request_of(world->name, kind, round);
    do_send(world, &request);
}

static void send_batch(struct world *world, enum request_kind kind, unsigned first, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        send_one(world, kind, first + i);
}

/* What `count` requests about one name become. */
static void want(struct world *world, struct buffer *wanted, enum request_kind kind, unsigned count,
                 bool whole)
{
    enum step steps[STEPS_MAX];
    struct request requests[BATCH_MAX];
    for (unsigned i = 0; i < count; i++)
        requests[i] = request_of(world->name, kind, i);
    requests[0].whole = count == 1 && whole;
    if (count == 1)
        command_write(wanted, &requests[0], NULL, steps);
    else
        command_write_each(wanted, requests, count, whole);
}

static void assert_heard(struct world *world, struct buffer *wanted)
{
    run_until_heard(world, wanted->length);
    assert_int_equal(world->fake.heard_length, wanted->length);
    assert_memory_equal(world->fake.heard, wanted->data, wanted->length);
    world->fake.heard_length = 0;
    buffer_free(wanted);
}

static void assert_hears_batch(struct world *world, enum request_kind kind, unsigned count,
                               bool whole)
{
    struct buffer wanted = {0};
    want(world, &wanted, kind, count, whole);
    assert_heard(world, &wanted);
}

static void several_go_in_one_command(void **state)
{
    struct world *world = *state;
    come_up(world, LOCAL);
    send_batch(world, REQUEST_RELEASE, 1, 3);
    assert_int_equal(link_in_flight(world->link), 3);
    assert_hears_batch(world, REQUEST_RELEASE, 3, false);
    fake_say(&world->fake, "*3\r\n:1\r\n:0\r\n:-1\r\n");
    run_until_told(world, 3);
    assert_reply(&world->told[0], 1, ANSWER_YES);
    assert_reply(&world->told[1], 2, ANSWER_ABSENT);
    assert_reply(&world->told[2], 3, ANSWER_HELD);
    assert_int_equal(link_in_flight(world->link), 0);
    assert_int_equal(link_counters(world->link)->requests, 3);
    assert_int_equal(link_counters(world->link)->replies, 3);

    send_batch(world, REQUEST_RENEW, 4, 2);
    assert_hears_batch(world, REQUEST_RENEW, 2, false);
    for (const char *at = "*2\r\n$16\r\n1785000000123456\r\n-OOM x\r\n"; *at; at++) {
        fake_say_bytes(&world->fake, at, 1);
        ev_run(world->loop, EVRUN_NOWAIT);
    }
    run_until_told(world, 5);
    assert_reply(&world->told[3], 4, ANSWER_LATE);
    assert_reply(&world->told[4], 5, ANSWER_ERROR);
    assert_string_equal(world->told[4].text, "OOM x");
}

static void one_alone_is_a_command_of_its_own(void **state)
{
    struct world *world = *state;
    come_up(world, LOCAL);
    send_one(world, REQUEST_RELEASE, 1);
    assert_hears_batch(world, REQUEST_RELEASE, 1, false);
    fake_say(&world->fake, ":1\r\n");
    run_until_told(world, 1);
    assert_reply(&world->told[0], 1, ANSWER_YES);
}

static void the_order_of_requests_is_kept(void **state)
{
    struct world *world = *state;
    struct buffer wanted = {0};
    enum step steps[STEPS_MAX];
    struct request two = request_of(world->names, REQUEST_RELEASE, 9);
    come_up(world, LOCAL);
    send_batch(world, REQUEST_RELEASE, 0, 2);
    send_batch(world, REQUEST_RENEW, 2, 2); /* of another kind */
    do_send(world, &two);                   /* about two names */
    send_batch(world, REQUEST_RELEASE, 4, BATCH_MAX + 1);
    send_one(world, REQUEST_PEEK, 5);
    send_one(world, REQUEST_RELEASE, 6);
    want(world, &wanted, REQUEST_RELEASE, 2, false);
    want(world, &wanted, REQUEST_RENEW, 2, false);
    command_write(&wanted, &two, NULL, steps);
    want(world, &wanted, REQUEST_RELEASE, BATCH_MAX, false);
    want(world, &wanted, REQUEST_RELEASE, 1, false);
    want(world, &wanted, REQUEST_PEEK, 1, false);
    want(world, &wanted, REQUEST_RELEASE, 1, false);
    assert_heard(world, &wanted);
}

static void a_request_with_its_script_goes_alone(void **state)
{
    struct world *world = *state;
    struct buffer wanted = {0};
    struct request whole = request_of(world->name, REQUEST_RELEASE, 1);
    whole.whole = true;
    come_up(world, LOCAL);
    send_one(world, REQUEST_RELEASE, 0);
    do_send(world, &whole);
    send_one(world, REQUEST_RELEASE, 2);
    want(world, &wanted, REQUEST_RELEASE, 1, false);
    want(world, &wanted, REQUEST_RELEASE, 1, true);
    want(world, &wanted, REQUEST_RELEASE, 1, false);
    assert_heard(world, &wanted);
}

static void say_array(struct world *world, unsigned first, unsigned count)
{
    static const char *const replies[] = {":1\r\n", ":0\r\n", ":-1\r\n"};
    char header[16];
    snprintf(header, sizeof header, "*%u\r\n", count);
    fake_say(&world->fake, header);
    for (unsigned i = first; i < first + count; i++)
        fake_say(&world->fake, replies[i % 3]);
}

static void ten_thousand_in_batches_are_answered_in_order(void **state)
{
    struct world *world = *state;
    struct buffer wanted = {0};
    static const enum answer answers[] = {ANSWER_YES, ANSWER_ABSENT, ANSWER_HELD};
    come_up(world, LOCAL);
    send_batch(world, REQUEST_RELEASE, 0, MANY);
    for (unsigned i = 0; i < MANY; i += BATCH_MAX)
        want(world, &wanted, REQUEST_RELEASE, MANY - i < BATCH_MAX ? MANY - i : BATCH_MAX, false);
    assert_heard(world, &wanted);
    for (unsigned i = 0; i < MANY; i += BATCH_MAX)
        say_array(world, i, MANY - i < BATCH_MAX ? MANY - i : BATCH_MAX);
    run_until_told(world, MANY);
    for (unsigned i = 0; i < MANY; i++)
        assert_reply(&world->told[i], i, answers[i % 3]);
    assert_int_equal(link_in_flight(world->link), 0);
}

/* An error may be the fault of one: each is sent again alone.  Or the script is gone:
 * the next batch brings it. */
static void a_refused_batch_is_a_forgotten_script_for_each(void **state)
{
    struct world *world = *state;
    come_up(world, LOCAL);
    send_batch(world, REQUEST_RENEW, 0, 3);
    assert_hears_batch(world, REQUEST_RENEW, 3, false);
    fake_say(&world->fake, "-NOPERM this one you may not touch\r\n");
    run_until_told(world, 3);
    for (unsigned i = 0; i < 3; i++)
        assert_reply(&world->told[i], i, ANSWER_NOSCRIPT);
    assert_int_equal(link_counters(world->link)->protocol_errors, 0);

    send_one(world, REQUEST_RELEASE, 3);
    assert_hears_batch(world, REQUEST_RELEASE, 1, false);
    send_batch(world, REQUEST_RELEASE, 4, 2);
    assert_hears_batch(world, REQUEST_RELEASE, 2, true);
    send_batch(world, REQUEST_RELEASE, 6, 2);
    assert_hears_batch(world, REQUEST_RELEASE, 2, false);
}

static void impossible_replies_to_a_batch(void **state)
{
    static const struct {
        const char *bytes, *why;
    } lies[] = {
        {":1\r\n", "that the request cannot have"},
        {"+OK\r\n", "that the request cannot have"},
        {"*0\r\n", "that the request cannot have"},
        {"*-1\r\n", "that the request cannot have"},
        {"*1\r\n:1\r\n", "that the request cannot have"},
        {"*3\r\n:1\r\n:1\r\n:1\r\n", "that the request cannot have"},
        {"*2\r\n:7\r\n:1\r\n", "that the request cannot have"},
        {"*2\r\n$1\r\n1\r\n:1\r\n", "that the request cannot have"},
        {"*2\r\n$-1\r\n:1\r\n", "that the request cannot have"},
        {"*2\r\n*1\r\n:1\r\n:1\r\n", "an array too long or too deep"},
        {"*33\r\n", "an array too long or too deep"},
    };
    struct world *world = *state;
    for (unsigned i = 0; i < COUNT(lies); i++) {
        world->told_count = 0;
        come_up(world, LOCAL);
        send_batch(world, REQUEST_RELEASE, i, 2);
        assert_hears_batch(world, REQUEST_RELEASE, 2, false);
        fake_say(&world->fake, lies[i].bytes);
        run_until_told(world, 3);
        assert_lost(&world->told[0], i);
        assert_lost(&world->told[1], i + 1);
        assert_closed(&world->told[2], lies[i].why);
        assert_int_equal(link_counters(world->link)->protocol_errors, i + 1);
        assert_int_equal(link_counters(world->link)->replies, 0);
    }
}

static void a_batch_is_believed_up_to_the_lie(void **state)
{
    struct world *world = *state;
    come_up(world, LOCAL);
    send_batch(world, REQUEST_RELEASE, 0, 3);
    send_one(world, REQUEST_PEEK, 3);
    run_until_heard(world, 2);
    fake_say(&world->fake, "*3\r\n:1\r\n+OK\r\n:1\r\n$-1\r\n");
    run_until_told(world, 5);
    assert_reply(&world->told[0], 0, ANSWER_YES);
    for (unsigned i = 1; i < 4; i++)
        assert_lost(&world->told[i], i);
    assert_closed(&world->told[4], "that the request cannot have");
}

static void half_a_reply_to_a_batch_is_none(void **state)
{
    struct world *world = *state;
    come_up(world, LOCAL);
    send_batch(world, REQUEST_RELEASE, 0, 3);
    assert_hears_batch(world, REQUEST_RELEASE, 3, false);
    fake_say(&world->fake, "*3\r\n:1\r\n:1\r\n");
    ev_run(world->loop, EVRUN_NOWAIT);
    assert_int_equal(world->told_count, 0);
    fake_hang_up(&world->fake);
    run_until_told(world, 4);
    for (unsigned i = 0; i < 3; i++)
        assert_lost(&world->told[i], i);
    assert_closed(&world->told[3], "closed by the master");
}

static void close_at_once(struct world *world, const struct event *event)
{
    if (event->kind == EVENT_REPLY && event->reply->answer != ANSWER_LOST)
        do_close(world);
}

static void closing_inside_a_batch_loses_the_rest(void **state)
{
    struct world *world = *state;
    come_up(world, LOCAL);
    world->react = close_at_once;
    send_batch(world, REQUEST_RELEASE, 0, 3);
    assert_hears_batch(world, REQUEST_RELEASE, 3, false);
    fake_say(&world->fake, "*3\r\n:1\r\n:1\r\n:1\r\n");
    run_until_told(world, 4);
    assert_reply(&world->told[0], 0, ANSWER_YES);
    assert_lost(&world->told[1], 1);
    assert_lost(&world->told[2], 2);
    assert_closed(&world->told[3], NULL);
}

static void what_was_not_written_is_lost_and_forgotten(void **state)
{
    struct world *world = *state;
    come_up(world, LOCAL);
    send_batch(world, REQUEST_RELEASE, 0, 3);
    do_close(world);
    do_flush(world);
    assert_true(link_pump(world->link));
    assert_int_equal(world->told_count, 4);
    for (unsigned i = 0; i < 3; i++)
        assert_lost(&world->told[i], i);
    world->told_count = 0;
    come_up(world, LOCAL);
    send_one(world, REQUEST_RELEASE, 4);
    assert_hears_batch(world, REQUEST_RELEASE, 1, false);
}

static void send_another(struct world *world, const struct event *event)
{
    if (event->reply->tag.round < 10)
        send_one(world, REQUEST_RELEASE, event->reply->tag.round + 10);
}

static void requests_made_while_a_batch_is_answered(void **state)
{
    struct world *world = *state;
    come_up(world, LOCAL);
    world->react = send_another;
    send_batch(world, REQUEST_RELEASE, 0, 3);
    assert_hears_batch(world, REQUEST_RELEASE, 3, false);
    fake_say(&world->fake, "*3\r\n:1\r\n:1\r\n:1\r\n");
    run_until_told(world, 3);
    assert_hears_batch(world, REQUEST_RELEASE, 3, false);
    fake_say(&world->fake, "*3\r\n:0\r\n:0\r\n:0\r\n");
    run_until_told(world, 6);
    for (unsigned i = 0; i < 3; i++)
        assert_reply(&world->told[3 + i], 10 + i, ANSWER_ABSENT);
}

/* As the core does: two releases follow an answer, and an answer frees what it is about. */
static struct names *names_of_one;

static void send_two_or_free(struct world *world, const struct event *event)
{
    if (event->kind != EVENT_REPLY)
        return;
    if (event->reply->tag.round != 1) {
        names_drop(&unit_memory, names_of_one);
        names_of_one = NULL;
        return;
    }
    struct request request = request_of(names_of_one, REQUEST_RELEASE, 2);
    do_send(world, &request);
    send_one(world, REQUEST_RELEASE, 3);
}

static void a_reply_to_a_batch_not_yet_written(void **state)
{
    struct world *world = *state;
    come_up(world, LOCAL);
    names_of_one = unit_names(1, (const char *const[]){"one"});
    world->react = send_two_or_free;
    send_round(world, REQUEST_RELEASE, 1);
    run_until_heard(world, release_length(world));
    fake_say(&world->fake, ":1\r\n:1\r\n");
    run_until_told(world, 4);
    assert_reply(&world->told[0], 1, ANSWER_YES);
    assert_lost(&world->told[1], 2);
    assert_lost(&world->told[2], 3);
    assert_closed(&world->told[3], "a reply to nothing");
}

/* ---- Ends ---- */

static void closing_answers_what_is_in_flight(void **state)
{
    struct world *world = *state;
    come_up(world, LOCAL);
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
    assert_lost(&world->told[0], 1);
    assert_lost(&world->told[1], 2);
    assert_closed(&world->told[2], NULL);
    while (!world->fake.left_by)
        ev_run(world->loop, EVRUN_ONCE);
}

static void closing_a_closed_link_tells_nothing(void **state)
{
    struct world *world = *state;
    make_link(world, LOCAL);
    do_close(world);
    assert_false(link_pump(world->link));
    assert_int_equal(world->told_count, 0);
}

static void closing_while_connecting(void **state)
{
    struct world *world = *state;
    make_link(world, LOCAL);
    do_connect(world);
    do_close(world);
    assert_true(link_pump(world->link));
    assert_int_equal(world->told_count, 1);
    assert_closed(&world->told[0], NULL);
}

static void a_master_that_goes_away(void **state)
{
    struct world *world = *state;
    come_up(world, LOCAL);
    for (unsigned i = 0; i < 3; i++)
        send_round(world, REQUEST_RELEASE, i);
    run_until_heard(world, 3 * release_length(world));
    fake_say(&world->fake, ":1\r\n:");
    fake_hang_up(&world->fake);
    run_until_told(world, 4);
    assert_reply(&world->told[0], 0, ANSWER_YES);
    assert_lost(&world->told[1], 1);
    assert_string_equal(world->told[1].text, "closed by the master");
    assert_lost(&world->told[2], 2);
    assert_closed(&world->told[3], "closed by the master");
    assert_int_equal(link_counters(world->link)->protocol_errors, 0);
}

static void a_connection_that_is_reset(void **state)
{
    struct world *world = *state;
    come_up(world, LOCAL);
    send_round(world, REQUEST_RELEASE, 1);
    run_until_heard(world, release_length(world));
    fake_reset(&world->fake);
    run_until_told(world, 2);
    assert_lost(&world->told[0], 1);
    assert_closed(&world->told[1], "cannot read: Connection reset by peer");
}

/* On a unix socket the other side's end is seen by the very next write. */
static void a_pipe_that_breaks_while_flushing(void **state)
{
    struct world *world = *state;
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
    assert_lost(&world->told[0], 1);
    assert_lost(&world->told[1], 2);
    assert_closed(&world->told[2], "closed by the master");
}

static void what_came_before_the_break_is_read(void **state)
{
    struct world *world = *state;
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
    assert_lost(&world->told[1], 2);
    assert_closed(&world->told[2], "cannot send: Broken pipe");
}

/* Nothing to read, and not the end either. */
static void a_master_that_only_stops_reading(void **state)
{
    struct world *world = *state;
    use_unix_socket(world);
    come_up(world, NULL);
    shutdown(world->fake.connection, SHUT_RD);
    send_round(world, REQUEST_RELEASE, 1);
    do_flush(world);
    assert_true(link_pump(world->link));
    assert_lost(&world->told[0], 1);
    assert_closed(&world->told[1], "cannot send: Broken pipe");
}

static void answers_one(struct world *world, unsigned round)
{
    world->told_count = 0;
    send_round(world, REQUEST_RELEASE, round);
    run_until_heard(world, release_length(world));
    assert_int_equal(world->fake.heard_length, release_length(world));
    fake_say(&world->fake, ":1\r\n");
    run_until_told(world, 1);
    assert_reply(&world->told[0], round, ANSWER_YES);
}

static void nothing_of_a_connection_survives_it(void **state)
{
    struct world *world = *state;
    use_unix_socket(world);
    come_up(world, NULL);
    fake_hang_up(&world->fake);
    send_round(world, REQUEST_RELEASE, 1);
    do_flush(world);
    link_pump(world->link);
    world->told_count = 0;
    come_up(world, NULL);
    answers_one(world, 2);

    send_round(world, REQUEST_RELEASE, 3);
    do_close(world);
    link_pump(world->link);
    world->told_count = 0;
    come_up(world, NULL);
    answers_one(world, 4);

    world->told_count = 0;
    fake_hang_up(&world->fake);
    run_until_told(world, 1);
    assert_closed(&world->told[0], "closed by the master");
}

static void send_while_losing(struct world *world, const struct event *event)
{
    if (event->kind == EVENT_REPLY && event->reply->tag.round < 10)
        send_round(world, REQUEST_RELEASE, event->reply->tag.round + 10);
}

static void a_request_between_the_break_and_its_news_is_lost_too(void **state)
{
    struct world *world = *state;
    come_up(world, LOCAL);
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
    snprintf(text, sizeof text, "%s", event->reply->text);
    do_close(world);
    assert_false(link_pump(world->link));
    assert_string_equal(event->reply->text, text);
}

static void closing_inside_a_reply_ends_reading(void **state)
{
    struct world *world = *state;
    come_up(world, LOCAL);
    world->react = close_at_reply;
    send_round(world, REQUEST_PEEK, 1);
    send_round(world, REQUEST_PEEK, 2);
    run_until_heard(world, 2 * 70);
    fake_say(&world->fake, "*2\r\n$2\r\nme\r\n:5\r\n*2\r\n$2\r\nme\r\n:5\r\n");
    run_until_told(world, 3);
    assert_reply(&world->told[0], 1, ANSWER_HELD);
    assert_lost(&world->told[1], 2);
    assert_closed(&world->told[2], NULL);
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

static void connecting_again_inside_the_news_of_the_end(void **state)
{
    struct world *world = *state;
    come_up(world, LOCAL);
    world->react = connect_again;
    fake_hang_up(&world->fake);
    run_until_told(world, 2);
    assert_closed(&world->told[0], "closed by the master");
    assert_int_equal(world->told[1].kind, EVENT_CONNECTED);
    send_round(world, REQUEST_RELEASE, 5);
    run_until_heard(world, release_length(world));
    fake_say(&world->fake, ":1\r\n");
    run_until_told(world, 3);
    assert_reply(&world->told[2], 5, ANSWER_YES);
}

static void a_failure_to_connect_again_does_not_spoil_the_news(void **state)
{
    struct world *world = *state;
    come_up(world, LOCAL);
    world->react = connect_again;
    no_threads = true;
    world->address.host = (char *)(uintptr_t) "none.test";
    fake_hang_up(&world->fake);
    run_until_told(world, 2);
    assert_closed(&world->told[0], "closed by the master");
    assert_closed(&world->told[1], "cannot start to look up none.test");
}

static void freeing_tells_nothing(void **state)
{
    struct world *world = *state;
    come_up(world, LOCAL);
    send_round(world, REQUEST_RELEASE, 1);
    ev_prepare_stop(world->loop, &world->pumping);
    link_free(world->link);
    world->link = NULL;
    while (!world->fake.left_by)
        ev_run(world->loop, EVRUN_ONCE);
    assert_int_equal(world->told_count, 0);
}

/* ---- Listening ---- */

#define CHANNEL       "redlock:me"
#define SUBSCRIBE     "*2\r\n$9\r\nSUBSCRIBE\r\n$10\r\n" CHANNEL "\r\n"
#define SUBSCRIBED    "*3\r\n$9\r\nsubscribe\r\n$10\r\n" CHANNEL "\r\n:1\r\n"
#define MESSAGE(said) "*3\r\n$7\r\nmessage\r\n$10\r\n" CHANNEL "\r\n" said "\r\n"
#define SETNAME       "*3\r\n$6\r\nCLIENT\r\n$7\r\nSETNAME\r\n$10\r\nthe-client\r\n"
#define ASK_WHO       "*2\r\n$4\r\nINFO\r\n$6\r\nserver\r\n"
#define WHO           "$24\r\n# Server\r\nrun_id:the-run\r\n"
#define ALL_HEARD     (sizeof SETNAME ASK_WHO SUBSCRIBE - 1)

static void do_listen(struct world *world)
{
    bool was = world->inside;
    world->inside = true;
    link_listen(world->link, CHANNEL);
    world->inside = was;
}

/* It has sent all that a listener sends. */
static void subscribe(struct world *world)
{
    unsigned accepted = world->fake.accepted;
    if (!world->link)
        make_link(world, LOCAL);
    world->told_count = 0;
    do_listen(world);
    while (world->fake.accepted == accepted)
        ev_run(world->loop, EVRUN_ONCE);
    run_until_heard(world, ALL_HEARD);
    assert_int_equal(world->told_count, 0);
}

static void come_to_listen(struct world *world)
{
    subscribe(world);
    fake_say(&world->fake, "+OK\r\n" WHO SUBSCRIBED);
    run_until_told(world, 1);
    assert_int_equal(world->told[0].kind, EVENT_LISTENING);
    assert_string_equal(world->told[0].text, "the-run");
    world->told_count = 0;
}

static void assert_push(const struct told *told, const char *token, usec clock)
{
    assert_int_equal(told->kind, EVENT_PUSH);
    assert_string_equal(told->text, token);
    assert_true(told->clock == clock);
}

static void a_listener_hears_what_is_handed_over(void **state)
{
    struct world *world = *state;
    come_to_listen(world);
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

static void a_message_comes_with_the_confirmation_and_in_pieces(void **state)
{
    struct world *world = *state;
    subscribe(world);
    const char *bytes = "+OK\r\n" WHO SUBSCRIBED MESSAGE("$3\r\na 7");
    for (const char *at = bytes; *at; at++) {
        fake_say_bytes(&world->fake, at, 1);
        ev_run(world->loop, EVRUN_NOWAIT);
    }
    run_until_told(world, 2);
    assert_int_equal(world->told[0].kind, EVENT_LISTENING);
    assert_push(&world->told[1], "a", 7);
}

static void pushes_can_be_fetched_without_the_loop(void **state)
{
    struct world *world = *state;
    come_to_listen(world);
    assert_false(link_read(world->link));
    fake_say(&world->fake, MESSAGE("$3\r\na 7"));
    assert_true(link_read(world->link));
    assert_int_equal(world->told_count, 1);
    assert_push(&world->told[0], "a", 7);
}

static void a_message_that_is_none_closes(void **state)
{
    static const struct {
        const char *bytes, *why;
    } lies[] = {
        {"+OK\r\n", "that no handover can have"},
        {"-ERR x\r\n", "that no handover can have"},
        {SUBSCRIBED, "that no handover can have"},
        {MESSAGE("$1\r\na"), "that no handover can have"},
        {MESSAGE("$3\r\na x"), "that no handover can have"},
        {"*3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$3\r\na 7\r\n", "that no handover can have"},
        {"*1\r\n*1\r\n:1\r\n", "an array too long or too deep"},
        {"hello\r\n", "malformed reply"},
    };
    struct world *world = *state;
    for (unsigned i = 0; i < COUNT(lies); i++) {
        come_to_listen(world);
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

static void a_message_before_the_confirmation_closes(void **state)
{
    static const char *const early[] = {MESSAGE("$3\r\na 7") "+OK\r\n" WHO SUBSCRIBED,
                                        "+OK\r\n" WHO MESSAGE("$3\r\na 7") SUBSCRIBED};
    struct world *world = *state;
    for (unsigned i = 0; i < COUNT(early); i++) {
        subscribe(world);
        fake_say(&world->fake, early[i]);
        run_until_told(world, 1);
        assert_closed(&world->told[0], "that the login cannot have");
        assert_int_equal(link_counters(world->link)->protocol_errors, i + 1);
    }
}

static void a_listener_that_is_refused(void **state)
{
    struct world *world = *state;
    char password[] = "pw";
    make_link_to(world, (struct address){.host = LOCAL, .password = password});
    subscribe(world);
    assert_memory_equal(world->fake.heard, "*2\r\n$4\r\nAUTH\r\n$2\r\npw\r\n*3\r\n", 26);
    fake_say(&world->fake, "-WRONGPASS no\r\n-NOAUTH no\r\n-NOAUTH no\r\n-NOAUTH no\r\n");
    run_until_told(world, 1);
    assert_closed(&world->told[0], "cannot listen: WRONGPASS no");

    subscribe(world);
    fake_say(&world->fake, "+OK\r\n+OK\r\n" WHO "-NOPERM no channel\r\n");
    run_until_told(world, 1);
    assert_closed(&world->told[0], "cannot listen: NOPERM no channel");

    subscribe(world);
    fake_say(&world->fake, "-WRONGPASS no\r\n-NOAUTH no\r\n-NOAUTH no\r\n" SUBSCRIBED);
    run_until_told(world, 1);
    assert_closed(&world->told[0], "cannot listen: WRONGPASS no");
    assert_int_equal(link_counters(world->link)->protocol_errors, 0);
}

static void a_listener_that_may_not_be_named_listens(void **state)
{
    struct world *world = *state;
    subscribe(world);
    fake_say(&world->fake, "-NOPERM no setname\r\n-NOPERM no info\r\n" SUBSCRIBED);
    run_until_told(world, 1);
    assert_int_equal(world->told[0].kind, EVENT_LISTENING);
}

static void a_listener_is_told_the_end_and_may_listen_again(void **state)
{
    struct world *world = *state;
    subscribe(world);
    fake_hang_up(&world->fake);
    run_until_told(world, 1);
    assert_closed(&world->told[0], "closed by the master");

    come_to_listen(world);
    fake_hang_up(&world->fake);
    run_until_told(world, 1);
    assert_closed(&world->told[0], "closed by the master");

    come_to_listen(world);
    fake_reset(&world->fake);
    run_until_told(world, 1);
    assert_closed(&world->told[0], "cannot read");

    come_to_listen(world);
    fake_say(&world->fake, MESSAGE("$3\r\na 7"));
    run_until_told(world, 1);
    assert_push(&world->told[0], "a", 7);
}

static void a_listener_gives_a_sign_of_life(void **state)
{
    struct world *world = *state;
    make_link(world, LOCAL);
    link_probe(world->link); /* it is not connected */
    come_to_listen(world);
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
    run_until_told(world, 4);
    assert_closed(&world->told[3], "that no handover can have");
}

static void a_full_master_refuses_a_listener(void **state)
{
    struct world *world = *state;
    subscribe(world);
    fake_say(&world->fake, "-ERR max number of clients reached\r\n");
    fake_hang_up(&world->fake);
    run_until_told(world, 1);
    assert_closed(&world->told[0], "after: ERR max number of clients reached");
    assert_int_equal(link_counters(world->link)->protocol_errors, 0);
}

static void closing_a_listener(void **state)
{
    struct world *world = *state;
    make_link(world, LOCAL);
    do_listen(world);
    do_close(world);
    run_until_told(world, 1);
    assert_closed(&world->told[0], NULL);

    subscribe(world);
    do_close(world);
    run_until_told(world, 1);
    assert_closed(&world->told[0], NULL);

    come_to_listen(world);
    do_close(world);
    run_until_told(world, 1);
    assert_closed(&world->told[0], NULL);
}

static void close_at_push(struct world *world, const struct event *event)
{
    if (event->kind == EVENT_PUSH)
        do_close(world);
}

static void closing_inside_a_push_ends_hearing(void **state)
{
    struct world *world = *state;
    come_to_listen(world);
    world->react = close_at_push;
    fake_say(&world->fake, MESSAGE("$3\r\na 7") MESSAGE("$3\r\nb 8"));
    run_until_told(world, 2);
    assert_push(&world->told[0], "a", 7);
    assert_closed(&world->told[1], NULL);
    assert_false(link_pump(world->link));
    assert_int_equal(world->told_count, 2);
}

static void a_listener_may_become_a_link_again(void **state)
{
    struct world *world = *state;
    come_to_listen(world);
    do_close(world);
    run_until_told(world, 1);
    world->told_count = 0;
    come_up(world, LOCAL);
    fake_say(&world->fake, MESSAGE("$3\r\na 7"));
    run_until_told(world, 1);
    assert_closed(&world->told[0], "a reply to nothing");
}

static void nobody_there_to_listen_to(void **state)
{
    struct world *world = *state;
    make_link(world, "127.0.0.2");
    do_listen(world);
    run_until_told(world, 1);
    assert_closed(&world->told[0], "cannot connect");
}

static void no_memory_to_subscribe(void **state)
{
    struct world *world = *state;
    make_link(world, LOCAL);
    no_memory = true;
    do_listen(world);
    run_until_told(world, 1);
    assert_closed(&world->told[0], "out of memory");
    no_memory = false;
    come_to_listen(world);
}

/* ---- Lies ---- */

static void a_reply_to_nothing(void **state)
{
    struct world *world = *state;
    come_up(world, LOCAL);
    fake_say(&world->fake, "+OK\r\n");
    run_until_told(world, 1);
    assert_closed(&world->told[0], "a reply to nothing");
    assert_int_equal(link_counters(world->link)->protocol_errors, 1);
    assert_int_equal(link_counters(world->link)->replies, 0);
}

static void an_error_to_nothing_is_quoted(void **state)
{
    struct world *world = *state;
    come_up(world, LOCAL);
    fake_say(&world->fake, "-ERR max number of clients reached\r\n");
    run_until_told(world, 1);
    assert_closed(&world->told[0], "a reply to nothing: ERR max number of clients reached");
}

static void one_reply_too_many(void **state)
{
    struct world *world = *state;
    come_up(world, LOCAL);
    send_round(world, REQUEST_RELEASE, 1);
    run_until_heard(world, release_length(world));
    fake_say(&world->fake, ":1\r\n:1\r\n");
    run_until_told(world, 2);
    assert_reply(&world->told[0], 1, ANSWER_YES);
    assert_closed(&world->told[1], "a reply to nothing");
}

static void malformed_or_impossible_replies(void **state)
{
    static const struct {
        const char *bytes, *why;
    } lies[] = {
        {"hello\r\n", "malformed reply: Protocol error"},
        {"HTTP/1.1 400 Bad Request\r\n\r\n", "malformed reply"},
        {":1x\r\n", "reply"},
        {"*x\r\n", "malformed reply"},
        {"*33\r\n", "an array too long or too deep"},
        {"*2147483647\r\n", "malformed reply"},
        {"*99999999999\r\n", "malformed reply"},
        {"*1\r\n*1\r\n:1\r\n", "an array too long or too deep"},
        {"$-2\r\n", "malformed reply"},
        {"+PONG\r\n", "that the request cannot have"},
        {":7\r\n", "that the request cannot have"},
        {"$2\r\nhi\r\n", "that the request cannot have"},
        {"*2\r\n$4\r\nlate\r\n$1\r\n5\r\n", "that the request cannot have"},
    };
    struct world *world = *state;
    for (unsigned i = 0; i < COUNT(lies); i++) {
        world->told_count = 0;
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

static void an_impossible_reply_to_the_login(void **state)
{
    struct world *world = *state;
    come_up(world, LOCAL);
    send_round(world, REQUEST_HELLO, 1);
    run_until_heard(world, 100);
    fake_say(&world->fake, "*1\r\n:1\r\n");
    run_until_told(world, 2);
    assert_lost(&world->told[0], 1);
    assert_closed(&world->told[1], "that the login cannot have");
    assert_int_equal(link_counters(world->link)->protocol_errors, 1);
}

static void say_endlessly(struct world *world, const char *start)
{
    static char flood[20000];
    memset(flood, 'x', sizeof flood);
    send_round(world, REQUEST_PEEK, 1);
    run_until_heard(world, 70);
    fake_say(&world->fake, start);
    for (int i = 0; i < 4; i++) {
        fake_say_bytes(&world->fake, flood, sizeof flood);
        for (int j = 0; j < 3; j++)
            ev_run(world->loop, EVRUN_NOWAIT);
    }
    run_until_told(world, 2);
    assert_lost(&world->told[0], 1);
    assert_closed(&world->told[1], "longer than 65536 bytes");
    assert_int_equal(link_counters(world->link)->protocol_errors, 1);
}

static void a_giant_string(void **state)
{
    struct world *world = *state;
    come_up(world, LOCAL);
    say_endlessly(world, "$536870912\r\n");
}

static void a_line_without_end(void **state)
{
    struct world *world = *state;
    come_up(world, LOCAL);
    say_endlessly(world, "-ERR ");
}

static void a_length_that_overflows(void **state)
{
    struct world *world = *state;
    come_up(world, LOCAL);
    say_endlessly(world, "$9223372036854775800\r\n");
}

/* ---- Connecting ---- */

static void nobody_there(void **state)
{
    struct world *world = *state;
    make_link(world, "127.0.0.2");
    do_connect(world);
    run_until_told(world, 1);
    assert_closed(&world->told[0], "cannot connect: Connection refused");
    do_connect(world);
    run_until_told(world, 2);
    assert_closed(&world->told[1], "cannot connect: Connection refused");
}

static void no_such_socket(void **state)
{
    struct world *world = *state;
    use_unix_socket(world);
    unlink(world->fake.path);
    make_link(world, NULL);
    do_connect(world);
    assert_true(link_pump(world->link));
    assert_closed(&world->told[0], "cannot connect: No such file or directory");
}

static void over_a_unix_socket(void **state)
{
    struct world *world = *state;
    use_unix_socket(world);
    come_up(world, NULL);
    send_round(world, REQUEST_RELEASE, 4);
    run_until_heard(world, release_length(world));
    fake_say(&world->fake, ":1\r\n");
    run_until_told(world, 1);
    assert_reply(&world->told[0], 4, ANSWER_YES);
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

static void the_socket_is_set_up_well(void **state)
{
    struct world *world = *state;
    come_up(world, LOCAL);
    int fd = find_socket(world->fake.port);
    assert_true(fd >= 0);
    assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    assert_true(fcntl(fd, F_GETFL) & O_NONBLOCK);
    assert_true(flag_of(fd, IPPROTO_TCP, TCP_NODELAY));
    assert_true(flag_of(fd, SOL_SOCKET, SO_KEEPALIVE));
    do_close(world);
    assert_int_equal(find_socket(world->fake.port), -1);
}

static void a_name_is_looked_up(void **state)
{
    struct world *world = *state;
    come_up(world, "localhost");
    send_round(world, REQUEST_RELEASE, 1);
    run_until_heard(world, release_length(world));
    fake_say(&world->fake, ":1\r\n");
    run_until_told(world, 1);
    assert_reply(&world->told[0], 1, ANSWER_YES);
}

static unsigned count_descriptors(void)
{
    unsigned count = 0;
    for (int fd = 0; fd < 1024; fd++)
        count += fcntl(fd, F_GETFD) != -1;
    return count;
}

static void the_next_address_is_tried(void **state)
{
    struct world *world = *state;
    come_up(world, "localhost");
    do_close(world);
    link_pump(world->link);
    unsigned descriptors = count_descriptors();
    world->told_count = 0;
    world->address.host = (char *)(uintptr_t) "two.test";
    come_up(world, NULL);
    assert_int_equal(world->fake.accepted, 2);
    assert_int_equal(count_descriptors(), descriptors + 1);
}

static void a_name_that_does_not_exist(void **state)
{
    struct world *world = *state;
    make_link(world, "none.test");
    do_connect(world);
    run_until_told(world, 1);
    assert_closed(&world->told[0], "cannot look up none.test: ");
    assert_non_null(strstr(world->told[0].text, gai_strerror(EAI_NONAME)));
}

static void no_thread_to_look_up_with(void **state)
{
    struct world *world = *state;
    no_threads = true;
    make_link(world, "localhost");
    do_connect(world);
    assert_true(link_pump(world->link));
    assert_closed(&world->told[0], "cannot start to look up localhost");
}

static void a_lookup_does_not_block_the_loop(void **state)
{
    struct world *world = *state;
    unsigned before = read_count(&waiting);
    make_link(world, "slow.test");
    do_connect(world);
    await_at_least(&waiting, before + 1);
    ev_run(world->loop, EVRUN_NOWAIT);
    assert_int_equal(world->told_count, 0);
    sigset_t blocked;
    pthread_sigmask(SIG_BLOCK, NULL, &blocked);
    assert_false(sigismember(&blocked, SIGINT));
    assert_true(signals_blocked);
    let_one_through();
    run_until_told(world, 1);
    assert_int_equal(world->told[0].kind, EVENT_CONNECTED);
}

static void closing_during_the_lookup(void **state)
{
    struct world *world = *state;
    unsigned before = read_count(&waiting), freed_before = read_count(&freed);
    make_link(world, "slow.test");
    do_connect(world);
    await_at_least(&waiting, before + 1);
    do_close(world);
    assert_true(link_pump(world->link));
    assert_closed(&world->told[0], NULL);

    do_connect(world);
    await_at_least(&waiting, before + 2);
    let_one_through();
    await_at_least(&freed, freed_before + 1);
    ev_run(world->loop, EVRUN_NOWAIT);
    assert_int_equal(world->told_count, 1);
    let_one_through();
    run_until_told(world, 2);
    assert_int_equal(world->told[1].kind, EVENT_CONNECTED);
}

static void freeing_during_the_lookup(void **state)
{
    struct world *world = *state;
    unsigned before = read_count(&waiting), freed_before = read_count(&freed);
    make_link(world, "slow.test");
    do_connect(world);
    await_at_least(&waiting, before + 1);
    ev_prepare_stop(world->loop, &world->pumping);
    link_free(world->link);
    world->link = NULL;
    let_one_through();
    await_at_least(&freed, freed_before + 1);
    assert_int_equal(world->told_count, 0);
}

/* The answer is there already, but the loop has not seen it. */
static void closing_after_the_lookup(void **state)
{
    struct world *world = *state;
    unsigned before = read_count(&handed);
    make_link(world, "slow.test");
    do_connect(world);
    let_one_through();
    await_at_least(&handed, before + 1);
    do_close(world);
    assert_true(link_pump(world->link));
    assert_closed(&world->told[0], NULL);
    ev_run(world->loop, EVRUN_NOWAIT);
    assert_int_equal(world->told_count, 1);
}

/* The thread has the mutex of its lookup, in the child for ever. */
static void freeing_in_a_forked_child_during_the_lookup(void **state)
{
    struct world *world = *state;
    unsigned before = read_count(&handed);
    int status;
    set_hold_hands(true);
    make_link(world, "slow.test");
    do_connect(world);
    let_one_through();
    await_at_least(&handed, before + 1);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        alarm(10);
        link_free(world->link);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    set_hold_hands(false);
    run_until_told(world, 1);
    assert_int_equal(world->told[0].kind, EVENT_CONNECTED);
}

/* ---- The loop ---- */

static void an_idle_link_does_not_keep_the_loop_alive(void **state)
{
    struct world *world = *state;
    come_up(world, LOCAL);
    fake_let_go_of_loop(&world->fake);
    ev_prepare_stop(world->loop, &world->pumping);
    ev_run(world->loop, 0);
    do_close(world);
    link_pump(world->link);
    ev_run(world->loop, 0);
}

static void nor_does_a_lookup(void **state)
{
    struct world *world = *state;
    unsigned before = read_count(&waiting), freed_before = read_count(&freed);
    make_link(world, "slow.test");
    do_connect(world);
    await_at_least(&waiting, before + 1);
    fake_let_go_of_loop(&world->fake);
    ev_prepare_stop(world->loop, &world->pumping);
    ev_run(world->loop, 0);
    do_close(world);
    link_pump(world->link);
    ev_run(world->loop, 0);
    let_one_through();
    await_at_least(&freed, freed_before + 1);
}

static void on_late(struct ev_loop *loop, ev_timer *watcher, int events)
{
    (void)events;
    bool *late = watcher->data;
    *late = true;
    ev_break(loop, EVBREAK_ALL);
}

/* One ev_unref() too many would end the loop under the application's own watchers. */
static void the_application_keeps_its_loop(void **state)
{
    struct world *world = *state;
    bool late = false;
    ev_timer timer;
    for (unsigned i = 0; i < 3; i++) {
        come_up(world, i ? LOCAL : "localhost");
        do_close(world);
        link_pump(world->link);
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

/* ---- No memory ---- */

static void no_memory_to_expect_more_replies(void **state)
{
    struct world *world = *state;
    come_up(world, LOCAL);
    send_long_name(world, 0); /* leaves room for the bytes of all others */
    no_memory = true;
    for (unsigned i = 1; i < 40; i++)
        send_round(world, REQUEST_RELEASE, i);
    no_memory = false;
    assert_true(link_pump(world->link));
    assert_int_equal(world->told_count, 41);
    for (unsigned i = 0; i < 40; i++)
        assert_lost(&world->told[i], i);
    assert_closed(&world->told[40], "out of memory");

    world->told_count = 0;
    come_up(world, LOCAL);
    send_round(world, REQUEST_RELEASE, 50);
    run_until_heard(world, release_length(world));
    fake_say(&world->fake, ":1\r\n");
    run_until_told(world, 1);
    assert_reply(&world->told[0], 50, ANSWER_YES);
}

static void no_memory_for_the_bytes(void **state)
{
    struct world *world = *state;
    come_up(world, LOCAL);
    no_memory = true;
    send_round(world, REQUEST_RELEASE, 1);
    send_round(world, REQUEST_RELEASE, 2);
    no_memory = false;
    do_flush(world);
    assert_true(link_pump(world->link));
    assert_int_equal(world->told_count, 3);
    assert_lost(&world->told[0], 1);
    assert_lost(&world->told[1], 2);
    assert_closed(&world->told[2], "out of memory");
    assert_int_equal(link_in_flight(world->link), 0);
}

static void no_memory_for_a_batch(void **state)
{
    struct world *world = *state;
    come_up(world, LOCAL);
    send_batch(world, REQUEST_RELEASE, 1, 2);
    no_memory = true;
    do_flush(world);
    no_memory = false;
    assert_true(link_breaks(world->link));
    assert_true(link_pump(world->link));
    assert_int_equal(world->told_count, 3);
    assert_lost(&world->told[0], 1);
    assert_lost(&world->told[1], 2);
    assert_closed(&world->told[2], "out of memory");
    assert_int_equal(link_in_flight(world->link), 0);
}

static int start(void **state)
{
    (void)state;
    return system_start();
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(the_first_hello_logs_in),
        TEST(credentials_come_from_the_address),
        TEST(each_connection_logs_in_afresh),
        TEST(a_full_master_is_told_as_such),
        TEST(ten_thousand_in_flight_are_answered_in_order),
        TEST(one_wake_up_reads_a_bounded_amount),
        TEST(replies_may_come_byte_by_byte),
        TEST(one_flush_for_many_requests),
        TEST(a_slow_reader_gets_every_byte),
        TEST(replies_can_be_fetched_without_the_loop),
        TEST(a_forked_child_leaves_the_replies_to_its_parent),
        TEST(the_rest_is_written_when_there_is_room),
        TEST(several_go_in_one_command),
        TEST(one_alone_is_a_command_of_its_own),
        TEST(the_order_of_requests_is_kept),
        TEST(a_request_with_its_script_goes_alone),
        TEST(ten_thousand_in_batches_are_answered_in_order),
        TEST(a_refused_batch_is_a_forgotten_script_for_each),
        TEST(impossible_replies_to_a_batch),
        TEST(a_batch_is_believed_up_to_the_lie),
        TEST(half_a_reply_to_a_batch_is_none),
        TEST(closing_inside_a_batch_loses_the_rest),
        TEST(what_was_not_written_is_lost_and_forgotten),
        TEST(requests_made_while_a_batch_is_answered),
        TEST(a_reply_to_a_batch_not_yet_written),
        TEST(closing_answers_what_is_in_flight),
        TEST(closing_a_closed_link_tells_nothing),
        TEST(closing_while_connecting),
        TEST(a_master_that_goes_away),
        TEST(a_connection_that_is_reset),
        TEST(a_pipe_that_breaks_while_flushing),
        TEST(what_came_before_the_break_is_read),
        TEST(a_master_that_only_stops_reading),
        TEST(nothing_of_a_connection_survives_it),
        TEST(a_request_between_the_break_and_its_news_is_lost_too),
        TEST(closing_inside_a_reply_ends_reading),
        TEST(connecting_again_inside_the_news_of_the_end),
        TEST(a_failure_to_connect_again_does_not_spoil_the_news),
        TEST(freeing_tells_nothing),
        TEST(a_listener_hears_what_is_handed_over),
        TEST(a_message_comes_with_the_confirmation_and_in_pieces),
        TEST(pushes_can_be_fetched_without_the_loop),
        TEST(a_message_that_is_none_closes),
        TEST(a_message_before_the_confirmation_closes),
        TEST(a_listener_that_is_refused),
        TEST(a_listener_that_may_not_be_named_listens),
        TEST(a_listener_is_told_the_end_and_may_listen_again),
        TEST(a_listener_gives_a_sign_of_life),
        TEST(a_full_master_refuses_a_listener),
        TEST(closing_a_listener),
        TEST(closing_inside_a_push_ends_hearing),
        TEST(a_listener_may_become_a_link_again),
        TEST(nobody_there_to_listen_to),
        TEST(no_memory_to_subscribe),
        TEST(a_reply_to_nothing),
        TEST(an_error_to_nothing_is_quoted),
        TEST(one_reply_too_many),
        TEST(malformed_or_impossible_replies),
        TEST(an_impossible_reply_to_the_login),
        TEST(a_giant_string),
        TEST(a_line_without_end),
        TEST(a_length_that_overflows),
        TEST(nobody_there),
        TEST(no_such_socket),
        TEST(over_a_unix_socket),
        TEST(the_socket_is_set_up_well),
        TEST(a_name_is_looked_up),
        TEST(the_next_address_is_tried),
        TEST(a_name_that_does_not_exist),
        TEST(no_thread_to_look_up_with),
        TEST(a_lookup_does_not_block_the_loop),
        TEST(closing_during_the_lookup),
        TEST(freeing_during_the_lookup),
        TEST(closing_after_the_lookup),
        TEST(freeing_in_a_forked_child_during_the_lookup),
        TEST(an_idle_link_does_not_keep_the_loop_alive),
        TEST(nor_does_a_lookup),
        TEST(the_application_keeps_its_loop),
        TEST(no_memory_to_expect_more_replies),
        TEST(no_memory_for_the_bytes),
        TEST(no_memory_for_a_batch),
    };
    return cmocka_run_group_tests(tests, start, NULL);
}
