/*
 * shared.h - what all machines share: the engine's state, and the few calls that each of them
 * needs.  The file is below all machines and calls none.
 */
#ifndef REDLOCK_CORE_SHARED_H
#define REDLOCK_CORE_SHARED_H

#include <stddef.h>

#include "ground/deadlines.h"
#include "ground/index.h"
#include "ground/master_state.h"

struct attempt;
struct further_place;
struct round;
struct task;

#define CLAIM_BUCKETS  64
#define FORMER_WISHERS 4

/* The engine's list that a lease is in; see lists.h. */
enum lease_place {
    PLACE_NONE,
    PLACE_IDLE,
    PLACE_BUSY,
    PLACE_THROTTLED,
    PLACE_STRANDED,
    PLACE_HELD
};

struct lease_list {
    struct lease *first, *last; /* the last one is there for the longest time */
    uint64_t count;
    enum lease_place place;
};

/* The struct of that type whose `part` this is. */
#define OWNER_OF(type, part, it) ((type *)(void *)((char *)(it)-offsetof(type, part)))

struct engine {
    struct engine_config config;
    struct memory memory;
    struct sink sink;
    struct engine_counters counters;

    usec now;                  /* of the step under way */
    struct randomness *random; /* likewise */
    uint64_t jitter;           /* the state of a small generator; jitter is no secret */
    usec phase;                /* clients shall not renew, nor ask hello, at the same moments */

    char label[66]; /* the end of all our tokens: ':' and the label, or "" */
    size_t label_length;
    unsigned quorum;
    int64_t max_ttl_ms; /* the longest ttl in use: ours, or what masters vouch for */
    uint32_t last_round;
    usec clock; /* ours, logical: above clocks that are vouched for, and our proposals */
    enum cause misconfigured; /* no quorum is possible without the wrong entries of the list */
    bool had_quorum;          /* of masters that were up */
    bool differs;             /* our list may not be used beside another one of the fleet */
    bool undecided;           /* words are to come that decide this */
    usec ends_until;          /* it is over by too few: others may tell that until then; 0: not */
    bool differed, was_open;  /* both, as leases and tasks know it */
    bool in_question;         /* a master tells of another one */
    bool left_behind;         /* a lease that this client has let go of may still be held */
    usec say_again_at;        /* before a promise is asked for */
    usec words_hold_until;    /* until then promises count without a second look */
    usec oldest_word;         /* when the oldest word of a master was asked for; NEVER: none was */
    struct agree_request agree; /* as it was said last */
    bool ready_told, closing, list_ended, closed_told;
    unsigned close_most;      /* leases whose releases may be unanswered while closing */
    bool stepping;            /* for an assertion: no effect of a step may call the core */
    struct deadline deadline; /* closing goes on, or claims without a deadline are looked at */
    usec look_at;             /* when those claims are looked at; 0: there are none */

    struct deadlines deadlines;
    struct lease_list busy;      /* leases, but no HELD ones, that masters or a timer concern */
    struct lease_list throttled; /* acquires that wait until the masters catch up */
    struct lease_list stranded;  /* they wait, and their list of masters is over */
    usec renewals_first;         /* renewals were put off: until then no acquire begins */
    struct lease_list held;
    struct lease_list idle;          /* all others */
    struct lease *next_visited;      /* by lists_each() */
    struct further_place *withdrawn; /* to be freed when the engine is woken */
    struct given_back {              /* the slot of a name that this client gave back last */
        uint32_t name;               /* its hash */
        int slot;                    /* below 0: none */
    } given_back;
    struct claim *abandoned;
    struct claim *enqueued[CLAIM_BUCKETS];
    struct index local_queues; /* by names */
    uint64_t waiters;
    uint64_t at_risk;     /* of the held leases */
    usec subscribe_until; /* subscriptions are kept until then; 0: there are none */
    struct task *tasks;   /* also those that have ended, until their last answer */
    struct index tasks_by_number, tasks_by_name; /* by name: those that have not ended */
    uint32_t last_task;                          /* the number that was given last */
    uint32_t wisher, wishes;                     /* of our wishes; see recipes/wish.h */
    uint32_t former_wishers[FORMER_WISHERS];     /* of those of clients whose askers we have */
    struct attempt *free_attempts;
    struct round *free_rounds;
    unsigned spare_attempts, spare_rounds; /* the numbers of those */
    struct master masters[MASTERS_MAX];
};

void engine_emit(struct engine *engine, enum effect_kind kind, unsigned master,
                 struct lease *lease);
/* A random time between `low` and `high`. */
usec engine_jitter(struct engine *engine, usec low, usec high);
uint32_t engine_next_round(struct engine *engine);

#endif
