/*
 * name_set.h - names, each once, in the order in which they came.
 *
 * Without memory the process ends, as memory.h says.
 */
#ifndef REDLOCK_TOOLS_NAME_SET_H
#define REDLOCK_TOOLS_NAME_SET_H

#include "redlock.h"

struct name_set {
    redlock_name *names;
    size_t count;
    size_t *places; /* of a hash table: the index of a name, and 1; 0: none */
    size_t room;    /* places; of names half as many */
};

/* Copies the name, unless it is there. */
void name_set_add(struct name_set *set, const redlock_name *name);
void name_set_free(struct name_set *set);

#endif
