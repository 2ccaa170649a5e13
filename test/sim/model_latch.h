/*
 * model_latch.h - latches on a modelled master: tally, mend, drop.
 */
#ifndef SIM_MODEL_LATCH_H
#define SIM_MODEL_LATCH_H

#include "model_master.h"

enum answer model_tally(struct model_master *master, usec wall, const struct model_call *call,
                        struct model_answer *answer);
enum answer model_mend(struct model_master *master, usec wall, const struct model_call *call,
                       struct model_answer *answer);
enum answer model_drop(struct model_master *master, usec wall, const struct model_call *call);
/* What this very process was given of a name; NULL: nothing. */
struct model_latch *model_latch(struct model_master *master, usec wall, unsigned name);

#endif
