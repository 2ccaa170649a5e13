/*
 * ears.h - notification connections: what masters tell waiters, late, or never.
 * Each has a path of its own: nothing ties it to the other connection to its master.
 */
#ifndef SIM_EARS_H
#define SIM_EARS_H

#include "world.h"

struct heard {
    struct heard *next;
    usec at;
    enum event_kind kind; /* LISTENING, DEAF, PUSH */
    uint32_t token;
    usec clock;
    uint64_t run_id; /* LISTENING */
};

enum ear_phase {
    EAR_NONE,
    EAR_CALLING, /* connects and subscribes */
    EAR_UP,      /* subscribed on the master */
    EAR_ENDED    /* DEAF is on its way */
};

struct ear {
    enum ear_phase phase;
    uint32_t epoch; /* of the server's process */
    usec arrives;   /* CALLING: then it is subscribed */
    usec latest;
    struct heard *first, *last;
};

/* EFFECT_LISTEN, EFFECT_DEAFEN. */
void ear_open(struct shell *shell, unsigned master);
void ear_close(struct shell *shell, unsigned master);
/* EFFECT_PROBE. */
void ear_probe(struct shell *shell, unsigned master);
/* HAPPENS_HEARD. */
void ear_happens(struct shell *shell, unsigned master);
/* What has arrived by now; false when there is nothing more. */
bool ear_read(struct shell *shell, unsigned master, struct heard *heard);
/* The process ends. */
void ears_drop(struct shell *shell);

/* A master publishes what it has given away. */
void ears_publish(struct world *world, unsigned master, const struct model_answer *answer);
void ears_server_down(struct world *world, unsigned master);
void ear_break(struct shell *shell, unsigned master);

#endif
