/*
 * fences.h - what must be true of fencing tokens; the hooks of invariants.h call
 * these.
 */
#ifndef SIM_FENCES_H
#define SIM_FENCES_H

#include "client_shell.h"

/* A client sends a fenced acquire. */
void fences_sent(struct world *world, uint32_t token);
/* A master gives the token what it did not have, with this number. */
void fences_granted(struct world *world, unsigned master, uint32_t token, usec clock);
/* A grant is prolonged before ACQUIRED is told. */
void fences_confirmed(struct world *world, uint32_t token);
/* A master has carried out a request about a token. */
void fences_executed(struct world *world, unsigned master, const struct message *message);
/* ACQUIRED is told: its fence is new, stored on a quorum, and above those before it. */
void fences_acquired(struct user_lease *lease, const redlock_event *event);
/* Any later outcome: its fence is still the same. */
/* Likewise with CHANGED: it is a writer's. */
void fences_upgraded(struct user_lease *lease, const redlock_event *event);
void fences_told(struct user_lease *lease, const redlock_event *event);

/* The master's logical clock is further ahead of the walls than any honest one. */
bool fences_clock_is_ahead(const struct world *world, unsigned master);

#endif
