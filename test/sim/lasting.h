/*
 * lasting.h - faults that stay in peace: a minority of masters, or of a client's links.  A client
 * that still reaches a quorum must get all that is promised.
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
