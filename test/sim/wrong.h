/*
 * wrong.h - masters that are wrong, and how many of them at once.
 *
 * A master is wrong that lies (liar.h), always; or that forgets and goes on voting: it is flushed,
 * loses a key, its wall clock jumps ahead, another process takes its place that is empty or stale,
 * and has run for long.  Who forgets is wrong until all that it may have forgotten is over; and as
 * long as its wall clock is ahead, or its logical clock, which may have begun anew by that, is
 * ahead of what is believed.
 */
#ifndef SIM_WRONG_H
#define SIM_WRONG_H

#include "client_shell.h"

/* Its own arithmetic: a mutant of the core shall not move the judge. */
unsigned wrong_quorum(unsigned masters, unsigned spare);
/* How many masters there are, how many votes are spare, how many may be wrong at once. */
void wrong_draw(struct world *world);
/* How many spare votes the client that starts now has. */
unsigned wrong_spare_of_client(struct world *world);
/* The master forgets, if no more are wrong then than may be. */
void wrong_forget(struct world *world, unsigned master);
/* Clocks that jumped are set right. */
void wrong_end(struct world *world);
/* It lies, or has forgotten what it may not. */
bool is_wrong(const struct world *world, unsigned master);
/* So many may be wrong, and these two clients exclude each other: their quorums have an honest
 * master in common. */
bool wrong_pair_tolerated(const struct world *world, unsigned quorum, unsigned other);
/* More masters are wrong than this rule tolerates; not where the run asked for that. */
bool wrong_may_break(const struct world *world, const char *rule);

#endif
