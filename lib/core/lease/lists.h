/*
 * lists.h - the engine's list that a lease is in: idle, busy or held.
 */
#ifndef REDLOCK_CORE_LISTS_H
#define REDLOCK_CORE_LISTS_H

#include "ground/shared.h"

/* Moves the lease from its present list. */
void engine_list(struct engine *engine, struct lease_list *list, struct lease *lease);
void engine_unlist(struct engine *engine, struct lease *lease);
/* Visits each lease of the list; a visit may move any lease, and no visit begins within another. */
void lists_each(struct engine *engine, const struct lease_list *list,
                void (*visit)(struct engine *engine, struct lease *lease, unsigned master),
                unsigned master);

#endif
