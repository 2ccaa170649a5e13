#include "lease/lease_parts.h"
#include "ground/mutant.h"

#define PAUSE_FIRST MS(10)   /* after the second time */
#define CALM        MS(1000) /* after that long without yielding, the pauses begin anew */

/* Gives back what the waiter has, and ends its place: the release of the token is on its way, so
 * the token must never be granted again. */
static void withdraw(struct engine *e, struct lease *lease)
{
    claim_abandon(e, lease->claim, 0);
    claim_let_go(&lease->claim);
    place_note_answers(e, lease->attempt);
    round_close(lease->attempt->round, lease_masters(e));
    lease_become(lease, LEASE_PAUSING);
}

void yielding_stay_away(struct engine *e, struct lease *lease)
{
    if (lease->claim)
        withdraw(e, lease);
    lease->wake_at = e->now + engine_jitter(e, queue_life(lease) / 16, queue_life(lease) / 8);
    lease_wake_by(lease, lease_wait_until(lease));
}

/* The first time there is no pause.  A waiter that must give back again and again, by whatever
 * masters say, asks ever less often. */
usec yielding_pause(struct engine *e, const struct lease *lease)
{
    struct attempt *attempt = lease->attempt;
    if (e->now > attempt->yielded_at + CALM)
        attempt->yields = 0;
    attempt->yielded_at = e->now;
    unsigned before = attempt->yields;
    attempt->yields += attempt->yields < UINT8_MAX;
    if (!before || MUTANT(YIELD_UNPAUSED))
        return 0;
    usec longest = before < 6 ? PAUSE_FIRST << (before - 1) : YIELD_PAUSE_LAST;
    return engine_jitter(e, longest / 2, longest < YIELD_PAUSE_LAST ? longest : YIELD_PAUSE_LAST);
}

void yielding_begin(struct engine *e, struct lease *lease)
{
    e->counters.yields++;
    withdraw(e, lease);
    lease->wake_at = e->now + yielding_pause(e, lease);
    lease_wake_by(lease, lease_wait_until(lease));
}
