/*
 * attempt.h - what a lease needs while it is being acquired, and its open question.
 *
 * Attempts are pooled: a lease that is merely held has none.
 */
#ifndef REDLOCK_CORE_ATTEMPT_H
#define REDLOCK_CORE_ATTEMPT_H

#include "ground/round.h"

struct engine;

/* A place in the queue of the masters; another lease of this client may inherit it. */
struct queue_place {
    usec ticket;         /* its place in the order of all waiters; 0: none yet */
    usec drawn_at;       /* when the ticket was asked for */
    usec life;           /* how long the place lasts without a refresh */
    usec refreshed_at;   /* when the place was last refreshed; 0: not yet */
    unsigned early;      /* how many refreshes in a row were early */
    usec minority_since; /* when a master last added to its minority; 0: it has none */
    usec withdrawn_until;
    usec outranked_until;
    uint16_t withdrawn; /* bits: the masters on which it is not enqueued for a while */
    uint16_t outranked; /* likewise, as these alone say that another waiter is ahead */
};

struct attempt {
    struct attempt *next_free;

    struct names *names;
    usec wait;
    usec max_hold, at_least;
    struct local_queue *queue; /* the local queue that it is in; NULL: none */
    struct lease *before, *behind;

    struct queue_place place;
    uint16_t ahead_alone; /* bits: masters that said, alone, that another waiter is ahead */
    uint8_t yields;       /* how often it yielded of late */
    usec yielded_at;

    usec fence;     /* not shown before it is stored; 0: none yet */
    uint16_t basis; /* bits: the masters whose grants are at or below the fence, as it was fixed,
                       and that have kept the lease since */
    bool unfounded; /* a fence was fixed, and came to nothing */

    struct round round; /* the question that is open, or the last one */
};

/* Clears the attempt, but for what `lease_init()` fills in. */
void attempt_begin(struct attempt *attempt, struct names *names, const struct terms *terms);
/* Opens another question; what was fixed and noted under the last one does not count any more. */
void attempt_open(struct attempt *attempt, unsigned masters, enum request_kind kind,
                  uint32_t number, usec give_up);

/* NULL when memory is out. */
struct attempt *attempt_take(struct engine *engine);
void attempt_give(struct engine *engine, struct attempt *attempt);
/* Frees the pool: the engine is ending. */
void attempts_drop(struct engine *engine);

#endif
