/*
 * grants.h - what must be true of what masters grant, renew and heal: when they may, and how long
 * it is kept; the hooks of invariants.h call this.
 */
#ifndef SIM_GRANTS_H
#define SIM_GRANTS_H

#include "client_shell.h"

/* A master has carried out a request about a token. */
void grants_executed(struct world *world, unsigned master, const struct message *message);

#endif
