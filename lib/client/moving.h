/*
 * moving.h - the end of a move: the lease is the other client's, or stays where it is.
 */
#ifndef REDLOCK_CLIENT_MOVING_H
#define REDLOCK_CLIENT_MOVING_H

#include "moves.h"

/* The lease of this shadow is over by now, or its user wants it nowhere. */
bool moving_is_vain(const redlock_lease *shadow, usec now);
/* True: this is its outcome, whatever the masters say. */
bool moving_take_outcome(const redlock_lease *shadow, struct outcome *outcome);
/* Its client has something to do for the lease first, or to tell. */
bool moving_must_wait(const redlock_lease *shadow);
/* The shadow has this outcome, at this moment: the lease has moved, or not.  Calls the user. */
void moving_tell(redlock_lease *shadow, const struct outcome *outcome);
/* Frees the shadow; the masters keep what it has there. */
void moving_drop(redlock_lease *shadow);

#endif
