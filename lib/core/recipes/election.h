/*
 * election.h - an announcer, which says a value of a name, and an observer, which hears it.
 */
#ifndef REDLOCK_CORE_RECIPES_ELECTION_H
#define REDLOCK_CORE_RECIPES_ELECTION_H

#include "recipes/saying.h"
#include "recipes/task.h"

struct announced_at {
    int64_t stored;      /* the number that this master has stored; 0: none */
    int64_t asked;       /* the number of the request that is outstanding */
    usec due;            /* it is asked again then */
    struct saying *sent; /* what that request points to */
};

struct announcer {
    struct task task;
    struct lease *lease;
    char token[TOKEN_MAX + 1];
    usec term;
    struct saying *saying; /* what is to be said; its number counts up */
    int64_t told;          /* the number that a quorum was told to have stored */
    uint16_t touched;      /* masters (bits) where something may be said */
    struct announced_at at[];
};

/* What a master has said, as far as an observer knows. */
struct heard {
    bool known;            /* something, or that nothing is said */
    struct saying *saying; /* NULL: nothing */
    usec asked_at;         /* it was so at some time after that; 0: a push says so */
    usec expires;          /* it is not known any more from then on */
    bool overtaken;        /* since it was asked, a push came, or pushes have begun to be heard */
    usec answered;         /* when that was asked which was answered last, well or not; 0: ask it */
    usec due;              /* it is asked again then */
};

struct observer {
    struct task task;
    enum observed state, told;       /* what is known, and what the user was told */
    struct saying *said, *said_told; /* likewise; NULL unless SAID */
    usec latest_term;                /* of the last that was SAID; 0: none was */
    int64_t latest_number;
    usec verified_from; /* nothing asked before counts for what is to replace the state; 0: the
                           state stands */
    char trouble[VOTE_TEXT_MAX]; /* the last error of a master that answers with one still, or "" */
    uint8_t troubled;            /* that master */
    struct heard of[];
};

void announcer_work(struct engine *engine, struct announcer *announcer);
void announcer_hear(struct engine *engine, struct announcer *announcer, unsigned master,
                    const struct reply *reply);
/* Its process may be another one when it comes up again, and may have lost what is said. */
void announcer_forget(struct announcer *announcer, unsigned master);
void announcer_end(struct engine *engine, struct announcer *announcer);
void announcer_free(struct engine *engine, struct announcer *announcer);
bool announcer_tell(struct engine *engine, struct announcer *announcer, struct task_news *news);

void observer_work(struct engine *engine, struct observer *observer);
void observer_hear(struct engine *engine, struct observer *observer, unsigned master,
                   const struct reply *reply);
/* The same for what it has said. */
void observer_forget(struct engine *engine, struct observer *observer, unsigned master);
void observer_subscribed(struct engine *engine, struct observer *observer, unsigned master);
void observer_push(struct engine *engine, struct observer *observer, unsigned master,
                   const struct said *said);
/* The masters need not tell it of changes any more. */
void observer_end(struct engine *engine, struct observer *observer);
void observer_free(struct engine *engine, struct observer *observer);
bool observer_tell(struct engine *engine, struct observer *observer, struct task_news *news);

#endif
