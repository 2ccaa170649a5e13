#include "connect.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "double.h"
#include "resolve.h"

__attribute__((format(printf, 2, 3))) static enum connect_state fail(struct connecting *it,
                                                                     const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(it->why, sizeof it->why, format, arguments);
    va_end(arguments);
    return CONNECT_FAILED;
}

static void close_socket(struct connecting *it)
{
    if (double_has(it->fd))
        double_close(it->fd);
    else if (it->fd >= 0)
        close(it->fd);
    it->fd = -1;
}

/* ---- one address after the other ---------------------------------------------- */

static bool try_address(struct connecting *it, const struct sockaddr *address, socklen_t size)
{
    int on = 1, family = address->sa_family;
    it->fd = socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (it->fd < 0) {
        it->error = errno;
        return false;
    }
    if (family != AF_UNIX) {
        setsockopt(it->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        setsockopt(it->fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    }
    if (connect(it->fd, address, size) != 0 && errno != EINPROGRESS && errno != EINTR) {
        it->error = errno;
        close_socket(it);
        return false;
    }
    return true;
}

static enum connect_state try_next(struct connecting *it)
{
    while (it->untried) {
        const struct addrinfo *next = it->untried;
        it->untried = next->ai_next;
        if (try_address(it, next->ai_addr, next->ai_addrlen))
            return CONNECT_TRIES;
    }
    return fail(it, "cannot connect: %s", strerror(it->error));
}

static enum connect_state start_unix(struct connecting *it)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", it->address->path);
    bool tries = try_address(it, (struct sockaddr *)&address, sizeof address);
    return tries ? CONNECT_TRIES : try_next(it);
}

/* A master inside this process. */
static enum connect_state start_double(struct connecting *it)
{
    it->fd = double_connect((unsigned)it->address->port - 1);
    it->error = it->fd < 0 ? errno : 0;
    return it->fd < 0 ? try_next(it) : CONNECT_TRIES;
}

/* ---- the name ------------------------------------------------------------------- */

static void on_resolved(void *owner, struct addrinfo *list, const char *why)
{
    struct connecting *it = owner;
    it->resolve = NULL;
    it->addresses = it->untried = list;
    it->found(it->owner,
              list ? try_next(it) : fail(it, "cannot look up %s: %s", it->address->host, why));
}

static enum connect_state start_host(struct connecting *it, struct io_loop *loop)
{
    const struct address *address = it->address;
    it->addresses = it->untried = resolve_numeric(address->host, address->port);
    if (it->addresses)
        return try_next(it);
    it->resolve = resolve_start(loop, address->host, address->port, on_resolved, it);
    if (!it->resolve)
        return fail(it, "cannot start to look up %s: %s", address->host, strerror(errno));
    return CONNECT_LOOKS_UP;
}

/* ---- */

void connect_init(struct connecting *it, const struct address *address,
                  void (*found)(void *owner, enum connect_state state), void *owner)
{
    *it = (struct connecting){.fd = -1, .found = found, .owner = owner, .address = address};
}

enum connect_state connect_start(struct connecting *it, struct io_loop *loop)
{
    it->error = 0;
    if (it->address->inside)
        return start_double(it);
    return it->address->path ? start_unix(it) : start_host(it, loop);
}

enum connect_state connect_go_on(struct connecting *it)
{
    socklen_t size = sizeof it->error;
    if (double_has(it->fd))
        it->error = double_connected(it->fd);
    else
        getsockopt(it->fd, SOL_SOCKET, SO_ERROR, &it->error, &size);
    if (it->error == 0)
        return CONNECT_DONE;
    close_socket(it);
    return try_next(it);
}

void connect_settle(struct connecting *it)
{
    if (it->addresses)
        freeaddrinfo(it->addresses);
    it->addresses = it->untried = NULL;
}

void connect_close(struct connecting *it)
{
    if (it->resolve)
        resolve_cancel(it->resolve);
    it->resolve = NULL;
    connect_settle(it);
    close_socket(it);
}
