#include "link.h"

#include <assert.h>
#include <errno.h>
#include <sodium.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "command.h"
#include "connect.h"
#include "expected.h"
#include "forks.h"
#include "io_loop.h"
#include "reply.h"
#include "server_error.h"
#include "system.h"
#include "tls.h"
#include "transport.h"

enum phase {
    CLOSED,
    CONNECTING, /* or looking the name up, or in the handshake of TLS */
    UP,
    ENDING /* only the end is left to deliver */
};

struct link {
    enum phase phase;
    struct connecting connecting;
    struct io_watch socket;
    int send_error; /* errno; the replies that came before the error are yet to be read */
    unsigned batched;
    unsigned unwritten; /* number of the last in `expected` of whose commands nothing is written */
    unsigned process;
    usec now;             /* the last look at the clock */
    unsigned batch_whole; /* kinds (bits) whose next batch sends its script: it was not known */
    bool delivering;
    bool asked;      /* link_close() ended the connection */
    bool greeted;    /* the login is under way or done */
    bool probed;     /* a sign of life was asked for on a notification connection */
    bool has_secret; /* the memory of `output` has, or had, the password */

    struct tls *tls; /* NULL: the bytes are plain */
    redisContext *context;
    struct login_state login;
    struct raw_reply raw;
    struct buffer output;
    struct expected_queue expected;

    /* Requests of one kind, not yet written, that go in one command.  They are in `expected`. */
    struct request batch[BATCH_MAX];

    const char *channel; /* of a notification connection; else NULL */

    char why[200];

    const char *client_name;
    struct link_owner owner;
    struct link_counters counters;
};

/* ---- The watch ---- */

static void watch_link(struct link *link, int events)
{
    io_watch(&link->socket, link->connecting.fd, events);
}

static void unwatch(struct link *link)
{
    watch_link(link, 0);
}

/* ---- The end ---- */

static void forget_secret(struct link *link)
{
    if (link->has_secret)
        sodium_memzero(link->output.data, link->output.capacity);
    link->has_secret = false;
}

static void shut(struct link *link)
{
    if (link->context)
        redisFreeKeepFd(link->context); /* 0.14 does not close descriptor 0 */
    link->context = NULL;
    tls_free(link->tls);
    link->tls = NULL;
    unwatch(link);
    connect_close(&link->connecting);
    buffer_clear(&link->output);
    forget_secret(link);
    link->batched = 0;
}

__attribute__((format(printf, 2, 3))) static void break_off(struct link *link, const char *format,
                                                            ...)
{
    if (link->phase == CLOSED || link->phase == ENDING)
        return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(link->why, sizeof link->why, format, arguments);
    va_end(arguments);
    server_error_fit(link->why, strlen(link->why));
    shut(link);
    link->phase = ENDING;
}

static void look_at_clock(struct link *link)
{
    link->now = system_now();
}

static void deliver_event(struct link *link, struct event event)
{
    event.master = link->owner.master;
    link->delivering = true;
    link->owner.deliver(link->owner.owner, link->now, &event);
    link->delivering = false;
}

static void deliver_lost(struct link *link, const struct tag *tag)
{
    struct reply reply = {
        .tag = *tag, .answer = ANSWER_LOST, .text = {link->why, strlen(link->why)}};
    deliver_event(link, (struct event){.kind = EVENT_REPLY, .reply = &reply});
}

static void deliver_end(struct link *link)
{
    const struct expected *first;
    look_at_clock(link);
    while ((first = expected_first(&link->expected))) {
        struct expected lost = *first;
        expected_drop_first(&link->expected);
        if (lost.step == STEP_FINAL)
            deliver_lost(link, &lost.tag);
    }
    /* The owner may connect again at once; if that fails at once, link->why is overwritten. */
    char why[sizeof link->why];
    memcpy(why, link->why, sizeof why);
    const char *text = link->asked ? NULL : why;
    link->phase = CLOSED;
    deliver_event(link, (struct event){.kind = EVENT_CLOSED, .text = text});
}

/* ---- Reading ---- */

#define PROTOCOL_ERROR(link, ...) ((link)->counters.protocol_errors++, break_off(link, __VA_ARGS__))

static void refuse_unsolicited(struct link *link)
{
    const struct raw_reply *raw = &link->raw;
    bool says_why = !raw->is_array && raw->fields[0].kind == FIELD_ERROR;
    PROTOCOL_ERROR(link, "the master sent a reply to nothing%s%s", says_why ? ": " : "",
                   says_why ? raw->fields[0].text : "");
}

static void refuse_reply(struct link *link)
{
    if (link->raw.failed)
        break_off(link, "out of memory");
    else
        PROTOCOL_ERROR(link, "the master sent a reply that the request cannot have");
}

static void take_final(struct link *link, const struct tag *tag)
{
    struct hello hello;
    struct reply reply;
    if (!reply_read(&link->raw, tag, &link->login, &hello, &reply)) {
        refuse_reply(link);
        return;
    }
    expected_drop_first(&link->expected);
    link->counters.replies++;
    deliver_event(link, (struct event){.kind = EVENT_REPLY, .reply = &reply});
}

/* The rest of the batch is lost if the link is closed meanwhile. */
static void take_batch(struct link *link, unsigned count)
{
    for (unsigned i = 0; i < count && link->phase == UP; i++) {
        struct reply reply;
        if (!reply_read_each(&link->raw, i, count, &expected_first(&link->expected)->tag, &reply)) {
            refuse_reply(link);
            return;
        }
        if (reply.answer == ANSWER_NOSCRIPT)
            link->batch_whole |= 1U << reply.tag.kind;
        expected_drop_first(&link->expected);
        link->counters.replies++;
        deliver_event(link, (struct event){.kind = EVENT_REPLY, .reply = &reply});
    }
}

static void take_push(struct link *link)
{
    struct push push;
    if (link->probed && reply_is_alive(&link->raw)) {
        link->probed = false;
        deliver_event(link, (struct event){.kind = EVENT_ALIVE});
        return;
    }
    if (!reply_read_push(&link->raw, link->channel, &push)) {
        if (link->raw.failed)
            break_off(link, "out of memory");
        else
            PROTOCOL_ERROR(link, "the master sent a message that no master can send");
        return;
    }
    link->counters.pushes++;
    deliver_event(link, (struct event){.kind = EVENT_PUSH, .push = &push});
}

static void take_step(struct link *link, enum step step)
{
    if (!reply_take_step(&link->login, step, &link->raw)) {
        PROTOCOL_ERROR(link, "the master sent a reply that the login cannot have");
        return;
    }
    expected_drop_first(&link->expected);
    if (step != STEP_SUBSCRIBE)
        return;
    if (link->login.failed)
        break_off(link, "cannot subscribe: %s", link->login.why);
    else
        deliver_event(link, (struct event){.kind = EVENT_SUBSCRIBED, .text = link->login.run_id});
}

/* A request is in `expected` before it is written, but then the master cannot have answered it. */
static void take_reply(struct link *link)
{
    const struct expected *expected = expected_first(&link->expected);
    if (!expected && link->channel)
        take_push(link);
    else if (!expected || link->expected.count == link->unwritten)
        refuse_unsolicited(link);
    else if (expected->sharing)
        take_batch(link, expected->sharing);
    else if (expected->step == STEP_FINAL)
        take_final(link, &expected->tag);
    else
        take_step(link, expected->step);
}

/* hiredis's words on the first byte of an alert, by which TLS refuses what is not TLS. */
#define ALERT "got \"\\x15\""

static const char *malformation(const redisContext *context)
{
    if (context->err == REDIS_ERR_OOM) /* or so hiredis takes a refusal of our reply builder */
        return "an array too long or too deep";
    return strstr(context->errstr, ALERT) ? "it speaks TLS: write rediss://" : context->errstr;
}

/* Reads the next reply into link->raw; false if it has not come as a whole. */
static bool next_reply(struct link *link)
{
    redisContext *context = link->context;
    void *reply = NULL;
    if (redisGetReplyFromReader(context, &reply) != REDIS_OK) {
        PROTOCOL_ERROR(link, "malformed reply: %s", malformation(context));
        return false;
    }
    if (!reply && context->reader->len - context->reader->pos > REPLY_BYTES_MAX)
        PROTOCOL_ERROR(link, "malformed reply: longer than %d bytes", REPLY_BYTES_MAX);
    return reply != NULL;
}

/* A message about an end under TLS needs no advice to try TLS. */
static const char *layer(const struct link *link)
{
    return link->tls ? "TLS: " : "";
}

static void break_off_reading(struct link *link)
{
    /* A reply that the login passed over may be the reason: "max number of clients". */
    const char *why = link->login.why;
    bool closed = link->context->err == REDIS_ERR_EOF;
    break_off(link, "%s%s%s%s%s", layer(link), closed ? "closed by the master" : "cannot read: ",
              closed ? "" : link->context->errstr, *why ? " after: " : "", why);
}

/* While something is left that the socket did not take it waits until that can be written. */
static void watch_on(struct link *link, bool unsent)
{
    bool waits = transport_waits_to_write(link->tls, unsent);
    watch_link(link, waits ? IO_READ | IO_WRITE : IO_READ);
}

/* The socket has not refused the requests that these replies brought about: link_flush() may write
 * them at once. */
static void watch_on_after_reading(struct link *link)
{
    watch_on(link, link->output.length && link->socket.events & IO_WRITE);
}

/* Reads once, so that a master that never stops talking cannot keep the loop.  Replies may have
 * come with the end. */
static void read_replies(struct link *link)
{
    bool goes_on = transport_read(link->context, link->tls);
    look_at_clock(link);
    while (link->phase == UP && next_reply(link))
        take_reply(link);
    if (link->phase == UP && !goes_on)
        break_off_reading(link);
    else if (link->phase == UP && link->tls)
        watch_on_after_reading(link);
}

/* ---- Writing ---- */

/* A command that is written in part counts as written. */
static void write_output(struct link *link)
{
    ssize_t sent =
        transport_write(link->connecting.fd, link->tls, link->output.data, link->output.length);
    if (sent < 0 && errno != EAGAIN && errno != EINTR) {
        link->send_error = errno;
        return;
    }
    if (sent > 0) {
        buffer_consume(&link->output, (size_t)sent);
        link->unwritten = link->batched;
    }
    if (!link->output.length)
        forget_secret(link);
    watch_on(link, link->output.length);
}

static void expect(struct link *link, const struct tag *tag, enum step step)
{
    expected_add(&link->expected, tag, step);
    link->unwritten++;
}

static void write_batch(struct link *link)
{
    enum step steps[STEPS_MAX];
    unsigned count = link->batched;
    link->batched = 0;
    if (count == 1) {
        command_write(&link->output, &link->batch[0], NULL, steps);
    } else if (count > 1) {
        unsigned bit = 1U << link->batch[0].tag.kind;
        command_write_each(&link->output, link->batch, count, link->batch_whole & bit);
        expected_share(&link->expected, count);
        link->batch_whole &= ~bit;
    }
    if (link->output.failed)
        break_off(link, "out of memory");
}

void link_flush(struct link *link)
{
    write_batch(link);
    bool waits = link->socket.events & IO_WRITE;
    if (link->phase == UP && link->output.length && !waits && !link->send_error)
        write_output(link);
}

static const struct credentials *login_of(const struct link *link, struct credentials *room)
{
    const struct address *address = link->connecting.address;
    *room = (struct credentials){address->user, address->password, address->db, link->client_name};
    return room;
}

static void queue_request(struct link *link, const struct request *request)
{
    enum step steps[STEPS_MAX];
    struct credentials room;
    const struct credentials *login = link->greeted ? NULL : login_of(link, &room);
    unsigned count = command_write(&link->output, request, login, steps);
    for (unsigned i = 0; i < count; i++)
        expect(link, &request->tag, steps[i]);
    if (request->tag.kind == REQUEST_HELLO)
        link->greeted = link->has_secret = true;
    if (link->output.failed)
        break_off(link, "out of memory");
}

void link_send(struct link *link, const struct request *request)
{
    assert((link->phase == UP || link->phase == ENDING) && !link->channel);
    link->counters.requests++;
    bool batch = command_may_batch(request);
    if (!expected_make_room(&link->expected))
        break_off(link, "out of memory");
    if (!batch || (link->batched && !command_joins(link->batch, link->batched, request)))
        write_batch(link);
    if (link->phase == UP && !batch) {
        queue_request(link, request);
        return;
    }
    expect(link, &request->tag, STEP_FINAL);
    if (link->phase == UP)
        link->batch[link->batched++] = *request;
}

/* ---- Connecting ---- */

/* A notification connection writes at once, without link_flush(). */
static void write_subscribe(struct link *link)
{
    enum step steps[STEPS_MAX];
    struct credentials room;
    unsigned count =
        connection_write_subscribe(&link->output, login_of(link, &room), link->channel, steps);
    for (unsigned i = 0; i < count; i++)
        expect(link, &(struct tag){0}, steps[i]);
    link->has_secret = true;
    if (link->output.failed)
        break_off(link, "out of memory");
    else
        write_output(link);
}

static void come_up(struct link *link)
{
    connect_settle(&link->connecting);
    link->context = redisConnectFd(link->connecting.fd);
    if (!link->context) {
        break_off(link, "out of memory");
        return;
    }
    link->context->flags &= ~REDIS_BLOCK;
    reply_attach(link->context->reader, &link->raw);
    link->phase = UP;
    look_at_clock(link);
    watch_link(link, IO_READ);
    if (link->channel)
        write_subscribe(link);
    else
        deliver_event(link, (struct event){.kind = EVENT_CONNECTED});
}

static void go_on_shaking_hands(struct link *link)
{
    switch (tls_handshake(link->tls)) {
    case TLS_READS:
        watch_link(link, IO_READ);
        break;
    case TLS_WRITES:
        watch_link(link, IO_WRITE);
        break;
    case TLS_DONE:
        come_up(link);
        break;
    case TLS_FAILED:
        break_off(link, "%s", tls_why(link->tls));
    }
}

static void start_tls(struct link *link)
{
    const struct address *address = link->connecting.address;
    char why[200];
    link->tls = tls_new(link->connecting.fd, &address->tls, address->host, why, sizeof why);
    if (link->tls)
        go_on_shaking_hands(link);
    else
        break_off(link, "%s", why);
}

static void go_on_connecting(struct link *link, enum connect_state state)
{
    switch (state) {
    case CONNECT_LOOKS_UP:
        break;
    case CONNECT_TRIES:
        watch_link(link, IO_WRITE);
        break;
    case CONNECT_DONE:
        if (link->connecting.address->tls.wanted)
            start_tls(link);
        else
            come_up(link);
        break;
    case CONNECT_FAILED:
        break_off(link, "%s", link->connecting.why);
    }
}

static void on_found(void *owner, enum connect_state state)
{
    struct link *link = owner;
    go_on_connecting(link, state);
    link_pump(link);
}

static void finish_connect(struct link *link)
{
    unwatch(link);
    if (link->tls)
        go_on_shaking_hands(link);
    else
        go_on_connecting(link, connect_go_on(&link->connecting));
}

static void start_connect(struct link *link, const char *channel)
{
    assert(link->phase == CLOSED);
    link->channel = channel;
    link->phase = CONNECTING;
    link->greeted = link->asked = link->probed = false;
    link->send_error = 0;
    link->unwritten = link->batch_whole = 0;
    link->login = (struct login_state){0};
    go_on_connecting(link, connect_start(&link->connecting, link->socket.loop));
}

void link_connect(struct link *link)
{
    start_connect(link, NULL);
}

void link_subscribe(struct link *link, const char *channel)
{
    start_connect(link, channel);
}

void link_probe(struct link *link)
{
    if (link->phase != UP || !link->channel || link->probed)
        return;
    bool waits = link->output.length != 0;
    connection_write_probe(&link->output);
    link->probed = true;
    if (link->output.failed)
        break_off(link, "out of memory");
    else if (!waits)
        write_output(link);
}

/* ---- The loop ---- */

static void on_link_ready(void *owner, int events)
{
    struct link *link = owner;
    /* A forked child that runs the inherited loop must not read its parent's replies. */
    if (link->process != forks_process()) {
        unwatch(link);
        return;
    }
    if (events & IO_REFUSED) {
        break_off(link, "%s", SYSTEM_NOT_WATCHED);
    } else if (link->phase == CONNECTING) {
        finish_connect(link);
    } else {
        if (link->tls) /* which may have to read in order to write, and the other way round */
            events = IO_READ | (link->output.length ? IO_WRITE : 0);
        if (events & IO_READ)
            read_replies(link);
        if (events & IO_WRITE && link->phase == UP)
            write_output(link);
    }
    link_pump(link);
}

bool link_read(struct link *link)
{
    const struct link_counters *counters = &link->counters;
    uint64_t before = counters->replies + counters->pushes;
    if (link->delivering || link->phase != UP)
        return false;
    read_replies(link);
    link_pump(link);
    return counters->replies + counters->pushes != before;
}

bool link_breaks(const struct link *link)
{
    return link->phase == ENDING || (link->phase == UP && link->send_error);
}

bool link_pump(struct link *link)
{
    if (link->delivering)
        return false;
    if (link->phase == UP && link->send_error) {
        read_replies(link);
        break_off(link, "%scannot send: %s", layer(link), strerror(link->send_error));
    }
    if (link->phase != ENDING)
        return false;
    deliver_end(link);
    return true;
}

const struct tls_facts *link_tls(const struct link *link)
{
    return link->tls ? tls_facts(link->tls) : NULL;
}

/* ---- Life ---- */

struct link *link_new(struct io_loop *loop, const struct address *address, const char *client_name,
                      struct link_owner owner)
{
    struct link *link = calloc(1, sizeof *link);
    if (!link || !expected_init(&link->expected)) {
        free(link);
        return NULL;
    }
    connect_init(&link->connecting, address, on_found, link);
    link->socket = (struct io_watch){.loop = loop, .ready = on_link_ready, .owner = link};
    link->client_name = client_name;
    link->owner = owner;
    link->process = forks_process();
    return link;
}

/* Nobody else knows that the handshake is what was waited for. */
#define UNANSWERED "TLS: no answer within the time to connect; for a plain port write redis://"

const char *link_trouble(const struct link *link)
{
    if (link->phase == ENDING && !link->asked)
        return link->why;
    bool waits = link->phase == CONNECTING && link->tls;
    return waits ? "TLS: no answer yet; for a plain port write redis://" : NULL;
}

bool link_was_denied(const struct link *link)
{
    return link->login.denied;
}

void link_close(struct link *link)
{
    if (link->phase == CLOSED || link->phase == ENDING)
        return;
    link->asked = !link->tls || link->phase == UP;
    break_off(link, "%s", link->asked ? "closed by this client" : UNANSWERED);
}

const struct link_counters *link_counters(const struct link *link)
{
    return &link->counters;
}

unsigned link_in_flight(const struct link *link)
{
    return link->expected.requests;
}

void link_free(struct link *link)
{
    shut(link);
    expected_free(&link->expected);
    buffer_free(&link->output);
    reply_free(&link->raw);
    free(link);
}
