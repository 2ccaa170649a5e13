/*
 * elect.h - what `redlock elect` does beyond `redlock run`.
 */
#ifndef REDLOCK_TOOLS_ELECT_H
#define REDLOCK_TOOLS_ELECT_H

#include "run.h"

/* It leads: announces the value, which is the label of its token if none was given. */
void elect_announce(struct run *run);
/* It was lost, and is to stand again once it has released. */
bool elect_is_to_stand_again(const struct run *run);
/* Forgets the rest of the last term. */
void elect_forget_term(struct run *run);

#endif
