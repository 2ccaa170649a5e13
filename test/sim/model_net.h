/*
 * model_net.h - connections: an ordered stream of requests one way and of replies
 * the other, on a path that may be slow, blocked or broken.
 *
 * A request goes on its way even when the client has closed the connection.  It may still be
 * carried out, long after, unless the connection was killed on the master.
 */
#ifndef SIM_MODEL_NET_H
#define SIM_MODEL_NET_H

#include "world.h"

struct message {
    struct message *next;
    struct message *shares; /* the next one in the same command; NULL: none */
    usec at;                /* arrives then, at the earliest */
    bool login;             /* the login that goes before a first hello */
    int64_t kill_id;
    const void *claim;  /* whose request it is */
    bool is_of_another; /* its token came from another process */
    size_t said_until;  /* over bytes: the end of its answer in all that the master said */
    usec sent_local;
    int64_t longest_ttl_ms; /* known to the client when it sent it */
    struct model_call call;
    struct model_answer answer;
};

struct queue {
    struct message *first, *last;
    usec latest;
};

struct conn {
    struct conn *next;
    struct world *world;
    struct shell *shell;
    unsigned client, master;
    uint32_t epoch; /* of the server's process it is connected to */
    int64_t id;     /* CLIENT ID, once established */
    bool established, client_open, server_open;
    bool reset;  /* broken; the client will see it */
    bool broken; /* the client can see it */
    struct queue out, in;
    struct queue readable; /* replies that arrived and were not yet read */
};

struct conn *conn_new(struct shell *shell, unsigned client, unsigned master);
void conn_send(struct conn *conn, struct message *message);
/* The client has closed it. */
void conn_leave(struct conn *conn);
void conn_break(struct conn *conn);
void conn_break_silently(struct conn *conn, usec seen_after);
#define LATE_FIN MS(500) /* no farewell is later */
/* Each end of a crashed server's connections, or of a dead client's. */
void net_server_down(struct world *world, unsigned master);
void net_happens(struct world *world, const struct happening *happening);
/* A request outside of any connection that we model; true if it was carried out. */
bool net_execute(struct world *world, unsigned master, const struct model_call *call,
                 struct model_answer *answer);
struct message *message_new(struct world *world);
void message_free(struct world *world, struct message *message);
void queue_add(struct queue *queue, struct message *message);
struct message *queue_take(struct queue *queue);
enum way { WAY_OUT, WAY_IN };
usec path_delay(struct world *world, const struct path *path, enum way way);
/* There and back. */
usec path_trip(struct world *world, const struct path *path);
/* Until when nothing passes, whichever way. */
usec path_blocked(const struct path *path);
/* By how much later the end of a crashed server's connection is seen. */
usec late_fin(struct world *world);
void net_free(struct world *world);

#endif
