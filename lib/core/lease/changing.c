#include "lease/lease_parts.h"
#include "masters/logical.h"

/* The lease is a reader's from now on, before any master knows.  A master that was converted has
 * the marker, with us among its readers, and any other has our token: each of them keeps writers
 * out. */
void changing_downgrade(struct engine *e, struct lease *lease)
{
    claim_downgrade(lease->claim);
    lease->downgrading = true;
    holding_ask(e, lease);
}

/* A master may be asked that grants, and on which no request is lost that might yet make a reader
 * of us. */
static void ask_to_upgrade(struct engine *e, struct lease *lease, unsigned master)
{
    if (!lease->claim->at[master].doubtful && lease_may_ask(e, lease, master))
        lease_ask(e, lease, master, false);
    else
        lease_vote_uncounted(e, lease, master);
}

void changing_upgrade(struct engine *e, struct lease *lease)
{
    bool too_late = e->now >= lease_hold_until(lease);
    if (too_late || !lease_make_room(e, lease)) {
        lease_add_outcome(e, lease, OUTCOME_NOT_CHANGED, too_late ? CAUSE_MAX_HOLD : CAUSE_MEMORY);
        return;
    }
    lease->wake_at = NEVER;
    lease_become(lease, LEASE_UPGRADING);
    lease->attempt->unfounded = false;
    attempt_open(lease->attempt, lease_masters(e), REQUEST_UPGRADE, engine_next_round(e), e->now);
    if (lease->terms.fence)
        lease->attempt->round->proposal = logical_propose(e);
    for (unsigned i = 0; i < lease_masters(e); i++)
        ask_to_upgrade(e, lease, i);
    changing_weigh(e, lease);
}

static uint16_t those_that_granted(const struct engine *e, const struct lease *lease)
{
    uint16_t masters = 0;
    for (unsigned i = 0; i < lease_masters(e); i++)
        if (lease->attempt->round->ballots[i].vote == VOTE_GRANTED)
            masters |= BIT(i);
    return masters;
}

static void end_upgrade(struct engine *e, struct lease *lease)
{
    claim_end_upgrade(e, lease->claim, those_that_granted(e, lease),
                      lease->attempt->round->asked_at);
    if (lease->terms.fence)
        lease_set_fence(lease, lease->attempt->fence);
    lease_become(lease, LEASE_HELD);
    releasing_follow_the_ledger(e, lease);
    if (!lease_is_held(lease))
        return;
    lease_add_outcome(e, lease, OUTCOME_CHANGED, CAUSE_NONE);
    lease->wake_at = lease->extending ? e->now : holding_renew_when(e, lease);
    holding_weigh(e, lease);
}

/* The lease is still a reader.  Masters that said yes keep other readers out until a renewal
 * converts them, which comes after the report of the votes. */
static void end_vain_upgrade(struct engine *e, struct lease *lease)
{
    const struct round *round = lease->attempt->round;
    unsigned answered =
        round_yes(round, lease_masters(e)) + round_count(round, lease_masters(e), VOTE_HELD);
    bool read = answered >= e->quorum && round_yes(round, lease_masters(e)) < e->quorum;
    claim_end_vain_upgrade(lease->claim);
    lease_add_outcome(e, lease, OUTCOME_NOT_CHANGED, read ? CAUSE_HELD : CAUSE_UNAVAILABLE);
    lease_become(lease, LEASE_HELD);
    lease->wake_at = holding_renew_when(e, lease);
}

void changing_weigh(struct engine *e, struct lease *lease)
{
    enum verdict verdict = round_verdict(lease->attempt->round, lease_masters(e), e->quorum);
    if (verdict == VERDICT_WON && lease->terms.fence)
        verdict = fencing_weigh(e, lease);
    if (verdict == VERDICT_WON && lease->terms.fence && !fencing_is_founded(e, lease))
        verdict = VERDICT_LOST;
    if (verdict == VERDICT_WON)
        end_upgrade(e, lease);
    else if (verdict == VERDICT_LOST)
        end_vain_upgrade(e, lease);
}
