/*
 * quorum.h - the arithmetic that safety rests on: votes to a verdict, and the
 * ledger of the masters' promises to a validity.
 */
#ifndef REDLOCK_CORE_QUORUM_H
#define REDLOCK_CORE_QUORUM_H

#include "event.h"

enum verdict { VERDICT_PENDING, VERDICT_WON, VERDICT_LOST };

/* A majority: any two quorums share a master. */
unsigned quorum_of(unsigned masters);

/* Decided as early as it can be: WON at the quorum-th yes, LOST as soon as too
 * few masters are left that may still say it. */
enum verdict quorum_verdict(unsigned masters, unsigned yes, unsigned undecided);

/* The most by which a clock may have run apart during a ttl: its share, and
 * 2 ms for the granularity of Redis' expiry (CLOCK_DRIFT in the paper). */
usec quorum_drift(usec ttl, int64_t drift_ppm);

/* The latest moment up to which a promise made for a request sent at `sent_at`
 * may be relied on.  Dated from the sending: the master's ttl began later. */
usec quorum_promise(usec sent_at, usec ttl, int64_t drift_ppm);

/* What a quorum of the values has reached: the quorum-th largest. */
usec quorum_reached(const usec *values, unsigned masters);

/* The longest ttl that masters tell of, but none that a single one of more than two could have
 * invented: the second largest, or the largest of one or two. */
int64_t quorum_longest(const int64_t *told, unsigned masters);

/* Until then a quorum of the masters stands by us.  A promise of 0 is none. */
usec quorum_valid_until(const usec *promises, unsigned masters);

#endif
