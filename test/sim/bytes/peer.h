/*
 * peer.h - the other end of a link, as the link sees it: a socket, and behind it the modelled
 * master, which reads the commands and writes the answers.
 *
 *     lib/client ─► watch.c ─► lib/io/link.c ─► sockets.c ─► master_reads.c ─► model_net.c
 *     lib/client ◄─ watch.c ◄─ lib/io/link.c ◄─ sockets.c ◄─ stream.c ◄─ master_says.c ◄─┘
 *
 * watch.c looks at all that goes into a link and comes out of it; sockets.c stands in for the
 * system calls, the event loop and the connecting.
 *
 * Four faults are added to those of redlock-sim.  `short-writes`: the socket takes a part, or
 * nothing.  `split-reads`: up to four pieces, cut at any byte.  `cut-short`: the end comes within a
 * reply.  `malformed`: bytes that are no reply, or a reply that no request can have.
 *
 * The rule `bytes`:
 *
 * - Each command is what the core asked for, in that order.  The login comes first, whole, and
 *   once.  Nothing else is written.
 * - Each event is what the master said, in its order, to the request that it answers.  A reply
 *   that was read whole is passed on at once.
 * - After malformed bytes the connection ends, and nothing behind them is passed on.  The link
 *   reports requests in flight as lost, and only when the connection has ended.
 * - The link waits to write what it could not write.  It counts the requests in flight as the
 *   simulator does.
 */
#ifndef SIM_PEER_H
#define SIM_PEER_H

#include "client_shell.h"
#include "io_loop.h"
#include "link.h"
#include "stream.h"

/* A message of a notification connection, before it is passed on. */
struct utterance {
    struct utterance *next;
    struct heard heard;
    size_t until; /* the end of it in all that the master said */
};

/* The answers that the commands of the login have asked for. */
struct greeting {
    unsigned logins, databases, names, ids, loads;
    bool info;
    const char *hashes[5 * REQUEST_KINDS]; /* of the scripts */
};

struct peer {
    struct peer *next; /* of the same shell */
    struct shell *shell;
    struct link *link;
    struct link_owner owner;
    unsigned master;
    int fd;
    bool subscribed;

    /* Of the present connection. */
    bool open, asked; /* `asked`: the client ends it */
    struct io_watch *watch;
    struct stream in;
    struct buffer out;                    /* written, and not yet a whole command */
    struct greeting greeting, said_first; /* being written; answered with what comes first */
    usec writable_at, stirs_at;
    struct queue flushed;  /* messages that the link was to write, and has not written as a whole */
    struct queue answered; /* and those whose answers were said, and not yet told */
    struct utterance *first, *last;
    size_t bad_from, bad_until; /* what was said there is malformed; nothing after it counts */
};

struct peer *peer_new(struct shell *shell, struct link_owner owner);
struct peer *peer_of(const struct link *link);
struct peer *peer_at(int fd);
void peer_free(struct peer *peer);

/* A connection begins, and ends; nothing is left of it. */
void peer_open(struct peer *peer);
void peer_close(struct peer *peer);
/* NULL: a notification connection, or none. */
struct conn *peer_conn(const struct peer *peer);
/* The loop looks at it then again. */
void peer_stirs(struct peer *peer, usec at);
bool peer_has(const struct peer *peer, enum fault_kind fault);
void peer_violated(const struct peer *peer, const char *what);

/* master_reads.c: the link has written.  master_says.c: says what has come of it by now. */
void master_reads(struct peer *peer, const char *bytes, size_t length);
void master_says(struct peer *peer);

/* watch.c: the link has read, and told what there was to tell. */
void watch_told(struct peer *peer);

#endif
