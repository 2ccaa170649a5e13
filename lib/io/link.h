/*
 * link.h - one connection to one master: connects, writes requests, reads replies.
 *
 * A link turns requests into bytes (lib/wire), keeps the replies that it expects in
 * order, and delivers events.  It never delivers from inside link_connect(),
 * link_subscribe(), link_probe(), link_send(), link_flush() or link_close(): link_pump()
 * or the loop delivers the events that they cause.
 */
#ifndef REDLOCK_IO_LINK_H
#define REDLOCK_IO_LINK_H

#include "address.h"
#include "ground/event.h"

struct io_loop;
struct link;
struct tls_facts;

struct link_owner {
    /* The only way out of a link.  `now` is a look at the clock after what tells the event was
     * read: one look for all replies that were read together.  `event` lives until this returns. */
    void (*deliver)(void *owner, usec now, const struct event *event);
    void *owner;
    unsigned master; /* put into every event */
};

struct link_counters {
    uint64_t requests, replies, pushes, protocol_errors;
};

/* `address` and `client_name` (for CLIENT SETNAME, may be NULL) must outlive the link.  The user
 * and the password of the address may change: the next connection has the new ones. */
struct link *link_new(struct io_loop *loop, const struct address *address, const char *client_name,
                      struct link_owner owner);

/* Starts to connect: name lookup, then connect.  Ends in EVENT_CONNECTED or
 * EVENT_CLOSED.  Only when the link is closed (new, or after EVENT_CLOSED). */
void link_connect(struct link *link);

/* Starts to connect for notifications: after the login the link asks for the master's run_id and
 * subscribes to `channel`, which must outlive the connection; it takes no requests.
 * EVENT_SUBSCRIBED, with the run_id, tells that the subscription is confirmed, and EVENT_PUSH each
 * message; EVENT_CLOSED ends the connection, with or without them.  Only when it is closed. */
void link_subscribe(struct link *link, const char *channel);

/* Asks the master of a notification connection for a sign of life: EVENT_ALIVE if one comes.  Does
 * nothing if the link is not connected. */
void link_probe(struct link *link);

/* Queues a request.  Allowed only between EVENT_CONNECTED and EVENT_CLOSED.  If
 * memory is out, or the connection is already known to be broken, the link
 * closes at the next pump and the request is answered ANSWER_LOST. */
void link_send(struct link *link, const struct request *request);

/* Writes what is queued with one system call; waits for the socket only with the rest.  Requests of
 * one kind that may go in one command, as releases, and were queued one after the other go in
 * one command. */
void link_flush(struct link *link);

/* Ends the connection.  The next pump delivers ANSWER_LOST for each request in flight, and
 * EVENT_CLOSED with a NULL text, or with one that says that the handshake of TLS had not ended. */
void link_close(struct link *link);

/* Delivers the replies and pushes that have already come, without waiting for the loop; true if
 * there were any. */
bool link_read(struct link *link);

/* True if link_pump() has something to deliver. */
bool link_breaks(const struct link *link);

/* Delivers the end of a connection that a call has ended or found broken; true if there was one. */
bool link_pump(struct link *link);

/* True if the master refused the user or the password of the last connection, or wanted one. */
bool link_was_denied(const struct link *link);

/* News for the owner: why the connection ends, or that the master has not answered the handshake of
 * TLS so far; NULL: none. */
const char *link_trouble(const struct link *link);

const struct link_counters *link_counters(const struct link *link);

/* The facts of the TLS handshake; NULL without TLS, or without a connection. */
const struct tls_facts *link_tls(const struct link *link);

/* The number of requests that are not yet answered. */
unsigned link_in_flight(const struct link *link);

/* Frees the link and delivers nothing.  Not from inside deliver() of this link. */
void link_free(struct link *link);

#endif
