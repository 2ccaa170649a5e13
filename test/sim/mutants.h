/*
 * mutants.h - the rules of the core, of the client room and of connections by name, one of them
 * broken at a time.
 */
#ifndef SIM_MUTANTS_H
#define SIM_MUTANTS_H

#include <stdbool.h>

#include "byte_mutant.h"
#include "client_mutant.h"
#include "ground/mutant.h"

/* Mutants of the core have the numbers of enum mutant, from 1; those of the client room follow,
 * then those of connections. */
#define OF_CLIENT(mutant) ((int)MUTANT_COUNT - 1 + (int)(mutant))
#define OF_BYTES(mutant)  (OF_CLIENT(CLIENT_MUTANT_COUNT) - 1 + (int)(mutant))
#define MUTANTS_END       OF_BYTES(BYTE_MUTANT_COUNT)

const char *mutant_name(int mutant);
const char *mutant_text(int mutant);
/* -1: there is none of that name. */
int mutant_find(const char *name);
void mutant_set(int mutant);

#endif
