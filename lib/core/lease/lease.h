/*
 * lease.h - machine 1: one lease, from asking for it to its release.
 *
 *   state        what is under way                          and then
 *   IDLE         it has nothing on the masters              acquire: BEHIND, ASKING, ATTACHING
 *                                                           inspect: INSPECTING
 *                                                           release, by token: RELEASING
 *   BEHIND       other waiters of its client come first     first: PAUSING
 *   PAUSING      between two tries, enqueued nowhere        ASKING; with a ticket: QUEUED
 *   QUEUED       it is enqueued on the masters              a quorum hands over: GATHERING
 *                                                           its minority is of no use: PAUSING
 *   ASKING       the masters are asked for the names, or    granted: HELD; a fence: STORING
 *                are behind, and it waits to ask them
 *   ATTACHING    the lease of a token is renewed            renewed: HELD
 *   GATHERING    handed over: the last grants, for a fence  HELD, STORING, CONFIRMING
 *   STORING      its fence is being stored                  HELD, CONFIRMING
 *   CONFIRMING   handed over with little left: is renewed   HELD
 *   FAILING      not acquired: last answers, or the holder  the wait goes on: PAUSING; else IDLE
 *   HELD         it is held                                 RENEWING, UPGRADING, RELEASING, LOST
 *   RENEWING     the same, and a renewal is under way       HELD, RELEASING, LOST
 *   UPGRADING    the same: it is asked to be ours alone     HELD, RENEWING, RELEASING, LOST
 *   LOST         its time is over, or a quorum lacks it     release: IDLE
 *   RELEASING    it is given back to the masters, or left   IDLE
 *                to them for the rest of at_least
 *   INSPECTING   the masters are asked for the holder       IDLE
 *
 * A lease that waits or is being acquired goes to FAILING when it is refused or too late, and to
 * IDLE when it is cancelled.  A lease that leaves its local queue may leave its place, QUEUED or
 * ASKING, to the next one.  A holder that releases may hand over to a lease that is BEHIND,
 * PAUSING, QUEUED or ASKING, which then is HELD.  A row of machine.c says what the lease does in
 * that state at each event.
 */
#ifndef REDLOCK_CORE_LEASE_H
#define REDLOCK_CORE_LEASE_H

#include "lease/attempt.h"
#include "lease/view.h"
#include "ledger/claim.h"

enum lease_state {
    LEASE_IDLE, /* it has nothing on the masters; its last outcome may be untold */

    /* It waits: */
    LEASE_BEHIND,  /* behind other waiters of this client: it has no claim */
    LEASE_PAUSING, /* between two tries: it has no claim */
    LEASE_QUEUED,  /* enqueued on the masters */

    /* It is being acquired: */
    LEASE_ASKING,     /* the masters are asked for the names */
    LEASE_ATTACHING,  /* a lease acquired elsewhere, given by its token, is renewed */
    LEASE_GATHERING,  /* a quorum has handed over: the last grants are awaited, for the fence */
    LEASE_STORING,    /* its fence is being stored */
    LEASE_CONFIRMING, /* handed over for a short while: a renewal comes before ACQUIRED */
    LEASE_FAILING,    /* it was not acquired: the last answers, or the holder, are awaited */

    /* It is held: */
    LEASE_HELD,
    LEASE_RENEWING,
    LEASE_UPGRADING,

    LEASE_LOST, /* LOST is told or to be told; the claim is released by itself */
    LEASE_RELEASING,
    LEASE_INSPECTING,
    LEASE_STATES
};

enum risk { RISK_NONE, RISK_BARE, RISK_MISSED };

#define WAITED_BITS 25 /* of microseconds: 33 s; or, if that is too short, of longer units */
#define WAITED_LONG 16 /* bits that are left out then: units of 66 ms, up to 25 days */

/* The terms that still matter once the lease is held; the others are in its attempt.  38 bits of
 * microseconds are more than the longest ttl. */
struct held_terms {
    int64_t ttl : 38;
    uint64_t renew : 1;
    uint64_t fence : 1;
    int64_t margin : 38; /* less than the ttl */

    /* No term, but there is room here: see lease_note_waited(). */
    uint64_t waited : WAITED_BITS;
    uint64_t waited_long : 1;
};

#define CAUSE_BITS    4
#define CAUSES_UNTOLD 5 /* outcomes with a cause that may be untold together; see outcomes.c */

/* There may be a million leases, so a field has no more bits than it needs. */
struct lease {
    struct lease *prev, *next;
    struct claim *claim;
    struct attempt *attempt; /* NULL: the lease is merely held, or over */
    struct held_terms terms;
    usec asked_at;
    usec wake_at;     /* waiting: the next look; held: the next renewal */
    usec valid_until; /* held: validity by the ledger; see lease_valid_until() */
    struct deadline deadline;
    uint32_t rounds;
    uint64_t causes : CAUSE_BITS *CAUSES_UNTOLD; /* enum cause of untold outcomes */
    uint64_t untold : OUTCOMES;                  /* a bit for each outcome to report */
    uint64_t place : 3;                          /* enum lease_place */
    uint64_t state : 4;                          /* enum lease_state */
    uint64_t risk : 2;                           /* enum risk */
    uint64_t failing : CAUSE_BITS;               /* enum cause: why the present round has failed */
    uint64_t acquired : 1;                       /* ACQUIRED was reported */
    uint64_t attached : 1;    /* it was acquired elsewhere, and given by its token */
    uint64_t extending : 1;   /* the user asked for this renewal */
    uint64_t downgrading : 1; /* this renewal tells the masters that it is shared */
    uint64_t left : 1;        /* its user leaves it to its ttl: EVENT_DETACH is on its way */
    uint64_t shadow : 1;      /* attached, and taken where it is absent: see lease_move() */
    uint64_t further : 1;     /* it is a further place of another lease: see further.h */
    uint64_t has_extra : 1;   /* see lease_extra() */
};

_Static_assert(sizeof(struct lease) <= 11 * sizeof(usec), "a million of them");

/* Only a lease with max_hold, at_least or a fence has this. */
struct lease_extra {
    usec hold_until; /* NEVER: its terms have no max_hold */
    usec keep_until; /* nobody else has the names before; 0: no such time, or not yet known */
    usec fence;      /* see lease_fence() */
};

/* It stands behind the lease, where lease_size() left room for it; NULL: there is none. */
static inline struct lease_extra *lease_extra(const struct lease *lease)
{
    return lease->has_extra ? (struct lease_extra *)(void *)(lease + 1) : NULL;
}

static inline usec lease_hold_until(const struct lease *lease)
{
    const struct lease_extra *extra = lease_extra(lease);
    return extra ? extra->hold_until : NEVER;
}

static inline usec lease_keep_until(const struct lease *lease)
{
    const struct lease_extra *extra = lease_extra(lease);
    return extra ? extra->keep_until : 0;
}

static inline bool lease_is_waiting(const struct lease *lease)
{
    return lease->state >= LEASE_BEHIND && lease->state <= LEASE_QUEUED;
}

static inline bool lease_is_acquiring(const struct lease *lease)
{
    return lease->state >= LEASE_ASKING && lease->state <= LEASE_FAILING;
}

/* The question that is open, or the last one; NULL: none. */
static inline struct round *lease_round(const struct lease *lease)
{
    return lease->attempt ? lease->attempt->round : NULL;
}

static inline bool lease_is_held(const struct lease *lease)
{
    return lease->state >= LEASE_HELD && lease->state <= LEASE_UPGRADING;
}

/* It took that long to ACQUIRED: exactly, or in longer units. */
static inline void lease_note_waited(struct lease *lease, usec waited)
{
    uint64_t most = (UINT64_C(1) << WAITED_BITS) - 1, time = waited > 0 ? (uint64_t)waited : 0;
    lease->acquired = true;
    lease->terms.waited_long = time > most;
    if (lease->terms.waited_long)
        time >>= WAITED_LONG;
    lease->terms.waited = time < most ? time : most;
}

/* The time since ACQUIRED was reported. */
static inline usec lease_held_for(const struct lease *lease, usec now)
{
    usec waited = (usec)lease->terms.waited << (lease->terms.waited_long ? WAITED_LONG : 0);
    return now - lease->asked_at - waited;
}

/* The lease that the claim's answers go to; NULL: none. */
static inline struct lease *lease_of_claim(const struct claim *claim)
{
    char *home = (char *)claim->home;
    return home ? (struct lease *)(void *)(home - offsetof(struct lease, claim)) : NULL;
}

void lease_acquire(struct engine *engine, struct lease *lease);
void lease_inspect(struct engine *engine, struct lease *lease);
void lease_extend(struct engine *engine, struct lease *lease, usec ttl);
/* Renews the lease with this token now, if it is held, and its terms allow renewals.  False: an
 * upgrade is under way, so ask again. */
bool lease_renew_soon(struct engine *engine, struct slice token);
/* All its names are shared from now on; or are to be exclusive. */
void lease_downgrade(struct engine *engine, struct lease *lease);
void lease_upgrade(struct engine *engine, struct lease *lease);
void lease_release(struct engine *engine, struct lease *lease);
/* The user drops the lease; `keep` leaves it on the masters.  Its memory is the shell's again when
 * this returns. */
void lease_abandon(struct engine *engine, struct lease *lease, bool keep);

/* A throttled acquire goes on: the masters have caught up. */
void lease_admit(struct engine *engine, struct lease *lease);
/* A master is up or down.  A throttled acquire whose user waits no longer ends if no quorum is left
 * that may grant. */
void lease_look_at_masters(struct engine *engine, struct lease *lease, unsigned master);

void lease_wake(struct engine *engine, struct lease *lease);
/* Takes an answer about the lease's present claim. */
void lease_hear(struct engine *engine, struct lease *lease, unsigned master,
                const struct reply *reply);
/* The claim has just sent these masters (bits) the release that they are owed: their answers tell
 * whether the lease is released. */
void lease_release_sent(struct engine *engine, struct lease *lease, uint16_t masters);
/* A master came up, or is not connecting any more. */
void lease_master_up(struct engine *engine, struct lease *lease, unsigned master);
void lease_master_down(struct engine *engine, struct lease *lease, unsigned master);
/* It is decided whether our list may be used: a lease that has failed meanwhile tells it. */
void lease_weigh_again(struct engine *engine, struct lease *lease, unsigned master);
/* Ends what the lease asks for, if the list of masters may not be used.  Where another list is in
 * place of it, a wait is set aside for a moment, so that it can go over with its ticket. */
void lease_refuse(struct engine *engine, struct lease *lease, unsigned master);
/* The list may be used again: a wait that was set aside goes on. */
void lease_restore(struct engine *engine, struct lease *lease, unsigned master);
/* The subscription to this master is made: nobody heard of handovers before it. */
void lease_look_again(struct engine *engine, struct lease *lease, unsigned master);
void lease_close(struct engine *engine, struct lease *lease);
void lease_give_up(struct engine *engine, struct lease *lease);

/* A held lease of `from` becomes one of `to`, and takes over what its shadow has there.  That is a
 * lease with its token; ACQUIRED was taken out.  The shadow is empty then, and the shell's again.
 */
void lease_move(struct engine *from, struct lease *lease, struct engine *to, struct lease *shadow);

/* A lease of `from` that waits goes on waiting as one of `to`, with its ticket.  EVENT_ACQUIRE
 * follows.  `fresh`, a lease of `to` with its terms and names, is empty then, and the shell's
 * again.
 */
void lease_go_over(struct engine *from, struct lease *lease, struct engine *to,
                   struct lease *fresh);

/* Takes the next outcome to report; validity is tested here, at the last moment. */
bool lease_tell(struct engine *engine, struct lease *lease, struct outcome *outcome);

/* Another process answers in the master's place. */
void queue_forget_process(struct lease *lease, unsigned master);
/* A master has handed names over to a waiter. */
void queue_push(struct engine *engine, unsigned master, const struct push *push);
/* The end of the lease's wait.  Call it only before the outcome of its acquire is reported. */
usec lease_wait_until(const struct lease *lease);

#endif
