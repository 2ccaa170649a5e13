/*
 * sockets.c - what the real link uses of the system: connecting (connect.h), send(), the reading of
 * hiredis, and of the loop the watching (io_loop.h).  The linker's --wrap puts send() and
 * redisBufferRead() here.
 */
#include <errno.h>
#include <hiredis/hiredis.h>
#include <stdio.h>
#include <string.h>

#include "connect.h"
#include "peer.h"
#include "sockets.h"
#include "subscription.h"
#include "trace.h"

#define READ_MOST   16384 /* as hiredis does */
#define SHORT       200   /* per mille of the writes of which a part is taken, or nothing */
#define FULL        500   /* us that a connection takes nothing more, at most */
#define SEEN_BROKEN 500   /* per mille of the writes to a broken connection that fail */

ssize_t __wrap_send(int fd, const void *bytes, size_t length, int flags);
int __wrap_redisBufferRead(redisContext *context);

/* ---- connecting ------------------------------------------------------------------------- */

struct peer *peer_connecting;

void connect_init(struct connecting *it, const struct address *address,
                  void (*found)(void *owner, enum connect_state state), void *owner)
{
    *it = (struct connecting){.fd = -1, .found = found, .owner = owner, .address = address};
}

enum connect_state connect_start(struct connecting *it, struct io_loop *loop)
{
    struct peer *peer = peer_connecting;
    (void)loop;
    it->fd = peer->fd;
    peer_open(peer);
    if (peer->subscribed)
        peer_stirs(peer, 0);
    else
        peer->shell->links[peer->master].conn =
            conn_new(peer->shell, peer->shell->index, peer->master);
    return CONNECT_TRIES;
}

static bool has_failed(const struct peer *peer)
{
    const struct conn *conn = peer_conn(peer);
    return conn && !conn->established;
}

enum connect_state connect_go_on(struct connecting *it)
{
    if (!has_failed(peer_at(it->fd)))
        return CONNECT_DONE;
    snprintf(it->why, sizeof it->why, "cannot connect: %s", strerror(ECONNREFUSED));
    return CONNECT_FAILED;
}

void connect_settle(struct connecting *it)
{
    (void)it;
}

static void leave_requests(struct peer *peer)
{
    struct shell *s = peer->shell;
    struct shell_link *it = &s->links[peer->master];
    struct message *message;
    conn_leave(it->conn);
    it->conn = NULL;
    while ((message = queue_take(&it->output)))
        message_free(s->world, message);
    it->phase = LINK_ENDING;
}

void connect_close(struct connecting *it)
{
    if (it->fd < 0)
        return;
    struct peer *peer = peer_at(it->fd);
    it->fd = -1;
    if (peer->subscribed)
        subscription_close(peer->shell, peer->master);
    else
        leave_requests(peer);
    peer_close(peer);
}

/* ---- watching --------------------------------------------------------------------------- */

void io_watch(struct io_watch *watch, int fd, int events)
{
    if (watch->events)
        peer_at(watch->fd)->watch = NULL;
    if (events)
        peer_at(fd)->watch = watch;
    watch->fd = fd;
    watch->events = events;
}

static bool is_connecting(const struct peer *peer)
{
    const struct conn *conn = peer_conn(peer);
    return conn && !conn->established && !conn->broken;
}

/* The events that its watch would hear of. */
static int events_of(const struct peer *peer)
{
    usec now = peer->shell->world->now;
    if (!peer->watch || is_connecting(peer))
        return 0;
    int events = now >= peer->writable_at ? IO_WRITE : 0;
    if (stream_is_readable(&peer->in, now))
        events |= IO_READ;
    return events & peer->watch->events;
}

/* The link must ask to write the bytes that it has not written. */
static void waits_to_write(const struct peer *peer)
{
    bool can = peer->open && peer->watch && peer->shell->world->now >= peer->writable_at;
    bool up = !peer->subscribed && peer->shell->links[peer->master].phase == LINK_UP;
    bool asks = peer->watch && peer->watch->events & IO_WRITE;
    if (can && up && peer->flushed.first && !asks && !link_breaks(peer->link))
        peer_violated(peer, "has more to write, and does not wait until it can");
}

void socket_serve(struct peer *peer)
{
    if (!peer->open)
        return;
    master_says(peer);
    waits_to_write(peer);
    int events = events_of(peer);
    if (events)
        peer->watch->ready(peer->watch->owner, events);
    watch_told(peer);
    if (peer->open && events_of(peer))
        peer_stirs(peer, 0);
}

/* ---- writing ---------------------------------------------------------------------------- */

static bool is_broken(const struct peer *peer)
{
    const struct conn *conn = peer_conn(peer);
    return conn ? conn->broken : peer->in.ended;
}

static int fail(int error)
{
    errno = error;
    return -1;
}

/* It takes a part, or nothing, and for a while nothing more. */
static ssize_t take_part(struct peer *peer, const char *bytes, size_t length)
{
    struct chance *chance = &peer->in.chance;
    size_t part = (size_t)chance_range(chance, 0, (int64_t)length - 1);
    peer->writable_at = peer->shell->world->now + chance_range(chance, 1, FULL);
    peer_stirs(peer, peer->writable_at);
    if (!part)
        return fail(chance_permille(chance, 500) ? EAGAIN : EINTR);
    master_reads(peer, bytes, part);
    return (ssize_t)part;
}

ssize_t __wrap_send(int fd, const void *bytes, size_t length, int flags)
{
    struct peer *peer = peer_at(fd);
    struct chance *chance = &peer->in.chance;
    (void)flags;
    if (is_broken(peer) && chance_permille(chance, SEEN_BROKEN))
        return fail(chance_permille(chance, 500) ? EPIPE : ECONNRESET);
    if (peer->shell->world->now < peer->writable_at)
        return fail(EAGAIN);
    if (peer_has(peer, FAULT_SHORT_WRITES) && chance_permille(chance, SHORT))
        return take_part(peer, bytes, length);
    master_reads(peer, bytes, length);
    return (ssize_t)length;
}

/* ---- reading ---------------------------------------------------------------------------- */

static int end(redisContext *context, int error, const char *text)
{
    context->err = error;
    snprintf(context->errstr, sizeof context->errstr, "%s", text);
    return REDIS_ERR;
}

int __wrap_redisBufferRead(redisContext *context)
{
    char bytes[READ_MOST];
    struct peer *peer = peer_at(context->fd);
    master_says(peer);
    ssize_t length = stream_read(&peer->in, peer->shell->world->now, bytes, sizeof bytes);
    if (length < 0 && errno == EAGAIN)
        return REDIS_OK;
    if (length < 0)
        return end(context, REDIS_ERR_IO, strerror(errno));
    if (length == 0)
        return end(context, REDIS_ERR_EOF, "Server closed the connection");
    if (redisReaderFeed(context->reader, bytes, (size_t)length) != REDIS_OK)
        return end(context, REDIS_ERR_OOM, "out of memory");
    return REDIS_OK;
}
