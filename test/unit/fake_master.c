#define _GNU_SOURCE
#include "fake_master.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "unit.h"

static void keep(struct fake_master *fake, const char *bytes, size_t length)
{
    if (fake->heard_capacity - fake->heard_length < length) {
        fake->heard_capacity = 2 * fake->heard_capacity + length;
        fake->heard = realloc(fake->heard, fake->heard_capacity);
    }
    memcpy(fake->heard + fake->heard_length, bytes, length);
    fake->heard_length += length;
}

static void on_bytes(struct ev_loop *loop, ev_io *watcher, int events)
{
    (void)events;
    struct fake_master *fake = watcher->data;
    static char bytes[1 << 18]; /* more than a login is long */
    ssize_t length = read(fake->connection, bytes, sizeof bytes);
    if (length > 0) {
        keep(fake, bytes, (size_t)length);
    } else if (length == 0 || errno != EAGAIN) {
        fake->left_by = true;
        ev_io_stop(loop, watcher);
    }
}

static void on_connection(struct ev_loop *loop, ev_io *watcher, int events)
{
    (void)events;
    struct fake_master *fake = watcher->data;
    fake_hang_up(fake);
    fake->connection = accept4(fake->listener, NULL, NULL, SOCK_NONBLOCK);
    assert_true(fake->connection >= 0);
    fake->accepted++;
    fake->left_by = false;
    fake->heard_length = 0;
    ev_io_init(&fake->reading, on_bytes, fake->connection, EV_READ);
    fake->reading.data = fake;
    if (!fake->reads_nothing)
        ev_io_start(loop, &fake->reading);
}

static void listen_on(struct fake_master *fake, struct ev_loop *loop, struct sockaddr *address,
                      socklen_t size)
{
    fake->loop = loop;
    fake->connection = -1;
    fake->listener = socket(address->sa_family, SOCK_STREAM | SOCK_NONBLOCK, 0);
    assert_int_equal(bind(fake->listener, address, size), 0);
    assert_int_equal(listen(fake->listener, 8), 0);
    ev_io_init(&fake->accepting, on_connection, fake->listener, EV_READ);
    fake->accepting.data = fake;
    ev_io_start(loop, &fake->accepting);
}

void fake_listen(struct fake_master *fake, struct ev_loop *loop)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    *fake = (struct fake_master){0};
    listen_on(fake, loop, (struct sockaddr *)&address, size);
    getsockname(fake->listener, (struct sockaddr *)&address, &size);
    fake->port = ntohs(address.sin_port);
}

void fake_listen_unix(struct fake_master *fake, struct ev_loop *loop)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    *fake = (struct fake_master){0};
    snprintf(fake->path, sizeof fake->path, "fake.%d.sock", (int)getpid());
    unlink(fake->path);
    memcpy(address.sun_path, fake->path, sizeof fake->path);
    listen_on(fake, loop, (struct sockaddr *)&address, sizeof address);
}

void fake_say_bytes(struct fake_master *fake, const char *bytes, size_t length)
{
    struct pollfd writable = {.fd = fake->connection, .events = POLLOUT};
    while (length > 0) {
        assert_int_equal(poll(&writable, 1, 5000), 1);
        ssize_t sent = send(fake->connection, bytes, length, MSG_NOSIGNAL);
        assert_true(sent > 0);
        bytes += sent;
        length -= (size_t)sent;
    }
}

void fake_say(struct fake_master *fake, const char *text)
{
    fake_say_bytes(fake, text, strlen(text));
}

void fake_go_deaf(struct fake_master *fake)
{
    fake->reads_nothing = true;
    if (fake->connection >= 0)
        ev_io_stop(fake->loop, &fake->reading);
}

void fake_hear_again(struct fake_master *fake)
{
    fake->reads_nothing = false;
    ev_io_start(fake->loop, &fake->reading);
}

void fake_hang_up(struct fake_master *fake)
{
    if (fake->connection < 0)
        return;
    ev_io_stop(fake->loop, &fake->reading);
    close(fake->connection);
    fake->connection = -1;
}

void fake_reset(struct fake_master *fake)
{
    struct linger at_once = {.l_onoff = 1, .l_linger = 0};
    setsockopt(fake->connection, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    fake_hang_up(fake);
}

void fake_let_go_of_loop(struct fake_master *fake)
{
    ev_io_stop(fake->loop, &fake->accepting);
    if (fake->connection >= 0)
        ev_io_stop(fake->loop, &fake->reading);
}

void fake_free(struct fake_master *fake)
{
    fake_hang_up(fake);
    ev_io_stop(fake->loop, &fake->accepting);
    close(fake->listener);
    if (fake->path[0])
        unlink(fake->path);
    free(fake->heard);
}
