/*
 * liar.h - a master that lies, within what is believed and beyond it.
 *
 * It carries out requests like any other master, and then lies about them.  It also pushes
 * handovers that never were.  enum lie has the kinds.
 *
 * With an odd number of masters one liar can make two holders, so exclusion, backing, fence,
 * stored, turn, order and healing are not judged.  With an even number any two quorums share an
 * honest master, so all is judged but the liar's own acts.  A liar may claim now and then to be
 * another master, which a client then refuses: progress is not judged until 25 s after that.
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
/* It claims to be a master that the client meets later, and refuses: two votes may be missing
 * then, so nothing is sure to succeed. */
bool liar_took_a_vote(const struct world *world);
/* Puts a lie in place of an answer; `tolerates_twins`: the client tolerates a twin. */
void liar_answers(struct world *world, unsigned master, struct message *message,
                  bool tolerates_twins);

#endif
