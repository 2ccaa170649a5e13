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
    LEASE_WAITING,   /* between two rounds; holds nothing anywhere */
    LEASE_HELD,
    LEASE_LOST, /* told or to be told; the claim is cleaned up behind */
    LEASE_RELEASING,
    LEASE_INSPECTING
};

enum risk { RISK_NONE, RISK_BARE, RISK_MISSED };

struct lease {
    struct lease *prev, *next;
    struct lease_list *list; /* the engine's busy or held leases, or NULL */
    struct names *names;
    struct claim *claim;
    struct round *round;
    struct terms terms;
    usec asked_at;
    usec wait_until;
    usec hold_until;
    usec wake_at;     /* WAITING: next round.  HELD: next renewal */
    usec valid_until; /* HELD: the ledger's; else 0 */
    usec fence;       /* see lease_fence() */
    struct deadline deadline;
    uint32_t rounds;
    uint16_t untold;                  /* a bit for each outcome to be told */
    uint8_t state;                    /* enum lease_state */
    uint8_t risk;                     /* enum risk */
    uint8_t failing;                  /* enum cause: why the round under way has failed */
    uint8_t causes[OUTCOME_SEEN + 1]; /* enum cause of each untold outcome */
    bool attached;                    /* ACQUIRING by the token of somebody else's lease */
    bool extending;                   /* the user waits for this renewal */
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
void lease_close(struct engine *engine, struct lease *lease);
void lease_give_up(struct engine *engine, struct lease *lease);

/* Takes the next outcome to be told; validity is tested here, last of all. */
bool lease_tell(struct engine *engine, struct lease *lease, struct outcome *outcome);

/* An extend was asked for, and its outcome is not told yet. */
bool lease_is_extending(const struct lease *lease);

/* The fencing token that was told with ACQUIRED; 0: none. */
usec lease_fence(const struct lease *lease);

/* HELD and told so: until when it is valid.  Else 0. */
usec lease_valid_until(const struct lease *lease);

#endif
