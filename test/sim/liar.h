/*
 * liar.h - a master that says what it likes, within what is believed, and beyond.
 *
 * It carries out what it is asked like any other, and then lies about it; it also tells
 * waiters of handovers that never were.  What each kind of lie is, says enum lie.
 */
#ifndef SIM_LIAR_H
#define SIM_LIAR_H

#include "world.h"

enum lie {
    LIE_GRANT,    /* it is yours: though another has it, though nothing is stored */
    LIE_REFUSE,   /* another token has it */
    LIE_CLOCK,    /* a logical clock as far ahead as is believed */
    LIE_WILD,     /* and farther */
    LIE_RUN_ID,   /* another process at each hello */
    LIE_TWIN,     /* another master's process */
    LIE_MAX_TTL,  /* a client told it a max_ttl of up to a day */
    LIE_ABSTAIN,  /* its quarantine is long, or over */
    LIE_TIME,     /* its wall clock */
    LIE_POSITION, /* how many are ahead */
    LIE_LEFT,     /* how long the holder has it */
    LIE_PUSH,     /* it was given to you */
    LIE_AHEAD,    /* it is yours, but a waiter is ahead of you */
    LIE_RENEWAL,  /* late, healed, absent, another's */
    LIE_ERROR,    /* any other reply: errors, no script, no clock */
    LIE_FORGET,   /* and it has not done what it says */
    LIE_FLOOD,    /* it was given to you, many times over */
    LIES
};

/* Which masters lie in this run, how, and how often. */
void liar_draw(struct world *world);
bool is_liar(const struct world *world, unsigned master);
/* It claims to be a master that was met later, and that one is refused: with the liar two votes may
 * be missing, and then nothing has to come of anything. */
bool liar_took_a_vote(const struct world *world);
/* Puts a lie in place of an answer; `tolerates_twins`: the client tolerates a twin. */
void liar_answers(struct world *world, unsigned master, struct message *message,
                  bool tolerates_twins);

#endif
