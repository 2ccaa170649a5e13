/*
 * lease.h - machine 1: one lease, from asking for it to having given it back.
 *
 *   IDLE → ACQUIRING → (WAITING → ACQUIRING) → HELD → RELEASING → IDLE
 *                                              HELD → LOST
 *
 * Inspecting (who holds this name?) is the same machine with a claim that never
 * takes anything.
 */
#ifndef REDLOCK_CORE_LEASE_H
#define REDLOCK_CORE_LEASE_H

#include "claim.h"
#include "round.h"

enum lease_state {
    LEASE_IDLE,      /* nothing on the masters is its own; its outcome is told or to be told */
    LEASE_ACQUIRING, /* a round to take it is open (attach: to renew it) */
    LEASE_WAITING,   /* in line for it, or between two rounds */
    LEASE_HELD,
    LEASE_LOST, /* told or to be told; the claim is cleaned up behind */
    LEASE_RELEASING,
    LEASE_INSPECTING
};

enum risk { RISK_NONE, RISK_BARE, RISK_MISSED };

/* In which of the engine's lists. */
enum lease_place { PLACE_NONE, PLACE_IDLE, PLACE_BUSY, PLACE_HELD };

/* The terms that still matter once it is held; the others are in its round.  38 bits of
 * microseconds are more than the longest ttl. */
struct held_terms {
    int64_t ttl : 38;
    uint64_t renew : 1;
    uint64_t fence : 1;
    int64_t margin : 38; /* less than the ttl */
};

#define CAUSE_BITS 4

/* There may be a million of these: what fits in a few bits has no more. */
struct lease {
    struct lease *prev, *next;
    struct claim *claim;
    struct round *round;
    struct held_terms terms;
    usec asked_at;
    usec hold_until;
    usec wake_at;     /* WAITING: next round.  HELD: next renewal */
    usec valid_until; /* HELD: the ledger's; else 0 */
    usec fence;       /* see lease_fence() */
    struct deadline deadline;
    uint32_t rounds;
    uint64_t causes : CAUSE_BITS *(OUTCOME_SEEN + 1); /* enum cause of each untold outcome */
    uint64_t untold : OUTCOME_SEEN + 1;               /* a bit for each outcome to be told */
    uint64_t place : 2;                               /* enum lease_place */
    uint64_t state : 3;                               /* enum lease_state */
    uint64_t risk : 2;                                /* enum risk */
    uint64_t failing : CAUSE_BITS; /* enum cause: why the round under way has failed */
    uint64_t attached : 1;         /* ACQUIRING by the token of somebody else's lease */
    uint64_t extending : 1;        /* the user waits for this renewal */
};

/* Ready to be handed to EVENT_ACQUIRE, ATTACH, RELEASE (by token) or INSPECT.
 * Shares `names`.  `token`: of a lease acquired elsewhere, or NULL.  False when
 * memory is out; then nothing has to be undone. */
bool lease_init(struct engine *engine, struct lease *lease, struct names *names,
                const struct terms *terms, const char *token, size_t token_length);

void lease_acquire(struct engine *engine, struct lease *lease);
void lease_inspect(struct engine *engine, struct lease *lease);
void lease_extend(struct engine *engine, struct lease *lease, usec ttl);
void lease_release(struct engine *engine, struct lease *lease);
/* Nobody wants to hear of it: `keep` leaves it on the masters.  The memory is the
 * shell's again when this returns. */
void lease_abandon(struct engine *engine, struct lease *lease, bool keep);

void lease_wake(struct engine *engine, struct lease *lease);
/* An answer about its present claim. */
void lease_hear(struct engine *engine, struct lease *lease, unsigned master,
                const struct reply *reply);
/* Its claim is about to send `master` the release owed: the round to count the
 * answer in, 0 if none. */
uint32_t lease_paying(struct engine *engine, struct lease *lease, unsigned master);
/* A master came up, or can no longer be hoped for. */
void lease_master_up(struct engine *engine, struct lease *lease, unsigned master);
void lease_master_down(struct engine *engine, struct lease *lease, unsigned master);
/* This master tells of handovers from now on: what it gave before, it told nobody. */
void lease_look_again(struct engine *engine, struct lease *lease, unsigned master);
void lease_close(struct engine *engine, struct lease *lease);
void lease_give_up(struct engine *engine, struct lease *lease);

/* Takes the next outcome to be told; validity is tested here, last of all. */
bool lease_tell(struct engine *engine, struct lease *lease, struct outcome *outcome);

/* Another process answers in the master's place. */
void waiting_forget_process(struct lease *lease, unsigned master);
/* A master gave something to somebody who waits. */
void waiting_push(struct engine *engine, unsigned master, const struct push *push);
/* WAITING in line: how many stand before it, here and on the masters, and what
 * is left of the present holder's time if he does not renew (NEVER: not known). */
bool waiting_look(const struct engine *engine, const struct lease *lease, unsigned *position,
                  usec *expires);

/* Until when it is tried to acquire it; only before that is told. */
usec lease_wait_until(const struct lease *lease);

/* An extend was asked for, and its outcome is not told yet. */
bool lease_is_extending(const struct lease *lease);

/* The fencing token that was told with ACQUIRED; 0: none. */
usec lease_fence(const struct lease *lease);

/* HELD and told so: until when it is valid.  Else 0. */
usec lease_valid_until(const struct lease *lease);

#endif
