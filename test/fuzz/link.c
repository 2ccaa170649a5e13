/*
 * link.c - whatever a master may send, through a whole link: login, replies, pushes, and TLS
 * before, around and behind them.  Each request has one answer, and the end is reported once.
 *
 * The first byte is the kind of connection, the second how many bytes come at a time, the third the
 * requests.  The master sends the rest.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <ev.h>
#include <openssl/err.h>

#include "certificate.h"
#include "libev_loop.h"
#include "link.h"
#include "system.h"
#include "unit.h"

#define CHANNEL  "redlock:me"
#define REQUESTS 6

enum kind {
    PLAIN,
    PLAIN_SUBSCRIPTION,
    IN_HANDSHAKE,     /* the bytes come in place of the handshake */
    BEHIND_HANDSHAKE, /* as they are, where records are expected */
    INSIDE_TLS,
    INSIDE_TLS_1_2,
    SUBSCRIPTION_INSIDE_TLS,
    KINDS
};

static struct ev_loop *loop;
static struct io_loop *io;
static int listener, master;
static struct address address;
static struct names *names;
static SSL_CTX *server;
static SSL *ssl; /* NULL: the master speaks none, or no more */

/* The link's reports. */
static bool is_up, is_closed;
static unsigned asked, answered;

static void must(bool condition, const char *what)
{
    if (condition)
        return;
    fprintf(stderr, "violated: %s\n", what);
    abort();
}

static void hear(void *owner, usec now, const struct event *event)
{
    (void)owner;
    (void)now;
    must(!is_closed, "nothing is reported after the end");
    if (event->kind == EVENT_CONNECTED)
        is_up = true;
    else if (event->kind == EVENT_CLOSED)
        is_closed = true;
    else if (event->kind == EVENT_REPLY)
        must(++answered <= asked, "one answer to each request");
    if (event->text)
        must(strlen(event->text) < VOTE_TEXT_MAX, "texts fit");
}

/* ---- the master --------------------------------------------------------------------------- */

static void begin_listening(void)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    snprintf(at.sun_path, sizeof at.sun_path, "/tmp/redlock-fuzz-%d.sock", (int)getpid());
    unlink(at.sun_path);
    listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    must(bind(listener, (struct sockaddr *)&at, sizeof at) == 0 && listen(listener, 8) == 0,
         "there is a socket");
    address.path = strdup(at.sun_path);
}

static void stop_listening(void)
{
    unlink(address.path);
}

static void begin(void)
{
    struct certificate certificate = certificate_make(NULL, "a master", NULL, -DAY_S, DAY_S);
    must(system_start() == 0, "there are random bytes");
    loop = ev_loop_new(0);
    io = libev_loop_new(loop, NULL, NULL);
    names = unit_names(1, (const char *const[]){"jobs"});
    server = certificate_serve(&certificate);
    address.host = strdup("redis.test");
    address.password = strdup("secret");
    address.tls.said[TLS_VERIFY] = strdup("none");
    begin_listening();
    atexit(stop_listening);
}

static void say(const char *bytes, size_t length)
{
    if (length)
        (void)!send(master, bytes, length,
                    MSG_NOSIGNAL | MSG_DONTWAIT); /* it may have had enough */
    ev_run(loop, EVRUN_NOWAIT);
}

static void send_records(void)
{
    char *bytes;
    long length = BIO_get_mem_data(SSL_get_wbio(ssl), &bytes);
    say(bytes, (size_t)length);
    BIO_reset(SSL_get_wbio(ssl));
}

static void hear_link(void)
{
    char bytes[65536];
    ssize_t length = recv(master, bytes, sizeof bytes, MSG_DONTWAIT);
    if (length > 0 && ssl)
        BIO_write(SSL_get_rbio(ssl), bytes, (int)length);
}

static void shake_hands(enum kind kind)
{
    ssl = SSL_new(server);
    SSL_set_bio(ssl, BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
    SSL_set_accept_state(ssl);
    if (kind == INSIDE_TLS_1_2)
        SSL_set_max_proto_version(ssl, TLS1_2_VERSION);
    for (unsigned i = 0; i < 20 && !SSL_is_init_finished(ssl); i++) {
        ev_run(loop, EVRUN_NOWAIT);
        hear_link();
        SSL_do_handshake(ssl);
        send_records();
    }
    must(SSL_is_init_finished(ssl), "they shake hands");
    ERR_clear_error();
}

static void say_inside(const char *bytes, size_t length)
{
    if (SSL_write(ssl, bytes, (int)length) > 0)
        send_records();
}

/* ---- one connection -------------------------------------------------------------------------- */

static bool is_subscription(enum kind kind)
{
    return kind == PLAIN_SUBSCRIPTION || kind == SUBSCRIPTION_INSIDE_TLS;
}

static void ask(struct link *link, enum request_kind kind)
{
    struct request request = {.tag = {.kind = kind},
                              .names = names,
                              .token = "token",
                              .token_length = 5,
                              .ttl_ms = 1000,
                              .channel = CHANNEL};
    asked++;
    link_send(link, &request);
}

static void ask_for_all(struct link *link, unsigned which)
{
    static const enum request_kind kinds[] = {REQUEST_PEEK,  REQUEST_GRANT,   REQUEST_QUEUE,
                                              REQUEST_RENEW, REQUEST_RELEASE, REQUEST_ACQUIRE};
    if (!is_up || is_closed)
        return;
    ask(link, REQUEST_HELLO);
    for (unsigned i = 0; i < REQUESTS; i++)
        ask(link, kinds[(which + i * (1 + which / 64)) % COUNT(kinds)]);
    link_flush(link);
    link_pump(link);
}

static void say_all(enum kind kind, const char *bytes, size_t length, size_t piece)
{
    piece = piece ? piece : length;
    while (length > 0 && !is_closed) {
        size_t part = length < piece ? length : piece;
        if (kind >= INSIDE_TLS)
            say_inside(bytes, part);
        else
            say(bytes, part);
        hear_link();
        bytes += part;
        length -= part;
    }
}

static struct link *connect_link(enum kind kind)
{
    struct link *link = link_new(io, &address, "fuzz", (struct link_owner){.deliver = hear});
    must(link != NULL, "there is memory");
    address.tls.wanted = kind >= IN_HANDSHAKE;
    if (is_subscription(kind))
        link_subscribe(link, CHANNEL);
    else
        link_connect(link);
    master = accept(listener, NULL, NULL);
    ev_run(loop, EVRUN_NOWAIT);
    if (kind > IN_HANDSHAKE)
        shake_hands(kind);
    return link;
}

static void end_connection(struct link *link)
{
    close(master);
    for (unsigned i = 0; i < 100 && !is_closed; i++) {
        ev_run(loop, EVRUN_NOWAIT);
        link_pump(link);
    }
    must(is_closed, "the end is reported");
    must(answered == asked, "each request has an answer");
    link_free(link);
    SSL_free(ssl);
    ssl = NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 3)
        return 0;
    if (!loop)
        begin();
    enum kind kind = data[0] % KINDS;
    is_up = is_closed = false;
    asked = answered = 0;
    struct link *link = connect_link(kind);
    ask_for_all(link, data[2]);
    say_all(kind, (const char *)data + 3, size - 3, data[1]);
    end_connection(link);
    return 0;
}
