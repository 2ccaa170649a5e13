#include "conns.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "buffer.h"
#include "command_reader.h"
#include "double.h"
#include "ground/slots.h"
#include "speak.h"

#define FULL (UINT64_MAX - 1) /* an eventfd with that number is not writable */

struct conn {
    struct conn *next;
    int fd; /* -1: the client has left, and the master does not know yet */
    unsigned master;
    pid_t process;   /* whose eventfd it is: children of fork() have it, too */
    bool connecting; /* nothing has come through so far */
    bool refused;    /* connecting has failed */
    bool ended;      /* by the master */
    bool signalled;  /* the eventfd is readable */
    int64_t id;
    uint32_t channel;  /* subscribed to; 0: none */
    struct buffer in;  /* commands that were not carried out yet */
    struct buffer out; /* what the client can read */
};

static unsigned clients;
static pid_t clients_of; /* this process; a child of fork() has none at first */
static struct conn *conns;
static int64_t last_id;

/* ---- descriptors ------------------------------------------------------------------------ */

static struct conn *conn_at(int fd)
{
    struct conn *conn = conns;
    while (conn && (fd < 0 || conn->fd != fd))
        conn = conn->next;
    return conn;
}

static bool is_cut(const struct conn *conn)
{
    return masters[conn->master].is_cut;
}

static bool is_readable(const struct conn *conn)
{
    return !conn->connecting && (conn->out.length || (conn->ended && !is_cut(conn)));
}

/* Else a word to it would be heard by the parent. */
static bool is_ours(const struct conn *conn)
{
    return conn->process == getpid();
}

static void show(struct conn *conn)
{
    uint64_t number;
    bool readable = is_readable(conn);
    if (conn->fd < 0 || conn->connecting || readable == conn->signalled || !is_ours(conn))
        return;
    conn->signalled = readable;
    if (readable)
        eventfd_write(conn->fd, 1);
    else
        eventfd_read(conn->fd, &number);
}

static void drop_conn(struct conn *conn)
{
    struct conn **at = &conns;
    while (*at != conn)
        at = &(*at)->next;
    *at = conn->next;
    if (conn->fd >= 0)
        close(conn->fd);
    buffer_free(&conn->in);
    buffer_free(&conn->out);
    free(conn);
}

unsigned conns_clients(void)
{
    return clients_of == getpid() ? clients : 0;
}

void conns_forget(void)
{
    for (struct conn *conn = conns, *next; conn; conn = next) {
        next = conn->next;
        if (is_ours(conn)) /* a parent's client may still have the number of its descriptor */
            drop_conn(conn);
    }
}

/* ---- the master's side -------------------------------------------------------------------- */

static void end_conn(struct conn *conn)
{
    conn->ended = true;
    conn->channel = 0;
    buffer_clear(&conn->in);
    show(conn);
}

void conns_publish(unsigned master, const struct model_answer *answer)
{
    for (unsigned i = 0; i < answer->push_count; i++)
        for (struct conn *conn = conns; conn; conn = conn->next)
            if (conn->master == master && conn->channel == answer->pushes[i].channel &&
                conn->channel && !conn->ended) {
                speak_push(&conn->out, &answer->pushes[i]);
                show(conn);
            }
}

static void kill_conn(unsigned master, int64_t id)
{
    for (struct conn *conn = conns; conn; conn = conn->next)
        if (conn->master == master && conn->id == id)
            end_conn(conn);
}

static void carry_out(struct conn *conn, const struct asked *asked)
{
    struct speech speech = {.master = conn->master, .to = &conn->out, .publish = conns_publish};
    switch (asked->asks) {
    case ASKS_NONSENSE:
        speak_nonsense(speech.to);
        break;
    case ASKS_REQUESTS:
        if (asked->calls[0].kind == REQUEST_KILL)
            kill_conn(conn->master, asked->kill_id);
        speak_answers(&speech, asked);
        break;
    case ASKS_SUBSCRIBE:
        conn->channel = texts_number(&channels, asked->word);
        speak_subscribed(speech.to, asked->word);
        break;
    case ASKS_PING:
        speak_pong(speech.to, conn->channel != 0);
        break;
    default:
        speak_greeting(&speech, asked, conn->id);
    }
}

/* Bytes that are no command end the connection, as a server's would. */
static void serve(struct conn *conn)
{
    struct inside *master = &masters[conn->master];
    struct words words;
    struct asked asked;
    ssize_t taken = 0;
    while (!conn->ended && !master->hangs && !master->is_cut && conn->in.length &&
           (taken = words_read(&words, conn->in.data, conn->in.length)) > 0) {
        masters_sweep();
        command_read(&speak_dictionary, &words, &asked);
        carry_out(conn, &asked);
        buffer_consume(&conn->in, (size_t)taken);
    }
    if (taken < 0 || conn->in.failed || conn->out.failed)
        end_conn(conn);
    show(conn);
}

void conns_end(unsigned master)
{
    for (struct conn *conn = conns; conn; conn = conn->next)
        if (conn->master == master && !conn->connecting)
            end_conn(conn);
}

static void end_connecting(struct conn *conn)
{
    uint64_t number;
    conn->connecting = false;
    conn->refused = !masters[conn->master].up;
    if (is_ours(conn))
        eventfd_read(conn->fd, &number);
}

void conns_look(unsigned master)
{
    struct conn *next;
    for (struct conn *conn = conns; conn; conn = next) {
        next = conn->next;
        if (conn->master != master || is_cut(conn))
            continue;
        if (conn->connecting)
            end_connecting(conn);
        serve(conn);
        if (conn->fd < 0 && (conn->ended || !masters[master].hangs))
            drop_conn(conn);
    }
}

/* ---- the client's side --------------------------------------------------------------------- */

unsigned double_masters(void)
{
    return MASTERS_MAX;
}

void double_note_client(bool begins)
{
    masters_lock();
    clients = conns_clients() + (begins ? 1 : -1U);
    clients_of = getpid();
    masters_unlock();
}

static struct conn *make_conn(unsigned master)
{
    bool connecting = masters[master].is_cut;
    int fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    struct conn *conn = fd < 0 ? NULL : calloc(1, sizeof *conn);
    if (!conn) {
        if (fd >= 0)
            close(fd);
        return NULL;
    }
    if (connecting)
        eventfd_write(fd, FULL);
    *conn = (struct conn){.next = conns,
                          .fd = fd,
                          .master = master,
                          .process = getpid(),
                          .connecting = connecting,
                          .id = ++last_id};
    return conns = conn;
}

int double_connect(unsigned master)
{
    masters_are_needed();
    masters_lock();
    bool refused = master >= MASTERS_MAX || (!masters[master].up && !masters[master].is_cut);
    struct conn *conn = refused ? NULL : make_conn(master);
    int fd = conn ? conn->fd : -1, error = refused ? ECONNREFUSED : errno;
    masters_unlock();
    errno = error;
    return fd;
}

bool double_has(int fd)
{
    masters_lock();
    bool has = conn_at(fd);
    masters_unlock();
    return has;
}

int double_connected(int fd)
{
    masters_lock();
    const struct conn *conn = conn_at(fd);
    int error = !conn ? EBADF : conn->refused ? ECONNREFUSED : 0;
    masters_unlock();
    return error;
}

ssize_t double_read(int fd, char *bytes, size_t size)
{
    ssize_t length = -1;
    int error = EAGAIN;
    masters_lock();
    struct conn *conn = conn_at(fd);
    if (!conn) {
        error = EBADF;
    } else if (conn->out.length) {
        length = (ssize_t)(conn->out.length < size ? conn->out.length : size);
        memcpy(bytes, conn->out.data, (size_t)length);
        buffer_consume(&conn->out, (size_t)length);
        show(conn);
    } else if (conn->ended && !is_cut(conn)) {
        length = 0;
    }
    masters_unlock();
    errno = error;
    return length;
}

ssize_t double_write(int fd, const char *bytes, size_t size)
{
    int error = EPIPE;
    masters_lock();
    struct conn *conn = conn_at(fd);
    bool takes = conn && (!conn->ended || is_cut(conn));
    if (takes) {
        buffer_append(&conn->in, bytes, size);
        error = conn->in.failed ? ENOMEM : 0;
        serve(conn);
    }
    masters_unlock();
    errno = error;
    return error ? -1 : (ssize_t)size;
}

/* A master that hangs carries its commands out later; those that cannot pass are lost. */
void double_close(int fd)
{
    masters_lock();
    struct conn *conn = conn_at(fd);
    if (conn && masters[conn->master].hangs && !conn->ended && conn->in.length) {
        close(conn->fd);
        conn->fd = -1;
        conn->channel = 0;
    } else if (conn) {
        drop_conn(conn);
    }
    masters_unlock();
}
