/*
 * watchdog_times.h - when a watchdog may be fed, and which timeout of its own fits a lease.
 *
 *   fed at t          not fed any more         the latest reset
 *      ├─── timeout, less a coarse second ──┬─────────┤ t + reach
 *      │                                    │ early   │
 *   ───┴────────────────────────────────────┴─────────┴── the lease ends ── the next holder
 *
 * A machine that was fed at t may stand still from then on.  So nothing is fed unless t + reach is
 * before the end of the lease.  doc/fencing.md has the argument.
 */
#ifndef REDLOCK_TOOLS_WATCHDOG_TIMES_H
#define REDLOCK_TOOLS_WATCHDOG_TIMES_H

#include <stdbool.h>
#include <stdint.h>

#define WATCHDOG_FEED_MS 500 /* from one feed to the next */
#define WATCHDOG_LEAST_S 2   /* one that counts coarse seconds may end a shorter one at once */

/* A machine that nobody feeds has been reset that long after the last feed, whatever the device's
 * clock. */
int64_t watchdog_reach_ms(int64_t timeout_ms);

bool watchdog_may_feed(int64_t now, int64_t timeout_ms, int64_t lease_end);

/* A lease that is renewed in time is valid for that long, or longer, at every moment. */
int64_t watchdog_room_ms(int64_t ttl_ms);

/* The longest timeout that can be fed at every moment of such a lease; below WATCHDOG_LEAST_S:
 * there is none. */
int64_t watchdog_longest_s(int64_t ttl_ms);

/* The shortest ttl that has room for this timeout. */
int64_t watchdog_ttl_ms(int64_t timeout_s);

/* Where a lease is not renewed any more, the reset comes at most that long before its end.  The
 * command must be gone by then. */
int64_t watchdog_early_ms(int64_t ttl_ms);

#endif
