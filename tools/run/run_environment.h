/*
 * run_environment.h - the environment of the command that `redlock run` runs.
 */
#ifndef REDLOCK_TOOLS_RUN_ENVIRONMENT_H
#define REDLOCK_TOOLS_RUN_ENVIRONMENT_H

#include <stdbool.h>

#include "options.h"
#include "redlock.h"
#include "text.h"

#define ENVIRONMENT_OURS (SETTINGS + 7)

struct environment {
    char **list; /* as execve() takes it */
    struct text ours[ENVIRONMENT_OURS];
};

/* Our own environment, with the variables that tell of the lease and of its masters, and without
 * those of a `redlock run` around us.  False: there is no memory. */
bool environment_make(struct environment *environment, const struct options *options,
                      redlock_lease *lease);

/* For a `redlock` in our place, not for the command: a list with a login is in it. */
bool environment_make_private(struct environment *environment, const struct options *options,
                              redlock_lease *lease);
/* False: the list came by a pipe, so no other process can read it. */
bool environment_has_nodes(const struct options *options);

void environment_free(struct environment *environment);

#endif
