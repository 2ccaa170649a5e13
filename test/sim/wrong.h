/*
 * wrong.h - masters that are wrong, and how many of them at once.
 *
 * A liar (liar.h) is always wrong.  A master that forgets and goes on voting is wrong for a time.
 * It is flushed, loses a key, or its wall clock jumps ahead; or a process that is empty or stale,
 * and has run for long, takes its place.  It stays wrong until all that it may have forgotten is
 * over, and while its wall clock is ahead.  It also stays wrong while its logical clock, which may
 * have begun anew by that wall clock, is ahead of what is believed.
 *
 * N and f are (4, 1), (5, 1), (7, 1) or (7, 2), and at most f masters are wrong at once.  Liars
 * take turns: an empty process replaces one, and another begins.  Only a wrong master's own acts
 * are excused.  In one run of five with f = 1 some clients have a spare vote and others have none:
 * any two are judged by what their quorums have in common.
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
/* These two clients exclude each other in spite of the wrong masters: their quorums have an honest
 * master in common. */
bool wrong_pair_tolerated(const struct world *world, unsigned quorum, unsigned other);
/* More masters are wrong than this rule tolerates; not where the run asked for that. */
bool wrong_may_break(const struct world *world, const char *rule);

#endif
