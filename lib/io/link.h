/*
 * link.h - one connection to one master: connect, write what is queued, read
 * what is there.
 *
 * A link turns requests into bytes (lib/wire), keeps the replies it expects in
 * order, and delivers events.  It never delivers from inside link_connect(),
 * link_send(), link_flush() or link_close(): what they cause is delivered by
 * link_pump() or by the loop.
 */
#ifndef REDLOCK_IO_LINK_H
#define REDLOCK_IO_LINK_H

#include "address.h"
#include "event.h"

struct ev_loop;
struct link;

struct link_owner {
    /* The only way out of a link.  `event` lives until it returns. */
    void (*deliver)(void *owner, const struct event *event);
    void *owner;
    unsigned master; /* put into every event */
};

struct link_counters {
    uint64_t requests, replies, pushes, protocol_errors;
};

/* `address` and `client_name` (for CLIENT SETNAME, may be NULL) must outlive the link. */
struct link *link_new(struct ev_loop *loop, const struct address *address, const char *client_name,
                      struct link_owner owner);

/* Starts to connect: name lookup, then connect.  Ends in EVENT_CONNECTED or
 * EVENT_CLOSED.  Only when closed (new, or after EVENT_CLOSED). */
void link_connect(struct link *link);

/* Starts to connect as a listener: after the login it asks who is there, subscribes to `channel`,
 * which must outlive the connection, and takes no requests.  EVENT_LISTENING with the run_id when
 * that is confirmed, then EVENT_PUSH for each message; EVENT_CLOSED ends it, with or without them.
 * Only when closed. */
void link_listen(struct link *link, const char *channel);

/* Asks a listener's master for a sign of life: EVENT_ALIVE if one comes.  Does nothing if it is not
 * connected. */
void link_probe(struct link *link);

/* Queues a request.  Allowed only between EVENT_CONNECTED and EVENT_CLOSED.  If
 * memory is out, or the connection is already known to be broken, the link
 * closes at the next pump and the request is answered ANSWER_LOST. */
void link_send(struct link *link, const struct request *request);

/* Writes what is queued with one system call; arms EV_WRITE only for the rest.  Releases
 * (or renewals) that were queued one after the other go in one command. */
void link_flush(struct link *link);

/* Ends the connection.  ANSWER_LOST for what was in flight and EVENT_CLOSED with
 * a NULL text come from the next pump. */
void link_close(struct link *link);

/* Delivers the replies and pushes that have already come, without waiting for the loop; true if
 * there were any. */
bool link_read(struct link *link);

/* link_pump() has something to deliver. */
bool link_breaks(const struct link *link);

/* Delivers what a call has left to deliver; true if it delivered anything. */
bool link_pump(struct link *link);

const struct link_counters *link_counters(const struct link *link);

/* Requests not yet answered. */
unsigned link_in_flight(const struct link *link);

/* Frees without delivering anything.  Not from inside deliver() of this link. */
void link_free(struct link *link);

#endif
