/*
 * master.h - machine 2: one master as seen from here.
 *
 *   DOWN → CONNECTING → PREPARING → UP → (LEAVING) → DOWN
 *
 * PREPARING is the hello of DESIGN section 6: it refuses replicas and masters
 * listed twice, and learns how long a restarted master abstains.  An UP master
 * that abstains still renews what it has and releases; it grants nothing new.
 */
#ifndef REDLOCK_CORE_MASTER_H
#define REDLOCK_CORE_MASTER_H

#include "deadlines.h"

struct engine;

enum master_state { MASTER_DOWN, MASTER_CONNECTING, MASTER_PREPARING, MASTER_UP, MASTER_LEAVING };

#define KILLS_MAX  4
#define RUN_ID_MAX 43

/* The notification connection: another one, so what is known of the master's process by the first
 * need not be true of the process at its other end. */
struct subscription {
    bool asked;    /* for a connection that has not ended */
    bool leaving;  /* it was told to end */
    usec heard_at; /* LISTENING or later: the last sign of life; 0: it is not subscribed yet */
    usec due;      /* by then it is subscribed, or has answered; 0: nothing is awaited */
    char run_id[RUN_ID_MAX + 1]; /* of the process that it listens to */
};

struct master {
    struct deadline deadline;
    uint8_t state;
    bool tried;           /* the first attempt has ended, well or not */
    bool met;             /* hello was answered at least once: facts are filled */
    bool hello_asked;     /* one is in flight */
    bool left_unanswered; /* this connection ended with requests of leases in flight */
    enum cause refused;   /* CAUSE_REPLICA, CAUSE_SAME_MASTER or CAUSE_NONE */
    unsigned failures;    /* attempts in vain since the last success */
    unsigned in_flight;
    usec connect_by;          /* CONNECTING, PREPARING: give up then */
    usec progress_at;         /* last time it answered, or had nothing to answer */
    usec abstains_until;      /* our clock; 0: it votes */
    usec told_until;          /* likewise: by its own record, which may know of shorter ttls only */
    usec started;             /* our clock: its process; long ago if it was adopted by hand */
    usec round_trip;          /* smoothed; 0: unknown */
    usec clock;               /* its logical clock, as last told */
    usec offset;              /* its wall clock less our clock */
    int64_t kills[KILLS_MAX]; /* former connections that may still hold requests of ours */
    struct subscription subscription;
    struct hello facts;
    char trouble[SAYING_MAX]; /* why it is not UP */
};

void master_start(struct engine *engine, unsigned index);
void master_connected(struct engine *engine, unsigned index);
void master_closed(struct engine *engine, unsigned index, const char *why);
/* HELLO, ADOPT, KILL. */
void master_hear(struct engine *engine, unsigned index, const struct reply *reply);
/* Any answer at all: it is alive. */
void master_answered(struct engine *engine, unsigned index, const struct reply *reply);
void master_sent(struct engine *engine, unsigned index);
void master_wake(struct engine *engine, unsigned index);
void master_adopt(struct engine *engine, unsigned index);
/* Asks hello again: a sign of life, and its process. */
void master_look(struct engine *engine, unsigned index);

bool master_is_up(const struct master *master);
bool master_abstains(const struct engine *engine, const struct master *master);
/* It may grant: up, and not in quarantine. */
bool master_may_grant(const struct engine *engine, const struct master *master);
/* On its way to UP for the first time, or again after a connection that worked. */
bool master_is_hopeful(const struct master *master);
/* Asked, it has answered nothing at all for longer than an answer takes. */
bool master_is_silent(const struct engine *engine, const struct master *master);
/* Its wall clock and ours were read at the same moment, nearly. */
void master_set_clock(struct master *master, usec its, usec ours);
/* When to wait no longer for the answer to what it was asked about a lease.  While it
 * answers others, ours is only waiting in line; but no longer than a quarter of the ttl. */
usec master_overdue(const struct engine *engine, const struct master *master, usec asked_at,
                    usec ttl);

#endif
