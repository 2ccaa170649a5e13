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

#define KILLS_MAX 4

struct master {
    struct deadline deadline;
    uint8_t state;
    bool tried;           /* the first attempt has ended, well or not */
    bool met;             /* hello was answered at least once: facts are filled */
    bool hello_asked;     /* one is in flight */
    bool listening;       /* a notification connection was asked for, and has not ended */
    bool left_unanswered; /* this connection ended with requests of leases in flight */
    enum cause refused;   /* CAUSE_REPLICA, CAUSE_SAME_MASTER or CAUSE_NONE */
    unsigned failures;    /* attempts in vain since the last success */
    unsigned in_flight;
    int64_t told_ttl_ms;      /* the longest ttl that we told it of in hello */
    usec connect_by;          /* CONNECTING, PREPARING: give up then */
    usec progress_at;         /* last time it answered, or had nothing to answer */
    usec abstains_until;      /* our clock */
    usec round_trip;          /* smoothed; 0: unknown */
    usec clock;               /* its logical clock, as last told */
    usec offset;              /* its wall clock less our clock */
    int64_t kills[KILLS_MAX]; /* former connections that may still hold requests of ours */
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

bool master_is_up(const struct master *master);
bool master_abstains(const struct engine *engine, const struct master *master);
/* It may grant: up, not in quarantine, and that quarantine was worked out with
 * the longest ttl that any client is known to use. */
bool master_may_grant(const struct engine *engine, const struct master *master);
/* On its way to UP for the first time, or again after a connection that worked. */
bool master_is_hopeful(const struct master *master);
/* Its wall clock and ours were read at the same moment, nearly. */
void master_set_clock(struct master *master, usec its, usec ours);
/* When to wait no longer for the answer to what it was asked about a lease.  While it
 * answers others, ours is only waiting in line; but no longer than a quarter of the ttl. */
usec master_overdue(const struct engine *engine, const struct master *master, usec asked_at,
                    usec ttl);

#endif
