/*
 * model_tasks.h - what tasks ask of a modelled master.
 */
#ifndef TESTING_MODEL_TASKS_H
#define TESTING_MODEL_TASKS_H

#include "model_master.h"

/* ---- model_said.c: what is said of a name: announce, unsay, observe, ask ---- */

enum answer model_announce(struct model_master *master, usec wall, const struct model_call *call,
                           struct model_answer *answer);
enum answer model_unsay(struct model_master *master, usec wall, const struct model_call *call,
                        struct model_answer *answer);
enum answer model_observe(struct model_master *master, usec wall, const struct model_call *call,
                          struct model_answer *answer);
enum answer model_ask(struct model_master *master, usec wall, const struct model_call *call,
                      struct model_answer *answer);
/* Tells the observers of the name what is said, with the ms that it has left. */
void model_tell(struct model_master *master, usec wall, unsigned name,
                const struct model_said *said, int64_t left_ms, struct model_answer *answer);
/* Another process has released the token: see taken.lua. */
void model_tell_taken(struct model_master *master, usec wall, const struct model_call *call,
                      struct model_answer *answer);
/* The channel of the call hears of changes for its ttl; of 0: no longer. */
void model_listen(struct model_master *master, usec wall, const struct model_call *call);
/* The present announcement; its token is 0 if there is none. */
const struct model_said *model_said(struct model_master *master, usec wall, unsigned name);

/* ---- model_barrier.c: arrive, depart ---- */

enum answer model_arrive(struct model_master *master, usec wall, const struct model_call *call,
                         struct model_answer *answer);
enum answer model_depart(struct model_master *master, usec wall, const struct model_call *call,
                         struct model_answer *answer);
/* The latest generation of the name that is known to have been passed; -1: none. */
int64_t model_latest(const struct model_master *master, usec wall, unsigned name);
/* NULL if there is none now. */
struct model_barrier *model_barrier(struct model_master *master, usec wall, unsigned name,
                                    int64_t generation);

/* ---- model_latch.c: tally, mend, drop ---- */

enum answer model_tally(struct model_master *master, usec wall, const struct model_call *call,
                        struct model_answer *answer);
enum answer model_mend(struct model_master *master, usec wall, const struct model_call *call,
                       struct model_answer *answer);
enum answer model_drop(struct model_master *master, usec wall, const struct model_call *call);
/* This very process's record of a name; NULL: none. */
struct model_latch *model_latch(struct model_master *master, usec wall, unsigned name);

/* ---- model_lists.c: agree ---- */

void model_agree(struct model_master *master, usec wall, struct model_agree *agree);

#endif
