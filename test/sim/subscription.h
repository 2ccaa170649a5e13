/*
 * subscription.h - notification connections: what masters tell waiters, late, or never.
 * Each has a path of its own: nothing ties it to the other connection to its master.
 */
#ifndef SIM_SUBSCRIPTION_H
#define SIM_SUBSCRIPTION_H

#include "world.h"

struct heard {
    struct heard *next;
    usec at;
    enum event_kind kind; /* SUBSCRIBED, UNSUBSCRIBED, PUSH */
    uint32_t token;
    usec clock;
    int free_slot;   /* PUSH: as in struct push */
    uint64_t run_id; /* SUBSCRIBED */
    bool says;       /* PUSH: what is said of this name */
    uint8_t name;
    struct model_said said;
    int64_t left_ms;
};

enum subscription_phase {
    SUBSCRIPTION_NONE,
    SUBSCRIPTION_CALLING, /* connects and subscribes */
    SUBSCRIPTION_UP,      /* subscribed on the master */
    SUBSCRIPTION_ENDED    /* UNSUBSCRIBED is on its way */
};

struct model_subscription {
    enum subscription_phase phase;
    uint32_t epoch; /* of the server's process */
    usec arrives;   /* CALLING: then it is subscribed */
    usec latest;
    struct heard *first, *last;
};

/* link_subscribe(), link_close(). */
void subscription_open(struct shell *shell, unsigned master);
void subscription_close(struct shell *shell, unsigned master);
/* link_probe(). */
void subscription_probe(struct shell *shell, unsigned master);
/* HAPPENS_HEARD. */
void subscription_happens(struct shell *shell, unsigned master);
/* The next message that has arrived; false when there is none. */
bool subscription_read(struct shell *shell, unsigned master, struct heard *heard);
/* Somebody who is no master of ours publishes on the client's channel. */
void subscription_lies(struct shell *shell, unsigned master, usec at, const struct heard *heard);
/* A master publishes what it has given away. */
void subscriptions_publish(struct world *world, unsigned master, const struct model_answer *answer);
void subscriptions_server_down(struct world *world, unsigned master);
void subscription_break(struct shell *shell, unsigned master);

#endif
