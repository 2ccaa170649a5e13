/*
 * quorum.h - the arithmetic that safety rests on: from votes to a verdict, and
 * from the masters' promises to a validity.
 */
#ifndef REDLOCK_CORE_QUORUM_H
#define REDLOCK_CORE_QUORUM_H

#include "ground/event.h"

enum verdict { VERDICT_PENDING, VERDICT_WON, VERDICT_LOST };

/* The smallest quorum of which any two share more than `spare` masters: one that both share is not
 * wrong, if no more than `spare` are.  Without spare votes it is a majority. */
unsigned quorum_of(unsigned masters, unsigned spare);

/* The fewest masters that tolerate a silent one beside `spare` wrong ones; 1 if `spare` is 0. */
unsigned quorum_least_masters(unsigned spare);

/* The verdict as early as it is certain: WON at the quorum-th yes, LOST as soon as the undecided
 * masters cannot make up a quorum any more. */
enum verdict quorum_verdict(unsigned quorum, unsigned yes, unsigned undecided);

/* The most that two clocks may run apart during a ttl: a share of the ttl, and 2 ms for the
 * granularity of Redis' expiry (CLOCK_DRIFT in the paper). */
usec quorum_drift(usec ttl, int64_t drift_ppm);

/* The shortest ttl, of whole milliseconds, whose promise lasts for `validity`. */
usec quorum_ttl_for(usec validity, int64_t drift_ppm);

/* The moment until which the promise made to a request sent at `sent_at` may be relied on.  It is
 * dated from the sending, for the master's ttl began no earlier. */
usec quorum_promise(usec sent_at, usec ttl, int64_t drift_ppm);

/* The rank-th largest value; the largest has rank 1. */
usec quorum_ranked(const usec *values, unsigned count, unsigned rank);

/* The largest value that more than `spare` of the masters have reached: one of these masters is
 * honest.  The smallest value if there are too few; 0 if there is none. */
usec quorum_vouched(const usec *values, unsigned count, unsigned spare);

/* The longest ttl that masters tell of, without those that `spare` masters (without spare votes:
 * one of more than two) could have invented. */
int64_t quorum_longest(const int64_t *told, unsigned masters, unsigned spare);

/* The moment until which a quorum of masters has promised.  A promise of 0 is none. */
usec quorum_valid_until(const usec *promises, unsigned masters, unsigned quorum);

#endif
