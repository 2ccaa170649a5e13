/*
 * advice.h - what to do about a master of which something is known.
 */
#ifndef REDLOCK_TOOLS_ADVICE_H
#define REDLOCK_TOOLS_ADVICE_H

#include "redlock.h"
#include "text.h"
#include "trial.h"

/* Each piece of advice ends with a newline. */
void advise_on_node(struct text *out, const redlock_node *node, const struct finding *finding);

#endif
