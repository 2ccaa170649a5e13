#define _GNU_SOURCE
#include "front.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cluster.h"
#include "listener.h"

#define WAYS 64
#define SIZE 32768

/* Bytes that have been read, and not yet all written. */
struct load {
    size_t start, length;
    char bytes[SIZE];
};

/* A connection: the client, which speaks TLS, and the program behind. */
struct way {
    SSL *ssl; /* NULL: free */
    int client, program;
    short wants; /* what the client's socket has to be ready for besides */
    struct load up, down;
};

struct front {
    pthread_t thread;
    SSL_CTX *context;
    int listener, port, to, stop[2];
    struct way ways[WAYS];
};

/* ---- One way ---- */

static void close_way(struct way *way)
{
    SSL_free(way->ssl);
    close(way->client);
    close(way->program);
    *way = (struct way){0};
}

/* The program's end: as it is, after what it said; a reset as a reset. */
static void end_way(struct way *way, bool reset)
{
    struct linger at_once = {.l_onoff = 1, .l_linger = 0};
    if (reset)
        setsockopt(way->client, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    else
        SSL_shutdown(way->ssl);
    close_way(way);
}

static int connect_to(int port)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
                                  .sin_port = htons((uint16_t)port)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (connect(fd, (struct sockaddr *)&address, sizeof address) == 0)
        return fd;
    close(fd);
    return -1;
}

static void open_way(struct front *front)
{
    struct way *way = front->ways;
    int client = accept4(front->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK), on = 1;
    int program = connect_to(front->to);
    while (way < front->ways + WAYS && way->ssl)
        way++;
    if (program < 0 || way == front->ways + WAYS) {
        close(client);
        close(program);
        return;
    }
    setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    *way = (struct way){.ssl = SSL_new(front->context), .client = client, .program = program};
    SSL_set_fd(way->ssl, client);
    SSL_set_accept_state(way->ssl);
}

/* ---- Its bytes.  Each of these is false if the way has ended. ---- */

static bool may_go_on(struct way *way, int result)
{
    int error = SSL_get_error(way->ssl, result);
    if (error == SSL_ERROR_WANT_WRITE)
        way->wants |= POLLOUT;
    return error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE;
}

static void fill(struct load *load, ssize_t length)
{
    load->start = 0;
    load->length = length > 0 ? (size_t)length : 0;
}

static void drain(struct load *load, ssize_t length)
{
    load->start += (size_t)length;
    load->length -= (size_t)length;
}

static bool hear_client(struct way *way)
{
    ERR_clear_error();
    int length = SSL_read(way->ssl, way->up.bytes, SIZE);
    fill(&way->up, length);
    return length > 0 || may_go_on(way, length);
}

static bool tell_client(struct way *way)
{
    struct load *load = &way->down;
    ERR_clear_error();
    int length = SSL_write(way->ssl, load->bytes + load->start, (int)load->length);
    if (length > 0)
        drain(load, length);
    return length > 0 || may_go_on(way, length);
}

static bool hear_program(struct way *way, bool *reset)
{
    ssize_t length = recv(way->program, way->down.bytes, SIZE, MSG_DONTWAIT);
    *reset = length < 0 && errno == ECONNRESET;
    fill(&way->down, length);
    return length > 0 || (length < 0 && errno == EAGAIN);
}

static bool tell_program(struct way *way)
{
    struct load *load = &way->up;
    ssize_t length =
        send(way->program, load->bytes + load->start, load->length, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (length > 0)
        drain(load, length);
    return length > 0 || errno == EAGAIN;
}

static void carry(struct way *way)
{
    bool reset = false, goes_on = true;
    way->wants = 0;
    if (!way->up.length)
        goes_on = hear_client(way);
    if (goes_on && way->up.length)
        goes_on = tell_program(way);
    if (goes_on && !way->down.length)
        goes_on = hear_program(way, &reset);
    if (goes_on && way->down.length)
        goes_on = tell_client(way);
    if (!goes_on)
        end_way(way, reset);
}

/* ---- The thread ---- */

static void watch(const struct way *way, struct pollfd *client, struct pollfd *program)
{
    short hears = way->up.length ? 0 : POLLIN, tells = way->up.length ? POLLOUT : 0;
    *client = (struct pollfd){way->ssl ? way->client : -1, (short)(hears | way->wants), 0};
    *program = (struct pollfd){way->ssl ? way->program : -1,
                               (short)(tells | (way->down.length ? 0 : POLLIN)), 0};
}

static void *run(void *argument)
{
    struct front *front = argument;
    struct pollfd polled[2 * WAYS + 2] = {{front->stop[0], POLLIN, 0},
                                          {front->listener, POLLIN, 0}};
    for (;;) {
        for (unsigned i = 0; i < WAYS; i++)
            watch(&front->ways[i], &polled[2 * i + 2], &polled[2 * i + 3]);
        if (poll(polled, 2 * WAYS + 2, -1) < 0)
            continue;
        if (polled[0].revents)
            return NULL;
        for (unsigned i = 0; i < WAYS; i++)
            if (polled[2 * i + 2].revents || polled[2 * i + 3].revents)
                carry(&front->ways[i]);
        if (polled[1].revents)
            open_way(front);
    }
}

/* ---- From outside ---- */

static SSL_CTX *make_context(const char *folder)
{
    char cert[128], key[128];
    SSL_CTX *context = SSL_CTX_new(TLS_server_method());
    snprintf(cert, sizeof cert, "%s/master.crt", folder);
    snprintf(key, sizeof key, "%s/master.key", folder);
    if (!context || SSL_CTX_use_certificate_chain_file(context, cert) != 1 ||
        SSL_CTX_use_PrivateKey_file(context, key, SSL_FILETYPE_PEM) != 1)
        abort();
    return context;
}

/* OpenSSL writes to sockets that a client may have closed. */
static void *run_without_signals(void *argument)
{
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    return run(argument);
}

struct front *front_start(int port)
{
    const char *folder = cluster_tls_folder();
    if (!folder)
        return NULL;
    struct front *front = calloc(1, sizeof *front);
    if (!front)
        abort();
    front->to = port;
    front->context = make_context(folder);
    front->listener = listen_anywhere(WAYS, &front->port);
    if (pipe2(front->stop, O_CLOEXEC) != 0 ||
        pthread_create(&front->thread, NULL, run_without_signals, front) != 0)
        abort();
    return front;
}

int front_port(const struct front *front)
{
    return front->port;
}

void front_stop(struct front *front)
{
    if (!front)
        return;
    if (write(front->stop[1], "", 1) != 1)
        abort();
    pthread_join(front->thread, NULL);
    for (unsigned i = 0; i < WAYS; i++)
        if (front->ways[i].ssl)
            close_way(&front->ways[i]);
    close(front->listener);
    close(front->stop[0]);
    close(front->stop[1]);
    SSL_CTX_free(front->context);
    free(front);
}
