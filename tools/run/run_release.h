/*
 * run_release.h - the release in place of a `run` that was killed: `redlock unlock`, which the
 * guardian becomes when the command and all that it started have ended.
 *
 * It asks the masters over connections of its own.  A renewal of the dead `run` that comes late
 * does not heal what was released: the claim of a given token leaves marks (U7).
 */
#ifndef REDLOCK_TOOLS_RUN_RELEASE_H
#define REDLOCK_TOOLS_RUN_RELEASE_H

#include <stdbool.h>
#include <stdint.h>

#include "run_environment.h"

struct run_release {
    char **words; /* NULL: the lease runs out */
    struct environment environment;
    struct text request_timeout, connect_timeout;
    int64_t not_before; /* boot_ms(), by --at-least */
};

/* A permit has no token that another process could use, and a list that came by a pipe cannot be
 * read twice.  False: there is no memory. */
bool run_release_make(struct run_release *release, const struct options *options,
                      redlock_lease *lease, int64_t not_before);
void run_release_free(struct run_release *release);

/* Takes the place of this process, for some seconds at most. */
_Noreturn void run_release_become(const struct run_release *release);

#endif
