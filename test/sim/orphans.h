/*
 * orphans.h - what must be true of keys: in peace none outlives what it stood for; the hooks of
 * invariants.h call this.
 */
#ifndef SIM_ORPHANS_H
#define SIM_ORPHANS_H

#include "world.h"

void orphans_look(struct world *world, unsigned master, unsigned name);
/* Whoever has a name in this data may keep it for longer, and no client can know of that. */
void orphans_excuse_holders(struct world *world, const struct model_data *data);

#endif
