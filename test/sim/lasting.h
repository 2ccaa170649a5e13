/*
 * lasting.h - what stays broken in peace: a minority of masters, or of somebody's links.
 * Who reaches a quorum all the same must get whatever is promised.
 */
#ifndef SIM_LASTING_H
#define SIM_LASTING_H

#include "world.h"

/* Peace begins: draws what stays broken, if anything does. */
void lasting_begin(struct world *world);
/* The client and the master can talk. */
bool lasting_reaches(const struct world *world, unsigned client, unsigned master);
bool lasting_reaches_quorum(const struct world *world, unsigned client);
bool lasting_reaches_all(const struct world *world, unsigned client);

#endif
