#include "link.h"

#include <assert.h>
#include <errno.h>
#include <ev.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "command.h"
#include "expected.h"
#include "reply.h"
#include "resolve.h"
#include "system.h"

enum phase {
    CLOSED,
    RESOLVING,
    CONNECTING,
    UP,
    ENDING /* nothing is left but to deliver the end */
};

struct link {
    enum phase phase;
    int fd; /* -1: none */
    struct ev_loop *loop;
    ev_io io;
    int watched;       /* EV_READ, EV_WRITE; 0: nothing */
    int connect_error; /* errno of the address tried last */
    int send_error;    /* errno; the replies that came before it are yet to be read */
    unsigned batched;
    unsigned fork_count;
    bool delivering;
    bool asked;       /* link_close() ended it */
    bool greeted;     /* the login is under way or done */
    bool batch_whole; /* the last one was refused: it may be that its script is gone */
    bool probed;      /* a listener: a sign of life was asked for */

    struct resolve *resolve;
    struct addrinfo *addresses, *untried;

    redisContext *context;
    struct login_state login;
    struct raw_reply raw;
    struct buffer output;
    struct expected_queue expected;

    /* Requests of one kind, not yet written, that go in one command.  They are expected. */
    struct request batch[BATCH_MAX];

    const char *channel; /* of a listener; else NULL */

    char why[200];

    const struct address *address;
    struct credentials credentials;
    struct link_owner owner;
    struct link_counters counters;
};

/* ---- The watcher.  It never keeps the loop alive: its owner knows when there is
 * something to wait for. ---- */

static void unwatch(struct link *link)
{
    if (!link->watched)
        return;
    ev_ref(link->loop);
    ev_io_stop(link->loop, &link->io);
    link->watched = 0;
}

static void watch(struct link *link, int events)
{
    if (link->watched == events)
        return;
    unwatch(link);
    ev_io_set(&link->io, link->fd, events);
    ev_io_start(link->loop, &link->io);
    ev_unref(link->loop);
    link->watched = events;
}

/* ---- The end ---- */

static void close_socket(struct link *link)
{
    unwatch(link);
    if (link->fd >= 0)
        close(link->fd);
    link->fd = -1;
}

static void forget_addresses(struct link *link)
{
    if (link->addresses)
        freeaddrinfo(link->addresses);
    link->addresses = link->untried = NULL;
}

static void shut(struct link *link)
{
    if (link->resolve)
        resolve_cancel(link->resolve);
    link->resolve = NULL;
    forget_addresses(link);
    if (link->context)
        redisFreeKeepFd(link->context); /* 0.14 does not close descriptor 0 */
    link->context = NULL;
    close_socket(link);
    buffer_clear(&link->output);
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
    shut(link);
    link->phase = ENDING;
}

static void deliver(struct link *link, struct event event)
{
    event.master = link->owner.master;
    link->delivering = true;
    link->owner.deliver(link->owner.owner, &event);
    link->delivering = false;
}

static void deliver_lost(struct link *link, const struct tag *tag)
{
    struct reply reply = {.tag = *tag,
                          .answer = ANSWER_LOST,
                          .remaining_ms = -1,
                          .text = link->why,
                          .text_length = strlen(link->why)};
    deliver(link, (struct event){.kind = EVENT_REPLY, .reply = &reply});
}

static void deliver_end(struct link *link)
{
    const struct expected *first;
    while ((first = expected_first(&link->expected))) {
        struct expected lost = *first;
        expected_drop_first(&link->expected);
        if (lost.step == STEP_FINAL)
            deliver_lost(link, &lost.tag);
    }
    /* The owner may connect again at once, and that may fail at once. */
    char why[sizeof link->why];
    memcpy(why, link->why, sizeof why);
    const char *text = link->asked ? NULL : why;
    link->phase = CLOSED;
    deliver(link, (struct event){.kind = EVENT_CLOSED, .text = text});
}

/* ---- Reading ---- */

#define PROTOCOL_ERROR(link, ...) ((link)->counters.protocol_errors++, break_off(link, __VA_ARGS__))

static void refuse_unsolicited(struct link *link)
{
    const struct raw_reply *raw = &link->raw;
    bool says_why = !raw->is_array && raw->fields[0].kind == FIELD_ERROR;
    PROTOCOL_ERROR(link, "the master sent a reply to nothing%s%s", says_why ? ": " : "",
                   says_why ? raw->text + raw->fields[0].start : "");
}

static void refuse_reply(struct link *link)
{
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
    deliver(link, (struct event){.kind = EVENT_REPLY, .reply = &reply});
}

/* What is left of it when the link is closed meanwhile is lost. */
static void take_batch(struct link *link, unsigned count)
{
    for (unsigned i = 0; i < count && link->phase == UP; i++) {
        struct reply reply;
        if (!reply_read_each(&link->raw, i, count, &expected_first(&link->expected)->tag, &reply)) {
            refuse_reply(link);
            return;
        }
        link->batch_whole |= reply.answer == ANSWER_NOSCRIPT;
        expected_drop_first(&link->expected);
        link->counters.replies++;
        deliver(link, (struct event){.kind = EVENT_REPLY, .reply = &reply});
    }
}

static void take_push(struct link *link)
{
    struct push push;
    if (link->probed && reply_is_alive(&link->raw)) {
        link->probed = false;
        deliver(link, (struct event){.kind = EVENT_ALIVE});
        return;
    }
    if (!reply_read_push(&link->raw, link->channel, &push)) {
        PROTOCOL_ERROR(link, "the master sent a message that no handover can have");
        return;
    }
    link->counters.pushes++;
    deliver(link, (struct event){.kind = EVENT_PUSH, .push = &push});
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
        break_off(link, "cannot listen: %s", link->login.why);
    else
        deliver(link, (struct event){.kind = EVENT_LISTENING, .text = link->login.run_id});
}

/* A request that is not yet written cannot be answered; its batch still speaks of it. */
static void take_reply(struct link *link)
{
    const struct expected *expected = expected_first(&link->expected);
    if (!expected && link->channel)
        take_push(link);
    else if (!expected || link->expected.count == link->batched)
        refuse_unsolicited(link);
    else if (expected->sharing)
        take_batch(link, expected->sharing);
    else if (expected->step == STEP_FINAL)
        take_final(link, &expected->tag);
    else
        take_step(link, expected->step);
}

/* Reads the next reply into link->raw, if all of it is there. */
static bool next_reply(struct link *link)
{
    redisContext *context = link->context;
    void *reply = NULL;
    if (redisGetReplyFromReader(context, &reply) != REDIS_OK) {
        /* Our builder's refusal looks like memory running out. */
        bool refused = context->err == REDIS_ERR_OOM;
        PROTOCOL_ERROR(link, "malformed reply: %s",
                       refused ? "an array too long or too deep" : context->errstr);
        return false;
    }
    if (!reply && context->reader->len - context->reader->pos > REPLY_BYTES_MAX)
        PROTOCOL_ERROR(link, "malformed reply: longer than %d bytes", REPLY_BYTES_MAX);
    return reply != NULL;
}

static void break_off_reading(struct link *link)
{
    /* What the login could do without may yet be why: "max number of clients". */
    const char *why = link->login.why;
    bool closed = link->context->err == REDIS_ERR_EOF;
    break_off(link, "%s%s%s%s", closed ? "closed by the master" : "cannot read: ",
              closed ? "" : link->context->errstr, *why ? " after: " : "", why);
}

/* One read, so that a master that never stops talking cannot keep the loop. */
static void read_replies(struct link *link)
{
    if (redisBufferRead(link->context) != REDIS_OK) {
        break_off_reading(link);
        return;
    }
    while (link->phase == UP && next_reply(link))
        take_reply(link);
}

/* ---- Writing ---- */

static void write_output(struct link *link)
{
    ssize_t sent = send(link->fd, link->output.data, link->output.length, MSG_NOSIGNAL);
    if (sent < 0 && errno != EAGAIN && errno != EINTR) {
        link->send_error = errno;
        return;
    }
    if (sent > 0)
        buffer_consume(&link->output, (size_t)sent);
    watch(link, link->output.length ? EV_READ | EV_WRITE : EV_READ);
}

static void write_batch(struct link *link)
{
    enum step steps[STEPS_MAX];
    unsigned count = link->batched;
    link->batched = 0;
    if (count == 1) {
        command_write(&link->output, &link->batch[0], NULL, steps);
    } else if (count > 1) {
        command_write_each(&link->output, link->batch, count, link->batch_whole);
        expected_share(&link->expected, count);
        link->batch_whole = false;
    }
    if (link->output.failed)
        break_off(link, "out of memory");
}

void link_flush(struct link *link)
{
    write_batch(link);
    bool waits = link->watched & EV_WRITE;
    if (link->phase == UP && link->output.length && !waits && !link->send_error)
        write_output(link);
}

static void queue_request(struct link *link, const struct request *request)
{
    enum step steps[STEPS_MAX];
    const struct credentials *login = link->greeted ? NULL : &link->credentials;
    unsigned count = command_write(&link->output, request, login, steps);
    for (unsigned i = 0; i < count; i++)
        expected_add(&link->expected, &request->tag, steps[i]);
    if (request->tag.kind == REQUEST_HELLO)
        link->greeted = true;
    if (link->output.failed)
        break_off(link, "out of memory");
}

void link_send(struct link *link, const struct request *request)
{
    assert((link->phase == UP || link->phase == ENDING) && !link->channel);
    link->counters.requests++;
    bool shared = command_is_shared(request);
    if (!expected_make_room(&link->expected))
        break_off(link, "out of memory");
    if (!shared || link->batched == BATCH_MAX || link->batch[0].tag.kind != request->tag.kind)
        write_batch(link);
    if (link->phase == UP && !shared) {
        queue_request(link, request);
        return;
    }
    expected_add(&link->expected, &request->tag, STEP_FINAL);
    if (link->phase == UP)
        link->batch[link->batched++] = *request;
}

/* ---- Connecting ---- */

static bool begin_connect(struct link *link, const struct sockaddr *address, socklen_t size)
{
    int on = 1, family = address->sa_family;
    link->fd = socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (link->fd < 0) {
        link->connect_error = errno;
        return false;
    }
    if (family != AF_UNIX) {
        setsockopt(link->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        setsockopt(link->fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    }
    if (connect(link->fd, address, size) != 0 && errno != EINPROGRESS && errno != EINTR) {
        link->connect_error = errno;
        close_socket(link);
        return false;
    }
    link->phase = CONNECTING;
    watch(link, EV_WRITE);
    return true;
}

static void try_next_address(struct link *link)
{
    while (link->untried) {
        const struct addrinfo *next = link->untried;
        link->untried = next->ai_next;
        if (begin_connect(link, next->ai_addr, next->ai_addrlen))
            return;
    }
    break_off(link, "cannot connect: %s", strerror(link->connect_error));
}

static void connect_unix(struct link *link)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", link->address->path);
    if (!begin_connect(link, (struct sockaddr *)&address, sizeof address))
        try_next_address(link);
}

static void on_resolved(void *owner, struct addrinfo *list, const char *why)
{
    struct link *link = owner;
    link->resolve = NULL;
    link->addresses = link->untried = list;
    if (list)
        try_next_address(link);
    else
        break_off(link, "cannot look up %s: %s", link->address->host, why);
    link_pump(link);
}

static void connect_host(struct link *link)
{
    const struct address *address = link->address;
    link->addresses = link->untried = resolve_numeric(address->host, address->port);
    if (link->addresses) {
        try_next_address(link);
        return;
    }
    link->resolve = resolve_start(link->loop, address->host, address->port, on_resolved, link);
    if (!link->resolve)
        break_off(link, "cannot start to look up %s: no thread or no memory", address->host);
}

static void start_connect(struct link *link, const char *channel)
{
    assert(link->phase == CLOSED);
    link->channel = channel;
    link->phase = RESOLVING;
    link->greeted = link->asked = link->batch_whole = link->probed = false;
    link->send_error = link->connect_error = 0;
    link->login = (struct login_state){0};
    if (link->address->path)
        connect_unix(link);
    else
        connect_host(link);
}

void link_connect(struct link *link)
{
    start_connect(link, NULL);
}

void link_listen(struct link *link, const char *channel)
{
    start_connect(link, channel);
}

/* What a listener sends does not wait for link_flush(). */
static void subscribe(struct link *link)
{
    enum step steps[STEPS_MAX];
    unsigned count = command_write_listen(&link->output, &link->credentials, link->channel, steps);
    for (unsigned i = 0; i < count; i++)
        expected_add(&link->expected, &(struct tag){0}, steps[i]);
    if (link->output.failed)
        break_off(link, "out of memory");
    else
        write_output(link);
}

void link_probe(struct link *link)
{
    if (link->phase != UP || !link->channel)
        return;
    bool waits = link->output.length != 0;
    command_write_probe(&link->output);
    link->probed = true;
    if (link->output.failed)
        break_off(link, "out of memory");
    else if (!waits)
        write_output(link);
}

static void come_up(struct link *link)
{
    forget_addresses(link);
    link->context = redisConnectFd(link->fd);
    if (!link->context) {
        break_off(link, "out of memory");
        return;
    }
    link->context->flags &= ~REDIS_BLOCK;
    reply_attach(link->context->reader, &link->raw);
    link->phase = UP;
    watch(link, EV_READ);
    if (link->channel)
        subscribe(link);
    else
        deliver(link, (struct event){.kind = EVENT_CONNECTED});
}

static void finish_connect(struct link *link)
{
    socklen_t size = sizeof link->connect_error;
    getsockopt(link->fd, SOL_SOCKET, SO_ERROR, &link->connect_error, &size);
    if (link->connect_error == 0) {
        come_up(link);
        return;
    }
    close_socket(link);
    try_next_address(link);
}

/* ---- The loop ---- */

static void on_io(struct ev_loop *loop, ev_io *watcher, int events)
{
    (void)loop;
    struct link *link = watcher->data;
    /* A forked child that runs the inherited loop must not eat its parent's replies. */
    if (link->fork_count != system_fork_count()) {
        unwatch(link);
        return;
    }
    if (link->phase == CONNECTING) {
        finish_connect(link);
    } else {
        if (events & EV_READ)
            read_replies(link);
        if (events & EV_WRITE && link->phase == UP)
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
        break_off(link, "cannot send: %s", strerror(link->send_error));
    }
    if (link->phase != ENDING)
        return false;
    deliver_end(link);
    return true;
}

/* ---- Life ---- */

struct link *link_new(struct ev_loop *loop, const struct address *address, const char *client_name,
                      struct link_owner owner)
{
    struct link *link = calloc(1, sizeof *link);
    if (!link || !expected_init(&link->expected)) {
        free(link);
        return NULL;
    }
    link->fd = -1;
    link->loop = loop;
    link->address = address;
    link->credentials =
        (struct credentials){address->user, address->password, address->db, client_name};
    link->owner = owner;
    link->fork_count = system_fork_count();
    ev_io_init(&link->io, on_io, -1, 0);
    link->io.data = link;
    return link;
}

void link_close(struct link *link)
{
    if (link->phase == CLOSED || link->phase == ENDING)
        return;
    link->asked = true;
    break_off(link, "closed by this client");
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
    free(link);
}
