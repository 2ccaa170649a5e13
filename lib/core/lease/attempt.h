/*
 * attempt.h - what a lease needs while it is being acquired, and its open question.
 *
 * Attempts are pooled: a lease that is merely held has none.  There may be very many that only
 * stand in line in this client, so an attempt has a round only once there is a question.
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
    uint16_t answering; /* bits: the masters that last refused the names, or gave them */
};

/* For an attempt at one of the permits of a name; see permits.c. */
struct permit {
    uint16_t count;  /* how many slots there are */
    unsigned tries;  /* grants that were asked for */
    bool tries_next; /* the next round is another grant, for the slot of `names` */
    uint32_t round;  /* in which masters told these; below 0: none, or not told */
    int16_t free_slot[MASTERS_MAX], next_slot[MASTERS_MAX];
    struct further_place *places; /* in the queues of other slots */
    unsigned place_count;
    usec stood_since; /* when a master first said that the lease stands in a queue; 0: none has */
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

    usec fence;       /* not shown before it is stored; 0: none yet */
    uint16_t basis;   /* bits: the masters whose grants are at or below the fence, as it was fixed,
                         and that have kept the lease since */
    bool unfounded;   /* a fence was fixed, and came to nothing */
    bool all_answers; /* as its terms have it; likewise: */
    uint16_t tokens_told;
    usec renewed_from;     /* until when the lease was valid as its renewal was asked for */
    struct permit *permit; /* NULL: the names are no slot, or the lease is held */

    struct round *round; /* the question that is open, or the last one; NULL: there was none */
};

/* Clears the attempt, but for what `lease_init()` fills in. */
void attempt_begin(struct attempt *attempt, struct names *names, const struct terms *terms);
/* Opens another question, for which there must be room.  All that was fixed and noted under the
 * last one stops counting. */
void attempt_open(struct attempt *attempt, unsigned masters, enum request_kind kind,
                  uint32_t number, usec give_up);

/* With room for the question that is opened next; NULL when memory is out. */
struct attempt *attempt_take(struct engine *engine);
void attempt_give(struct engine *engine, struct attempt *attempt);
/* Makes room for a question, with no votes yet; false when memory is out. */
bool attempt_make_room(struct engine *engine, struct attempt *attempt);
/* No question is open, and none is left to report. */
void attempt_give_room(struct engine *engine, struct attempt *attempt);
/* One of `count` permits is wanted; false when memory is out. */
bool attempt_for_permit(struct engine *engine, struct attempt *attempt, unsigned count);
/* Frees the pool: the engine is ending. */
void attempts_drop(struct engine *engine);

#endif
