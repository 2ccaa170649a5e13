/*
 * change.h - `redlock masters change`: leads all clients of a fleet to another list of masters.
 */
#ifndef REDLOCK_TOOLS_CHANGE_H
#define REDLOCK_TOOLS_CHANGE_H

#include "options.h"

/* Both return the exit status.  The second takes back that the present list is over. */
int perform_change(const struct options *options);
int perform_undo(const struct options *options);

#endif
