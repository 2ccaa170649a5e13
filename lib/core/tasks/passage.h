/*
 * passage.h - what follows from what the masters have said to a party.
 */
#ifndef REDLOCK_CORE_TASKS_PASSAGE_H
#define REDLOCK_CORE_TASKS_PASSAGE_H

#include "tasks/task.h"

/* For how long what a master has said counts: half of what its quarantine lasts, as what one party
 * passes by and what another one leaves by must fit into one. */
usec passage_lasts(const struct engine *engine);
/* The master may be asked, and what it says counts. */
bool passage_counts(const struct engine *engine, unsigned master);
/* Enough parties are each on a quorum of masters, or one has passed. */
bool passage_is_decided(const struct engine *engine, const struct party *party);
/* A quorum knows that it was passed. */
bool passage_is_known(const struct engine *engine, const struct party *party);
/* No quorum can have counted this party, and none will. */
bool passage_is_left(const struct engine *engine, const struct party *party);
/* So many masters wait for another number of parties that no quorum can count this one. */
bool passage_is_barred(const struct engine *engine, const struct party *party);
/* An honest master says that this generation is over, of which the party knows no more. */
bool passage_is_over(const struct engine *engine, const struct party *party);
/* If so: the latest generation that was passed, as far as an honest master knows. */
int64_t passage_latest(const struct engine *engine, const struct party *party);
/* What a quorum of masters said counts. */
bool passage_hears_quorum(const struct engine *engine, const struct party *party);
/* Until when the last hearing of a quorum counts; `since`: when it was first asked. */
usec passage_heard_until(const struct engine *engine, const struct party *party, usec since);

#endif
