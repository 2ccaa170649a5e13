/*
 * model_said.h - what is said of a name, on a modelled master: announce, unsay, observe.
 */
#ifndef SIM_MODEL_SAID_H
#define SIM_MODEL_SAID_H

#include "model_master.h"

enum answer model_announce(struct model_master *master, usec wall, const struct model_call *call,
                           struct model_answer *answer);
enum answer model_unsay(struct model_master *master, usec wall, const struct model_call *call,
                        struct model_answer *answer);
enum answer model_observe(struct model_master *master, usec wall, const struct model_call *call,
                          struct model_answer *answer);
/* Tells the observers of the name what is said, with the ms that it has left. */
void model_tell(struct model_master *master, usec wall, unsigned name,
                const struct model_said *said, int64_t left_ms, struct model_answer *answer);
/* The channel of the call is told of changes for its ttl; of 0: no longer. */
void model_listen(struct model_master *master, usec wall, const struct model_call *call);
/* What is said now; its token is 0 if nothing is. */
const struct model_said *model_said(struct model_master *master, usec wall, unsigned name);

#endif
