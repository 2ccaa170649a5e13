/*
 * barriers.h - what must be true of what parties at barriers are told; and the users that meet
 * there, beside what else they do.
 */
#ifndef SIM_BARRIERS_H
#define SIM_BARRIERS_H

#include "client_shell.h"

/* How much of it a run has. */
void barriers_draw(struct world *world);

/* A client tells a master that a barrier was passed: it was decided by then. */
void barriers_decided(struct world *world, int64_t generation);

/* A user may arrive at a barrier, or leave one. */
void barriers_user_acts(struct shell *shell);
/* In peace: who still waits leaves. */
void barriers_tidy_up(struct shell *shell);
/* Somebody of the client has not been told how it went. */
bool barriers_wait(const struct shell *shell);
/* The client is freed, and with it all its parties. */
void barriers_drop(struct shell *shell);

#endif
