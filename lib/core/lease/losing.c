#include "lease/lease_parts.h"
#include "ground/mutant.h"

static void lose(struct engine *e, struct lease *lease, enum cause cause)
{
    if (lease->untold & BIT(OUTCOME_ACQUIRED)) {
        acquiring_unsay(e, lease);
        return;
    }
    if (cause == CAUSE_EXPIRED && e->now >= lease_hold_until(lease))
        cause = CAUSE_MAX_HOLD;
    e->counters.lost++;
    if (cause == CAUSE_EXPIRED && lease_round(lease))
        round_time_out(lease_round(lease), lease_masters(e));
    lease_become(lease, LEASE_LOST);
    lease->untold &= (uint16_t)~WHILE_HELD;
    engine_list(e, &e->idle, lease);
    deadlines_set(&e->deadlines, &lease->deadline, NEVER);
    /* The holder may still be winding down: others get the names when validity has ended. */
    bool at_once = cause == CAUSE_GONE || MUTANT(RELEASED_TOO_SOON);
    if (leaving_is_due(e, lease) || lease->left)
        leaving_end(e, lease);
    else
        claim_abandon(e, lease->claim, at_once ? 0 : lease->valid_until);
    lease_add_outcome(e, lease, OUTCOME_LOST, cause);
}

/* Called before anything else is done with a lease, whatever woke it: past its time it is lost, and
 * never comes back. */
void losing_notice(struct engine *e, struct lease *lease)
{
    if (lease_is_held(lease) && holding_is_over(e, lease))
        lose(e, lease, CAUSE_EXPIRED);
}

/* One master may have a wrong clock, or have lost its keys.  If no quorum is left without the
 * masters that say so, either the clock that stood still is ours, or the lease was gone for a
 * moment and another one may have had the names. */
static bool is_given_up(const struct engine *e, const struct lease *lease)
{
    const struct round *round = lease_round(lease);
    unsigned most = lease_masters(e) - e->quorum;
    return round && (round_late(round, lease_masters(e)) > most ||
                     round_broken(round, lease_masters(e)) > most);
}

/* The ledger gives validity; it shrinks when a master says that the lease is gone. */
void losing_follow_the_ledger(struct engine *e, struct lease *lease)
{
    if (!lease_is_held(lease))
        return;
    lease->valid_until = is_given_up(e, lease) ? 0 : fencing_valid_until(e, lease);
    if (e->now >= lease->valid_until)
        lose(e, lease, CAUSE_GONE);
}
