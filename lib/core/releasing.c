#include "engine.h"
#include "lease_parts.h"

static void hope_for_release(struct engine *e, struct lease *lease, unsigned master)
{
    const struct standing *at = &lease->claim->at[master];
    if (at->presence == ABSENT)
        round_say(lease->round, master, SAID_FREE);
    else if (master_is_up(&e->masters[master]) || master_is_hopeful(&e->masters[master]))
        lease->round->ballots[master].state = BALLOT_HOPED;
    else
        round_say(lease->round, master, SAID_UNREACHABLE);
}

void releasing_begin(struct engine *e, struct lease *lease)
{
    /* Validity ends first: from here on valid_for() is 0. */
    lease->state = LEASE_RELEASING;
    lease->valid_until = 0;
    lease->untold &= (uint16_t)~WHILE_HELD;
    engine_unlist(e, lease);
    engine_list(e, &e->busy, lease);
    if (!lease->round)
        lease->round = engine_take_round(e);
    if (!lease->round) {
        claim_abandon(e, lease->claim, 0);
        claim_let_go(lease);
        lease_end(e, lease, OUTCOME_RELEASED, CAUSE_UNAVAILABLE);
        return;
    }
    round_begin(lease->round, lease_masters(e), REQUEST_RELEASE, engine_next_round(e),
                e->now + e->config.connect_timeout);
    for (unsigned i = 0; i < lease_masters(e); i++)
        hope_for_release(e, lease, i);
    claim_abandon(e, lease->claim, 0);
    lease_weigh(e, lease);
}

uint32_t lease_paying(struct engine *e, struct lease *lease, unsigned master)
{
    if (lease->state != LEASE_RELEASING || !lease->round || /* memory was out */
        lease->round->ballots[master].state == BALLOT_CLOSED)
        return 0;
    round_ask(lease->round, master, e->now);
    return lease->round->number;
}

/* Gone is certain once too few masters can still have had it; that too few answered
 * is known only when nobody is left to answer. */
void releasing_weigh(struct engine *e, struct lease *lease)
{
    const struct round *round = lease->round;
    unsigned said_no = round_count(round, lease_masters(e), SAID_FREE) +
                       round_count(round, lease_masters(e), SAID_HELD);
    enum cause cause = CAUSE_NONE;
    if (round_yes(round, lease_masters(e)) >= e->quorum)
        e->counters.released++;
    else if (lease_masters(e) - said_no < e->quorum)
        cause = CAUSE_GONE;
    else if (round_undecided(round, lease_masters(e)) == 0)
        cause = CAUSE_UNAVAILABLE;
    else
        return;
    claim_let_go(lease);
    lease_end(e, lease, OUTCOME_RELEASED, cause);
}

void lease_release(struct engine *e, struct lease *lease)
{
    holding_notice_the_end(e, lease);
    switch (lease->state) {
    case LEASE_ACQUIRING:
    case LEASE_WAITING:
        acquiring_cancel(e, lease, CAUSE_CANCELLED);
        break;
    case LEASE_HELD:
        if (lease->untold & BIT(OUTCOME_ACQUIRED))
            acquiring_cancel(e, lease, CAUSE_CANCELLED);
        else if (!passing_hand_over(e, lease))
            releasing_begin(e, lease);
        break;
    case LEASE_LOST:
        if (lease->claim)
            claim_abandon(e, lease->claim, 0);
        claim_let_go(lease);
        lease->valid_until = 0;
        lease_end(e, lease, OUTCOME_RELEASED, CAUSE_GONE);
        break;
    case LEASE_IDLE:
        if (lease->attached && !lease->asked_at) { /* by the token of another process */
            lease->asked_at = e->now;
            releasing_begin(e, lease);
        }
        break;
    default:
        break;
    }
    lease_schedule(e, lease);
}

/* The patience of the user who closes is over: what is not confirmed stays owed. */
void lease_give_up(struct engine *e, struct lease *lease)
{
    if (lease->state != LEASE_RELEASING)
        return;
    claim_let_go(lease);
    lease_end(e, lease, OUTCOME_RELEASED, CAUSE_UNAVAILABLE);
}
