/*
 * mutants.h - the core's safety rules by name, one of them broken at a time.
 */
#ifndef SIM_MUTANTS_H
#define SIM_MUTANTS_H

#include <stdbool.h>

#include "mutant.h"

const char *mutant_name(enum mutant mutant);
const char *mutant_text(enum mutant mutant);
bool mutant_find(const char *name, enum mutant *mutant);
void mutant_set(enum mutant mutant);

#endif
