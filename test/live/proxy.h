/*
 * proxy.h - the road to a real master: slow, silent or broken.
 *
 * It runs in a thread of its own.  (In the field a proxy is outside of what the library promises;
 * here it stands for a network.)
 */
#ifndef REDLOCK_TEST_PROXY_H
#define REDLOCK_TEST_PROXY_H

#include <stdbool.h>

struct proxy;

/* Connections of a client; bits. */
enum roads {
    MAIN_ROADS = 1,
    SUBSCRIPTION_ROADS = 2, /* on which it said SUBSCRIBE: notification connections */
    ALL_ROADS = MAIN_ROADS | SUBSCRIPTION_ROADS
};

enum ways { REQUESTS = 1, REPLIES = 2, BOTH_WAYS = REQUESTS | REPLIES };

struct proxy *proxy_start(int port);
int proxy_port(const struct proxy *proxy);
/* Replies read from now on arrive this much later; less than zero: never. */
void proxy_delay(struct proxy *proxy, int ms);
/* Holds the data on such roads, and their ends, until they are let go; on later roads too. */
void proxy_hold(struct proxy *proxy, unsigned roads, unsigned ways);
void proxy_let_go(struct proxy *proxy, unsigned roads, unsigned ways);
/* The present roads of this kind carry nothing any more, not even their ends. Both sides see no
 * change. */
void proxy_blind(struct proxy *proxy, unsigned roads);
/* All roads so far, with those that have ended. */
unsigned proxy_roads(struct proxy *proxy, enum roads roads);
void proxy_stop(struct proxy *proxy);

#endif
