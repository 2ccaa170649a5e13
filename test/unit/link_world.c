#include "link_world.h"

#include <stdio.h>
#include <unistd.h>

#include "command.h"
#include "libev_loop.h"
#include "link_calls.h"
#include "reply.h"
#include "system.h"

const char NAME[] = "the-client";
char LOCAL[] = "127.0.0.1";

const char *text_of(const struct reply *reply)
{
    bool is_value = reply->tag.kind == REQUEST_PEEK && reply->answer == ANSWER_HELD;
    return is_value ? reply->peek.value.bytes : reply->text.bytes;
}

static void deliver(void *owner, usec now, const struct event *event)
{
    struct world *world = owner;
    assert_false(world->inside);
    assert_int_equal(event->master, 3);
    assert_true(now <= system_now());
    if (world->told_count == world->told_capacity) {
        world->told_capacity = world->told_capacity ? 2 * world->told_capacity : 16;
        world->told = __real_realloc(world->told, world->told_capacity * sizeof *world->told);
    }
    struct told *told = &world->told[world->told_count++];
    const char *text = event->kind == EVENT_REPLY ? text_of(event->reply) : event->text;
    *told = (struct told){.kind = event->kind, .now = now, .has_text = text != NULL};
    snprintf(told->text, sizeof told->text, "%s", text ? text : "");
    if (event->kind == EVENT_PUSH) {
        told->clock = event->push->clock;
        snprintf(told->text, sizeof told->text, "%.*s", (int)event->push->token.length,
                 event->push->token.bytes);
    }
    if (event->kind == EVENT_REPLY) {
        told->answer = event->reply->answer;
        told->tag = event->reply->tag;
    }
    if (world->react)
        world->react(world, event);
}

void do_connect(struct world *world)
{
    bool was = world->inside;
    world->inside = true;
    link_connect(world->link);
    world->inside = was;
}

void do_send(struct world *world, const struct request *request)
{
    bool was = world->inside;
    world->inside = true;
    link_send(world->link, request);
    world->inside = was;
}

void do_flush(struct world *world)
{
    world->inside = true;
    link_flush(world->link);
    world->inside = false;
}

void do_close(struct world *world)
{
    bool was = world->inside;
    world->inside = true;
    link_close(world->link);
    world->inside = was;
}

void close_link(struct world *world)
{
    do_close(world);
    link_pump(world->link);
}

static void on_prepare(struct ev_loop *loop, ev_prepare *watcher, int events)
{
    (void)events;
    struct world *world = watcher->data;
    do_flush(world);
    if (link_pump(world->link))
        ev_break(loop, EVBREAK_ONE);
}

int world_set_up(void **state)
{
    struct world *world = calloc(1, sizeof *world);
    alarm(30);
    no_threads = no_memory = false;
    world->loop = ev_loop_new(EVFLAG_AUTO);
    world->io = libev_loop_new(world->loop, NULL, NULL);
    world->names = unit_names(2, (const char *const[]){"jobs", "more"});
    world->name = unit_names(1, (const char *const[]){"jobs"});
    fake_listen(&world->fake, world->loop);
    ev_prepare_init(&world->pumping, on_prepare);
    world->pumping.data = world;
    *state = world;
    return 0;
}

int world_set_up_connected(void **state)
{
    world_set_up(state);
    come_up(*state, LOCAL);
    return 0;
}

int world_tear_down(void **state)
{
    struct world *world = *state;
    if (world->link) {
        ev_prepare_stop(world->loop, &world->pumping);
        link_free(world->link);
    }
    fake_free(&world->fake);
    io_loop_free(world->io);
    ev_loop_destroy(world->loop);
    names_drop(&unit_memory, world->names);
    names_drop(&unit_memory, world->name);
    free(world->told);
    free(world);
    return 0;
}

void make_link_to(struct world *world, struct address address)
{
    world->address = address;
    world->address.port = world->fake.port;
    world->link =
        link_new(world->io, &world->address, NAME, (struct link_owner){deliver, world, 3});
    assert_non_null(world->link);
    ev_prepare_start(world->loop, &world->pumping);
}

void make_link(struct world *world, const char *host)
{
    struct address address = {.host = (char *)(uintptr_t)host};
    if (!host)
        address.path = world->fake.path;
    make_link_to(world, address);
}

void begin_slow_lookup(struct world *world)
{
    unsigned before = read_count(&lookups_waiting);
    if (!world->link)
        make_link(world, "slow.test");
    do_connect(world);
    await_at_least(&lookups_waiting, before + 1);
}

void use_unix_socket(struct world *world)
{
    fake_free(&world->fake);
    fake_listen_unix(&world->fake, world->loop);
}

void run_until_told(struct world *world, unsigned count)
{
    while (world->told_count < count)
        ev_run(world->loop, EVRUN_ONCE);
}

void run_until_heard(struct world *world, size_t length)
{
    while (world->fake.heard_length < length)
        ev_run(world->loop, EVRUN_ONCE);
}

void come_up(struct world *world, const char *host)
{
    unsigned accepted = world->fake.accepted;
    if (!world->link)
        make_link(world, host);
    world->told_count = 0;
    do_connect(world);
    run_until_told(world, 1);
    while (world->fake.accepted == accepted)
        ev_run(world->loop, EVRUN_ONCE);
    assert_int_equal(world->told_count, 1);
    assert_int_equal(world->told[0].kind, EVENT_CONNECTED);
    world->told_count = 0;
}

struct request request_of(const struct names *names, enum request_kind kind, unsigned round)
{
    return (struct request){.tag = {.kind = kind, .round = round, .sent_at = 1000 + round},
                            .names = names,
                            .token = "token",
                            .token_length = 5,
                            .ttl_ms = kind == REQUEST_RELEASE ? 0 : 1000};
}

void send_round(struct world *world, enum request_kind kind, unsigned round)
{
    struct request request = request_of(world->names, kind, round);
    do_send(world, &request);
}

void send_whole_hello(struct world *world, unsigned round)
{
    struct request request = request_of(world->names, REQUEST_HELLO, round);
    request.whole = true;
    do_send(world, &request);
}

void send_one(struct world *world, enum request_kind kind, unsigned round)
{
    struct request request = request_of(world->name, kind, round);
    do_send(world, &request);
}

void send_batch(struct world *world, enum request_kind kind, unsigned first, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        send_one(world, kind, first + i);
}

void send_long_name(struct world *world, unsigned round)
{
    static char bytes[65536];
    struct slice slice = {bytes, sizeof bytes};
    struct names *names = names_new(&unit_memory, (struct slice){"", 0}, &slice, 1);
    struct request request = {
        .tag = {.kind = REQUEST_PEEK, .round = round, .sent_at = 1000 + round}, .names = names};
    do_send(world, &request);
    names_drop(&unit_memory, names);
}

void assert_reply(const struct told *told, unsigned round, enum answer answer)
{
    assert_int_equal(told->kind, EVENT_REPLY);
    assert_int_equal(told->tag.round, round);
    assert_int_equal(told->tag.sent_at, 1000 + round);
    assert_int_equal(told->answer, answer);
}

void assert_lost(const struct told *told, unsigned round)
{
    assert_reply(told, round, ANSWER_LOST);
    assert_true(told->has_text);
}

void assert_closed(const struct told *told, const char *why)
{
    assert_int_equal(told->kind, EVENT_CLOSED);
    if (!why) {
        assert_false(told->has_text);
        return;
    }
    if (!told->has_text || !strstr(told->text, why))
        fail_msg("closed: \"%s\" instead of \"%s\"", told->text, why);
}

void run_until_reply(struct world *world, unsigned count, unsigned round, enum answer answer)
{
    run_until_told(world, count);
    assert_reply(&world->told[count - 1], round, answer);
}

void run_until_closed(struct world *world, unsigned count, const char *why)
{
    run_until_told(world, count);
    assert_closed(&world->told[count - 1], why);
}

void assert_end(struct world *world, unsigned from, unsigned round, const char *why)
{
    unsigned last = world->told_count - 1;
    assert_true(from < last);
    for (unsigned i = from; i < last; i++)
        assert_lost(&world->told[i], round + i - from);
    assert_closed(&world->told[last], why);
}

void run_until_end(struct world *world, unsigned count, unsigned from, unsigned round,
                   const char *why)
{
    run_until_told(world, count);
    assert_end(world, from, round, why);
}

void pump_to_end(struct world *world, unsigned count, unsigned from, unsigned round,
                 const char *why)
{
    assert_true(link_pump(world->link));
    assert_int_equal(world->told_count, count);
    assert_end(world, from, round, why);
}

void assert_exchange(struct world *world, unsigned round)
{
    unsigned told = world->told_count;
    send_round(world, REQUEST_RELEASE, round);
    run_until_heard(world, release_length(world));
    assert_int_equal(world->fake.heard_length, release_length(world));
    fake_say(&world->fake, ":1\r\n");
    run_until_told(world, told + 1);
    assert_reply(&world->told[told], round, ANSWER_YES);
}

size_t release_length(const struct world *world)
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

int link_tests_begin(void **state)
{
    (void)state;
    return system_start();
}

void assert_stray_reply_ends(struct world *world)
{
    send_round(world, REQUEST_RELEASE, 1);
    run_until_heard(world, release_length(world));
    fake_say(&world->fake, ":1\r\n:1\r\n");
    run_until_told(world, 4);
    assert_reply(&world->told[0], 1, ANSWER_YES);
    assert_end(world, 1, 2, "a reply to nothing");
}
