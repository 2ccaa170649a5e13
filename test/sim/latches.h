/*
 * latches.h - what must be true of what is told of latches; and the users that make them, arrive,
 * wait and count, beside what else they do.
 */
#ifndef SIM_LATCHES_H
#define SIM_LATCHES_H

#include "client_shell.h"

/* How much of it a run has. */
void latches_draw(struct world *world);

/* A master has put the latch where it had none. */
void latches_put(struct world *world, uint32_t id, unsigned name);
/* A user may do something about a latch. */
void latches_user_acts(struct shell *shell);
/* In peace: who still waits is told. */
void latches_tidy_up(struct shell *shell);
/* Somebody of the client has not been told how it went. */
bool latches_wait(const struct shell *shell);
/* The client is freed, and with it all its calls. */
void latches_drop(struct shell *shell);

#endif
