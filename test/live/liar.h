/*
 * liar.h - a master that misbehaves, on a port of its own, in a thread of its own.
 *
 * It parses requests as Redis does. It answers a login, a hello and every later request properly,
 * except where it lies.
 */
#ifndef REDLOCK_TEST_LIAR_H
#define REDLOCK_TEST_LIAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum then {
    THEN_SERVE,   /* go on with the next request */
    THEN_SILENCE, /* read and never answer again on this connection */
    THEN_CLOSE,
    THEN_FLOOD /* send bytes without end, as long as they are read */
};

/* When. */
enum moment {
    AT_CONNECT, /* before anything was asked */
    AT_LOGIN,   /* in place of the answer to the first request of a connection */
    AT_HELLO,   /* in place of the answer to the hello script */
    AT_REQUEST, /* in place of the answer to a request about a lock */
    AT_BATCH,   /* in place of the answer to several requests in one */
    AT_IDLE,    /* right behind the answer to the hello script */
    NEVER_LIES
};

struct lie {
    enum moment when;
    const char *bytes; /* sent as they are; NULL: none */
    size_t length;     /* 0: strlen(bytes) */
    enum then then;
};

struct liar;

/* NULL lie: answers everything properly, and grants every lock to everybody. */
struct liar *liar_start(const struct lie *lie);
int liar_port(const struct liar *liar);
/* Tells another lie from the next request on; on connections that are open too. */
void liar_change(struct liar *liar, const struct lie *lie);
/* Its logical clock, at most 2^53; at first near the wall clock. */
void liar_set_clock(struct liar *liar, int64_t clock);
/* Batches of requests, and bytes of a flood so far. */
unsigned liar_batches(struct liar *liar);
size_t liar_flooded(struct liar *liar);
void liar_stop(struct liar *liar);

#endif
