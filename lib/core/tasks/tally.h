/*
 * tally.h - what follows from what the masters have said of a latch.
 *
 * A master counts if it votes and its very process has the latch.  That somebody has arrived, and
 * that the latch is open, stays true.
 */
#ifndef REDLOCK_CORE_TASKS_TALLY_H
#define REDLOCK_CORE_TASKS_TALLY_H

#include "tasks/task.h"

/* This master has the latch, as it said when it was asked last. */
bool tally_has(const struct engine *engine, const struct latcher *latcher, unsigned master);
/* The number of masters that have it, and were asked at `from` or later; 0: at any time. */
unsigned tally_readers(const struct engine *engine, const struct latcher *latcher, usec from);
/* So many must be read before the latch is put on another one: every arrival that was told to be
 * counted is on more of them than may be wrong. */
unsigned tally_readers_enough(const struct engine *engine);
/* What a quorum of masters says, of the id that is asked for, or of any; NULL if there is none. */
const struct latch_record *tally_found(const struct engine *engine, const struct latcher *latcher);
/* No quorum of masters can have it, as far as was asked at `from` or later; 0: at any time. */
bool tally_is_gone(const struct engine *engine, const struct latcher *latcher, usec from);
/* Another latch of the name, which a quorum of masters may have; NULL if there is none. */
const struct latch_record *tally_other(const struct engine *engine, const struct latcher *latcher);
/* A quorum of masters says this. */
bool tally_has_quorum(const struct engine *engine, const struct latcher *latcher,
                      const struct latch_record *record);
/* Others were made at the same time, on so many masters each that no quorum can have any of them.
 */
bool tally_is_split(const struct engine *engine, const struct latcher *latcher);

/* The number of arrivals that at least `least` masters count. */
unsigned tally_arrived(const struct engine *engine, const struct latcher *latcher, unsigned least);
/* Writes them one a line, in order; `to` may be NULL.  Returns the number of bytes. */
size_t tally_list(const struct engine *engine, const struct latcher *latcher, unsigned least,
                  char *to);
/* Enough have arrived, or it was opened. */
bool tally_is_open(const struct engine *engine, const struct latcher *latcher);
/* A quorum of masters has it, and too few have arrived: nobody was told that it is open before they
 * were asked. */
bool tally_is_shut(const struct engine *engine, const struct latcher *latcher);
/* A quorum of masters counts the arrival; knows that it is open. */
bool tally_counts_arrival(const struct engine *engine, const struct latcher *latcher);
bool tally_knows_open(const struct engine *engine, const struct latcher *latcher);

#endif
