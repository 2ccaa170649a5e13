/*
 * client.h - what the files behind redlock.h share.
 *
 *   ears.c     notification connections of those who wait
 *   client.c   the pump: user calls → events → step → effects → callbacks
 *   options.c  reads and checks what the user configured
 *   lease_api.c the calls about one lease
 *   tell.c     an outcome of the core → the event that the user sees
 *   stats.c    what is going on: masters, counters, OpenMetrics
 */
#ifndef REDLOCK_CLIENT_H
#define REDLOCK_CLIENT_H

#include <ev.h>

#include "address.h"
#include "engine.h"
#include "link.h"
#include "redlock.h"
#include "system.h"

/* What the user asked of a lease and the pump has not yet done, in this order. */
enum operation {
    OP_ACQUIRE = 1,
    OP_INSPECT = 2,
    OP_EXTEND = 4,
    OP_RELEASE = 8,
    OP_DETACH = 16,
    OP_FREE = 32
};

struct lease_queue {
    redlock_lease *first, *last;
};

struct redlock_lease {
    struct lease core;
    redlock *client;
    redlock_callback *callback;
    void *data;
    redlock_lease *next_asked, *next_untold; /* in the client's queues */
    char *token_copy;
    int32_t extend_ttl; /* ms: a day at most */
    uint8_t operations;
    bool asked : 1, untold : 1; /* is in that queue */
    bool ended : 1;             /* its final outcome was told, or a release was asked for */
    bool released : 1;          /* a release was asked for */
    bool freed : 1;             /* dropped; its memory goes when the queue gets to it */
};

struct redlock {
    struct engine engine;
    struct ev_loop *loop;
    ev_prepare prepare;
    ev_timer timer;
    usec timer_at;
    bool holds_loop;

    unsigned masters;
    struct address addresses[REDLOCK_MASTERS_MAX];
    struct link *links[REDLOCK_MASTERS_MAX];
    struct link *ears[REDLOCK_MASTERS_MAX]; /* NULL until somebody waits */
    uint32_t deaf;                          /* a bit for each ear that could not be made */
    char *logged[REDLOCK_MASTERS_MAX];      /* what was last said of each */
    struct randomness_store random;
    unsigned fork_count;

    struct lease_queue asked, untold;
    redlock_lease *telling; /* its callback runs now */
    uint32_t adopt;         /* a bit for each master */

    char *prefix;
    char *client_name;
    int64_t max_ttl_ms;
    void (*on_ready)(redlock *, redlock_code, const char *, void *);
    void (*on_log)(redlock_level, const char *, void *);
    redlock_level log_level;
    void *data;

    bool ready; /* to be told */
    bool pumping, dying;
    bool close_asked, closing, closed, closed_told;
    usec close_by;
    void (*on_closed)(redlock *, unsigned, void *);
    void *closed_data;

    redlock_vote votes[REDLOCK_MASTERS_MAX];
    char text[512];
    char error[256];
};

/* options.c: fills the client from the options; a sentence in `why` on failure. */
redlock_code options_read(redlock *client, struct engine_config *config,
                          const redlock_options *options, char *why, size_t why_size);
/* A lease's terms; a sentence in client->error on failure. */
redlock_code terms_read(redlock *client, const redlock_lease_options *options, struct terms *terms);
/* NEVER if it is out of all reason. */
usec in_usec(int64_t ms);
redlock_code ttl_check(redlock *client, int64_t ttl_ms, usec margin);

/* client.c */
bool client_is_usable(const redlock *client);
redlock_code client_fail(redlock *client, redlock_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void client_log(const redlock *client, redlock_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void client_ask(redlock_lease *lease, enum operation operation);
void client_hold_loop(redlock *client);
void client_step(redlock *client, const struct event *event);
extern const struct memory client_memory;

/* ears.c */
void ears_listen(redlock *client, unsigned master);
void ears_probe(redlock *client, unsigned master);
void ears_deafen(redlock *client, unsigned master);
/* What has come by now. */
void ears_read(redlock *client);
bool ears_pump(redlock *client);
/* True if ears_pump() has something to deliver. */
bool ears_flush(redlock *client);
void ears_free(redlock *client);

/* tell.c */
redlock_code code_of(enum cause cause);
void tell_fill(redlock *client, const redlock_lease *lease, const struct outcome *outcome,
               redlock_event *event);
void tell_readiness(redlock *client, enum cause cause, char *text, size_t size);
void node_fill(const redlock *client, unsigned index, redlock_node *node);

#endif
