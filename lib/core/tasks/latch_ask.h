/*
 * latch_ask.h - what a call about a latch asks of which master, and when.
 */
#ifndef REDLOCK_CORE_TASKS_LATCH_ASK_H
#define REDLOCK_CORE_TASKS_LATCH_ASK_H

#include "tasks/task.h"

/* It is known what a quorum has, or CREATE: what it shall have. */
static inline bool latch_is_bound(const struct latcher *latcher)
{
    return latcher->record.arrivals != 0;
}

void latch_ask_all(struct engine *engine, struct latcher *latcher);
/* No master will soon say more. */
bool latch_is_answered(const struct engine *engine, const struct latcher *latcher);
/* The latch is being put on a master that has none, or one may yet say that it has none: who has
 * come to know a quorum leaves the masters as they should be. */
bool latch_is_mending(const struct engine *engine, const struct latcher *latcher);
/* Takes away what was not made: it is in nobody's way then.  Where somebody has arrived at it, it
 * stays. */
void latch_withdraw(struct engine *engine, struct latcher *latcher);
/* Who began to make a latch so long before has given up, and so has whoever began to make one while
 * that still went on: a master takes it away for others than its maker when it has had it for so
 * long. */
usec latch_old_age(const struct engine *engine);
/* Takes away what others have left of latches that no quorum can have. */
void latch_clear_all(struct engine *engine, struct latcher *latcher);
void latch_drop(struct engine *engine, struct latcher *latcher, unsigned master);

#endif
