/*
 * barrier.h - a party at a barrier, and what follows from what the masters have said to it.
 */
#ifndef REDLOCK_CORE_RECIPES_BARRIER_H
#define REDLOCK_CORE_RECIPES_BARRIER_H

#include "recipes/lines.h"
#include "recipes/task.h"

/* The last answer of a master about a barrier. */
enum stand {
    STAND_UNKNOWN,
    STAND_WAITS,
    STAND_OPEN,
    STAND_PASSED,
    STAND_GONE,  /* it counts us no more, and was not open */
    STAND_OTHER, /* others wait there for another number of parties */
    STAND_OVER   /* it counts nobody: that generation, or a later one, was passed */
};

/* The business of a party with the masters. */
enum errand { ERRAND_NONE, ERRAND_ARRIVE, ERRAND_TELL_PASSED, ERRAND_DEPART };

struct stood_at {
    enum stand stand;
    usec asked_at;       /* it was so at some time after that */
    usec answered;       /* when the last question was asked that was answered well; 0: none */
    usec due;            /* it is asked again then */
    enum errand asked;   /* of the request that is outstanding */
    enum errand carried; /* of the last one that was answered, well or not */
    bool heard;          /* it has answered an arrival well */
    bool has_counted;    /* it has counted the party */
    int64_t latest;      /* OVER: the latest generation that was passed */
    unsigned counted;    /* the most parties that it has told of */
    struct lines tokens; /* OPEN: theirs */
    char refusal[VOTE_TEXT_MAX]; /* the error that it answered the last arrival with, or "" */
};

struct party {
    struct task task;
    char token[TOKEN_MAX + 1];
    size_t token_length;
    struct barrier_terms terms;
    usec leaves_at;   /* its time is over then */
    usec gives_up_at; /* likewise of leaving; 0: it does not leave */
    usec heard_until; /* until then the last hearing of a quorum counts; NEVER: fewer than a quorum
                         of masters may count the party */
    uint16_t touched; /* masters (bits) that may count it */
    bool comes_back;  /* it was here before, and may have been counted then */
    bool was_open;    /* a master said that it is open */
    bool unheard;     /* no quorum was heard of for too long */
    bool tried;       /* all masters that can be asked have answered */
    bool decided;     /* parties may pass, as soon as a quorum has stored that */
    bool hears;       /* the words of a quorum of masters counted when it ended */
    int64_t latest;   /* OVER: the latest generation that was passed */
    enum cause cause; /* why it leaves */
    unsigned others;  /* HELD: the number that others wait for */
    enum passage passage; /* how it ended; NONE: not yet */
    struct stood_at at[];
};

/* ---- barrier_passage.c ---------------------------------------------------------------- */

/* Enough parties are each on a quorum of masters, or one has passed. */
bool passage_is_decided(const struct engine *engine, const struct party *party);
/* A quorum knows that it was passed. */
bool passage_is_known(const struct engine *engine, const struct party *party);
/* No quorum can have counted this party, and none will. */
bool passage_is_left(const struct engine *engine, const struct party *party);
/* Too many masters wait for another number of parties: no quorum can count this party. */
bool passage_is_barred(const struct engine *engine, const struct party *party);
/* An honest master says that this generation is over, of which the party knows no more. */
bool passage_is_over(const struct engine *engine, const struct party *party);
/* If so: the latest generation that was passed, as far as an honest master knows. */
int64_t passage_latest(const struct engine *engine, const struct party *party);
/* The words of a quorum of masters count. */
bool passage_hears_quorum(const struct engine *engine, const struct party *party);
/* Until when the last hearing of a quorum counts; `since`: when it was first asked. */
usec passage_heard_until(const struct engine *engine, const struct party *party, usec since);

#endif
