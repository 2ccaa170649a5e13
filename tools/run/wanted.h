/*
 * wanted.h - a `redlock run` hears that somebody wishes to have its lock: --on-wanted,
 * --yield-when-wanted.
 */
#ifndef REDLOCK_TOOLS_WANTED_H
#define REDLOCK_TOOLS_WANTED_H

#include "redlock/recipes.h"
#include "session.h"

struct wanted {
    struct session *session;
    redlock_heeder *heeder;                              /* NULL: it does not heed */
    char **environment;                                  /* of the command of --on-wanted */
    void (*yield)(void *data, const redlock_wish *wish); /* called at the first wish; or NULL */
    void *data;
};

/* The lease is held from now on. */
void wanted_start(struct wanted *wanted, redlock_lease *lease);
void wanted_stop(struct wanted *wanted);

#endif
