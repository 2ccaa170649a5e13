/*
 * agreement.h - which lists of masters the clients of a fleet count on, and whether two of them may
 * be in use together (doc/design/agreement.md).
 *
 * Each master remembers what clients say and tells it; each client compares.  The last answer of a
 * master on the present connection is its word.
 */
#ifndef REDLOCK_CORE_AGREEMENT_H
#define REDLOCK_CORE_AGREEMENT_H

#include "ground/shared.h"
#include "ground/told_list.h"

/* The master's word counts. */
bool agreement_has_word(const struct engine *engine, unsigned master);
/* We count on our list no more, and no lease rests on it. */
bool agreement_is_over(const struct engine *engine);
/* Our words to this master now; they stay until the next call. */
const struct agree_request *agreement_say(struct engine *engine, unsigned master);
/* The master has answered what was asked at `sent_at`; no text: it remembers nothing. */
void agreement_hear(struct engine *engine, unsigned master, usec sent_at, struct slice lists);
/* It has not noted us now.  An earlier word of it counts on; without one we say our list again
 * before we ask for a promise. */
void agreement_hear_nothing(struct engine *engine, unsigned master);
/* The connection has ended. */
void agreement_forget(struct engine *engine, unsigned master);
/* The master's word counts no more, and no promise does until its next word. */
void agreement_expire(struct engine *engine, unsigned master);
/* Our list is over by too few masters for its user to know the next one: the others are asked. */
bool agreement_wants_ends(const struct engine *engine);
/* They have been asked. */
bool agreement_awaits_ends(const struct engine *engine);
/* Compares anew; true if that changed whether our list may be used. */
bool agreement_judge(struct engine *engine);
/* Words are so old that we say our list again before we ask for a promise. */
static inline bool agreement_is_due(const struct engine *engine)
{
    return engine->now > engine->say_again_at;
}

bool agreement_holds_on_looking(const struct engine *engine, unsigned master);

/* Promises of all masters count now.  Each answer asks this. */
static inline bool agreement_is_sure(const struct engine *engine)
{
    return engine->now <= engine->words_hold_until;
}

/* A promise of the master counts now. */
static inline bool agreement_holds(const struct engine *engine, unsigned master)
{
    return agreement_is_sure(engine) || agreement_holds_on_looking(engine, master);
}
/* A promise counts.  If each process is known to have lived after all that words tell of others, no
 * answer changes that until the next word, hello or connection: see lived_together(). */
void agreement_settle(struct engine *engine);
bool agreement_may_turn_on_looking(const struct engine *engine);

/* Our list may not be used; or masters that are being connected to for the first time may show so.
 * Each win asks this. */
static inline bool agreement_may_turn(const struct engine *engine)
{
    return engine->in_question && agreement_may_turn_on_looking(engine);
}
/* The list for which ours is refused, and the master that tells it; false: ours is not refused. */
bool agreement_other(const struct engine *engine, struct told_list *list, unsigned *master);
/* Ours is refused because it is over, by more masters than a quorum can do without.  `successor`:
 * the list in place of it, as one of them tells. */
bool agreement_successor(const struct engine *engine, struct slice *successor);
/* The list of others with our masters but other spare votes, or another max_ttl; of several that
 * with the most.  False: no more masters tell of one than may be wrong. */
bool agreement_unlike(const struct engine *engine, struct told_list *list);

/* The lists that the masters tell; of a client that says its own, the others alone.  Returns their
 * number. */
unsigned agreement_lists(const struct engine *engine, struct list_in_use *lists);
/* All lists in use, with our own; 0: none is known. */
unsigned agreement_count(const struct engine *engine);

#endif
