/*
 * latch.h - a call about a latch: what it asks of which master and when, and what follows from what
 * the masters have said.
 *
 * A master counts if it votes and its very process has the latch.  That somebody has arrived, and
 * that the latch is open, stays true.
 */
#ifndef REDLOCK_CORE_RECIPES_LATCH_H
#define REDLOCK_CORE_RECIPES_LATCH_H

#include "recipes/lines.h"
#include "recipes/task.h"

/* The record of a latch on a master; all masters keep the same. */
struct latch_record {
    char id[LATCH_ID_MAX + 1];
    unsigned arrivals; /* how many it waits for; 0: not known */
    int64_t ends_ms;   /* by the masters' wall clocks */
};

/* The last answer of a master about the name's latch. */
enum latched {
    LATCHED_UNKNOWN,
    LATCHED_NONE, /* its process has none */
    LATCHED_SHUT,
    LATCHED_OPEN
};

struct latched_at {
    enum latched stands;
    struct latch_record record; /* SHUT, OPEN */
    struct lines arrived;       /* likewise: the arrivals, sorted */
    unsigned count;             /* of these */
    usec asked_at;              /* it was so at some time after that */
    usec answered;     /* when the last question was asked that was answered well; 0: none */
    usec none_since;   /* when the master was heard to have none, or a latch without arrivals, which
                          may be taken away if it is another one; 0: the latch cannot be put there */
    bool is_young;     /* of such a latch: it may still be made, see latch_old_age() */
    usec lasts_until;  /* SHUT, OPEN: it does not end there before */
    usec arrived_at;   /* what was asked then has put the arrival there; 0: nothing has */
    usec opened_at;    /* likewise that it is open */
    usec due;          /* it is asked again then */
    usec paused_until; /* it answered with an error, and is not asked before then */

    /* of the request that is outstanding */
    bool carries_arrival, mends, clears;
    struct lines sent; /* what it points to */

    char run[RUN_ID_MAX + 1]; /* CREATE: the process that the latch was begun for; "": none yet */
};

struct latcher {
    struct task task;
    enum latch_call call;
    bool any;                   /* of whichever latch the name has */
    struct latch_record record; /* CREATE: to be made; else, if arrivals are known, what a quorum
                                   has said */
    char arrival[LATCH_ID_MAX + 1];
    usec life, wait;
    usec begun_at;
    usec grace_until; /* until when the other masters may answer, once a quorum has; 0: none has */
    usec leaves_at;   /* its time is over then */
    usec gives_up_at; /* it reports what it has found out by then */
    usec verified_from; /* no quorum had the latch then, as was heard; 0: not so */
    uint16_t touched;   /* masters (bits) where it may have put the latch */
    usec again_at;      /* CREATE: others were making one too; it is tried again then */
    unsigned again;     /* so often */
    usec tried_at;      /* CREATE: when this try was begun */
    const struct latch_record *other; /* CREATE: that a quorum may have instead */
    bool sent;                        /* CREATE, ARRIVE: something may have been carried out */
    bool decided;                     /* the latch may be opened: a quorum must store that */
    bool open;                        /* and has stored it */
    enum cause cause;                 /* why it ended before: CANCELLED, CLOSED */
    enum latch_end end;               /* how it ended; PENDING: not yet */
    unsigned arrived;                 /* when it ended */
    char who[LATCH_ID_MAX + 1];       /* likewise */
    struct latched_at at[];
};

/* ---- latch_ask.c ------------------------------------------------------------------------ */

/* It is known what a quorum has, or CREATE: what it shall have. */
static inline bool latch_is_bound(const struct latcher *latcher)
{
    return latcher->record.arrivals != 0;
}

void latch_ask_all(struct engine *engine, struct latcher *latcher);
/* No master will soon say more. */
bool latch_is_answered(const struct engine *engine, const struct latcher *latcher);
/* The latch is being put on a master that has none, or a master may still say that it has none.  A
 * client that knows a quorum leaves the masters as they should be. */
bool latch_is_mending(const struct engine *engine, const struct latcher *latcher);
/* Takes away what was not made: it is in nobody's way then.  Where somebody has arrived at it, it
 * stays. */
void latch_withdraw(struct engine *engine, struct latcher *latcher);
/* The age from which a master takes a latch away for others than its maker.  By then the maker has
 * given up, and so has every maker that began while this one still went on. */
usec latch_old_age(const struct engine *engine);
/* Takes away what others have left of latches that no quorum can have. */
void latch_clear_all(struct engine *engine, struct latcher *latcher);
void latch_drop(struct engine *engine, struct latcher *latcher, unsigned master);

/* ---- latch_tally.c ---------------------------------------------------------------------- */

/* This master has the latch, as it said when it was asked last. */
bool tally_has(const struct engine *engine, const struct latcher *latcher, unsigned master);
/* The number of masters that have it, and were asked at `from` or later; 0: at any time. */
unsigned tally_readers(const struct engine *engine, const struct latcher *latcher, usec from);
/* The number of masters to read before the latch is put on another one.  Of these masters, more
 * than may be wrong have each arrival that a call has reported as counted. */
unsigned tally_readers_enough(const struct engine *engine);
/* The record that a quorum of masters has, of the id that is asked for, or of any; NULL: none. */
const struct latch_record *tally_found(const struct engine *engine, const struct latcher *latcher);
/* No quorum of masters can have it, as far as was asked at `from` or later; 0: at any time. */
bool tally_is_gone(const struct engine *engine, const struct latcher *latcher, usec from);
/* Another latch of the name, which a quorum of masters may have; NULL if there is none. */
const struct latch_record *tally_other(const struct engine *engine, const struct latcher *latcher);
/* A quorum of masters says this. */
bool tally_has_quorum(const struct engine *engine, const struct latcher *latcher,
                      const struct latch_record *record);
/* Makers that began at the same time have split the masters: no quorum can have any of their
 * latches. */
bool tally_is_split(const struct engine *engine, const struct latcher *latcher);

/* The number of arrivals that at least `least` masters count. */
unsigned tally_arrived(const struct engine *engine, const struct latcher *latcher, unsigned least);
/* Writes them one a line, in order; `to` may be NULL.  Returns the number of bytes. */
size_t tally_list(const struct engine *engine, const struct latcher *latcher, unsigned least,
                  char *to);
/* The name of the arrival that most masters list, for people; "" if no more than may be wrong list
 * any.  `to` has LATCH_ID_MAX + 1 bytes. */
void tally_name(const struct engine *engine, const struct latcher *latcher, char *to);
/* Enough have arrived, or it was opened. */
bool tally_is_open(const struct engine *engine, const struct latcher *latcher);
/* A quorum of masters has it, and too few have arrived: no call reported it as open before they
 * were asked. */
bool tally_is_shut(const struct engine *engine, const struct latcher *latcher);
/* A quorum of masters counts the arrival; knows that it is open. */
bool tally_counts_arrival(const struct engine *engine, const struct latcher *latcher);
bool tally_knows_open(const struct engine *engine, const struct latcher *latcher);

#endif
