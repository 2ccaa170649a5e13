/*
 * model_barrier.h - barriers on a modelled master: arrive, depart.
 */
#ifndef SIM_MODEL_BARRIER_H
#define SIM_MODEL_BARRIER_H

#include "model_master.h"

enum answer model_arrive(struct model_master *master, usec wall, const struct model_call *call,
                         struct model_answer *answer);
enum answer model_depart(struct model_master *master, usec wall, const struct model_call *call,
                         struct model_answer *answer);
/* The latest generation of the name that is known to have been passed; -1: none. */
int64_t model_latest(const struct model_master *master, usec wall, unsigned name);
/* NULL if there is none now. */
struct model_barrier *model_barrier(struct model_master *master, usec wall, unsigned name,
                                    int64_t generation);

#endif
