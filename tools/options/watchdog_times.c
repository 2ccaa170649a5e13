#include "watchdog_times.h"

#define COARSE_MS 1000 /* many devices count whole seconds, and some begin in the middle of one */
#define RESET_MS  250  /* from the device's signal to a machine that does nothing more */

/* One part in a hundred, as the lease allows for its masters' clocks. */
static int64_t drift_of(int64_t ms)
{
    return (ms + 99) / 100;
}

int64_t watchdog_reach_ms(int64_t timeout_ms)
{
    return timeout_ms + drift_of(timeout_ms) + COARSE_MS + RESET_MS;
}

bool watchdog_may_feed(int64_t now, int64_t timeout_ms, int64_t lease_end)
{
    return now + watchdog_reach_ms(timeout_ms) <= lease_end;
}

/* A renewal is sent after a third of the ttl at the latest, and has a twelfth to be answered. */
int64_t watchdog_room_ms(int64_t ttl_ms)
{
    return ttl_ms - drift_of(ttl_ms) - ttl_ms / 3 - ttl_ms / 12;
}

int64_t watchdog_longest_s(int64_t ttl_ms)
{
    int64_t timeout_s = watchdog_room_ms(ttl_ms) / 1000;
    while (timeout_s > 0 && watchdog_reach_ms(timeout_s * 1000) > watchdog_room_ms(ttl_ms))
        timeout_s--;
    return timeout_s;
}

int64_t watchdog_ttl_ms(int64_t timeout_s)
{
    int64_t step = 100, ttl = timeout_s * 1000;
    while (watchdog_longest_s(ttl) < timeout_s)
        ttl += step;
    return ttl;
}

int64_t watchdog_early_ms(int64_t ttl_ms)
{
    int64_t longest = watchdog_longest_s(ttl_ms) * 1000;
    return watchdog_reach_ms(longest) - longest + WATCHDOG_FEED_MS + COARSE_MS;
}
