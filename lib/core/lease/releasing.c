#include "lease/lease_parts.h"

static void await_release(struct engine *e, struct lease *lease, unsigned master)
{
    const struct ledger_entry *at = &lease->claim->at[master];
    if (at->presence == ABSENT)
        round_vote(lease->attempt->round, master, VOTE_FREE);
    else if (master_is_up(&e->masters[master]) || master_is_connecting(&e->masters[master]))
        lease->attempt->round->ballots[master].state = BALLOT_CONNECTING;
    else
        round_vote(lease->attempt->round, master, VOTE_UNREACHABLE);
}

static void end(struct engine *e, struct lease *lease, enum cause cause)
{
    if (leaving_is_under_way(lease))
        leaving_end(e, lease);
    claim_let_go(&lease->claim);
    lease_end(e, lease, OUTCOME_RELEASED, cause);
}

static void leave(struct engine *e, struct lease *lease)
{
    engine_list(e, &e->busy, lease);
    if (leaving_ask(e, lease)) {
        releasing_weigh(e, lease);
        return;
    }
    leaving_end(e, lease);
    lease_end(e, lease, OUTCOME_RELEASED, CAUSE_UNAVAILABLE);
}

void releasing_begin(struct engine *e, struct lease *lease)
{
    if (leaving_is_due(e, lease)) {
        leave(e, lease);
        return;
    }
    if (lease->claim->names->slot)
        permits_given_back(e, lease->claim);
    /* Validity ends first: only a lease that is held is valid. */
    lease_become(lease, LEASE_RELEASING);
    lease->untold &= (uint16_t)~WHILE_HELD;
    engine_list(e, &e->busy, lease);
    if (!lease_make_room(e, lease)) {
        claim_abandon(e, lease->claim, 0);
        claim_let_go(&lease->claim);
        lease_end(e, lease, OUTCOME_RELEASED, CAUSE_UNAVAILABLE);
        return;
    }
    attempt_open(lease->attempt, lease_masters(e), REQUEST_RELEASE, ROUND_OF_RELEASES,
                 e->now + e->config.connect_timeout);
    for (unsigned i = 0; i < lease_masters(e); i++)
        await_release(e, lease, i);
    lease_release_sent(e, lease, claim_abandon(e, lease->claim, 0));
    releasing_weigh(e, lease);
}

void lease_release_sent(struct engine *e, struct lease *lease, uint16_t masters)
{
    if (lease->state != LEASE_RELEASING)
        return;
    struct round *round = lease->attempt->round;
    for (unsigned i = 0; i < lease_masters(e); i++)
        if (masters & BIT(i) && round->ballots[i].state != BALLOT_CLOSED)
            round_ask(round, i, e->now);
}

#define REFUSED (1U << VOTE_FREE | 1U << VOTE_HELD)

/* That a master which abstains has the names no more proves nothing: it may have forgotten them,
 * and keeps others out all the same. */
static unsigned count_of_voting(const struct engine *e, const struct lease *lease, unsigned votes)
{
    unsigned count = 0;
    for (unsigned i = 0, masters = lease_masters(e); i < masters; i++)
        if (votes >> lease->attempt->round->ballots[i].vote & 1) /* seldom */
            count += e->now >= e->masters[i].abstains_until;
    return count;
}

/* A renewal takes names again that a master has lost: with that alone another holder may have had
 * them.  It had none if each quorum has a master that kept them. */
static bool was_kept(const struct engine *e, const struct lease *lease)
{
    unsigned kept = round_count(lease_round(lease), lease_masters(e), VOTE_GRANTED);
    return kept > lease_masters(e) - e->quorum;
}

static bool was_lost(const struct engine *e, const struct lease *lease)
{
    return count_of_voting(e, lease, REFUSED | 1U << VOTE_HEALED) >= e->quorum;
}

/* "Gone" is certain once too few masters can still have had the token.  "Unavailable" is known only
 * when no answer is left to come. */
static void weigh_refused(struct engine *e, struct lease *lease)
{
    unsigned refused = count_of_voting(e, lease, REFUSED);
    if (was_lost(e, lease) || lease_masters(e) - refused < e->quorum)
        end(e, lease, CAUSE_GONE);
    else if (round_undecided(lease_round(lease), lease_masters(e)) == 0)
        end(e, lease, CAUSE_UNAVAILABLE);
}

void releasing_weigh(struct engine *e, struct lease *lease)
{
    bool decided = round_yes(lease->attempt->round, lease_masters(e)) >= e->quorum &&
                   (!leaving_is_under_way(lease) || was_kept(e, lease));
    if (!decided) {
        weigh_refused(e, lease);
        return;
    }
    e->counters.released++;
    end(e, lease, CAUSE_NONE);
}

void releasing_by_token(struct engine *e, struct lease *lease)
{
    if (!lease->attached || lease->asked_at)
        return;
    lease->asked_at = e->now;
    releasing_begin(e, lease);
}

void releasing_lost(struct engine *e, struct lease *lease)
{
    if (lease->claim)
        claim_abandon(e, lease->claim, 0);
    end(e, lease, CAUSE_GONE);
}

void releasing_give_up(struct engine *e, struct lease *lease)
{
    end(e, lease, CAUSE_UNAVAILABLE);
}
