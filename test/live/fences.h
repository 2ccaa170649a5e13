/*
 * fences.h - fenced leases in a live test, and the masters' logical clocks.
 */
#ifndef REDLOCK_TEST_FENCES_H
#define REDLOCK_TEST_FENCES_H

#include "user.h"

#define FENCE_TTL 2000     /* the longest too, so that restarted masters abstain briefly */
#define WINDOW_US 60000000 /* logical clocks go no further beyond wall clocks */
#define BUSY_US   5000000  /* between two looks at clocks, on a busy machine */

/* As cluster_start(), for clients of fence_options(). */
void fence_cluster(struct cluster *cluster, unsigned count, const char *flags);
redlock_options fence_options(void);
redlock_lease_options fence_terms(int64_t wait_ms);

/* Takes the name and releases it; returns the fence. */
int64_t fence_once(struct user *user, const char *name);

/* A master's logical clock, its wall clock; us. */
int64_t logical_clock(struct cluster *cluster, unsigned master);
int64_t wall_clock(struct cluster *cluster, unsigned master);
/* How far the logical clock is ahead. */
int64_t clock_ahead(struct cluster *cluster, unsigned master);
/* As if the masters had started long ago: sets logical clocks to wall clocks. */
void settle_clocks(struct cluster *cluster);

#endif
