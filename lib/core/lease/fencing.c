#include "ground/fence.h"

#include "lease/lease_parts.h"
#include "masters/logical.h"

static unsigned stored(const struct engine *e, const struct round *round, usec fence)
{
    usec clocks[MASTERS_MAX];
    for (unsigned i = 0; i < lease_masters(e); i++)
        clocks[i] = round->ballots[i].vote == VOTE_GRANTED ? round->ballots[i].clock : 0;
    return fence_reached(clocks, lease_masters(e), fence);
}

static unsigned may_yet_store(const struct engine *e, const struct attempt *attempt)
{
    const struct round *round = attempt->round;
    unsigned may = 0;
    for (unsigned i = 0; i < lease_masters(e); i++)
        may += round->ballots[i].state == BALLOT_ASKED && round->ballots[i].clock < attempt->fence;
    return may;
}

static bool keeps_lease(const struct engine *e, const struct lease *lease, unsigned master)
{
    return lease->claim->at[master].promise > e->now;
}

/* The largest grant, instead of the quorum-th smallest, has all masters for its basis.  It is taken
 * after a fence came to nothing because masters left its basis: then as many may leave as are
 * beyond a quorum. */
static usec choose_fence(const struct engine *e, bool unfounded, const usec *grants)
{
    usec fence = fence_of(grants, lease_masters(e), e->quorum);
    return fence && unfounded ? quorum_ranked(grants, lease_masters(e), 1) : fence;
}

/* The fence is fixed from the present grants.  When a later grant was made, the name may have had
 * another holder with a larger fence. */
static void fix_fence(const struct engine *e, struct lease *lease)
{
    struct attempt *attempt = lease->attempt;
    struct round *round = attempt->round;
    usec grants[MASTERS_MAX];
    for (unsigned i = 0; i < lease_masters(e); i++)
        grants[i] = round->ballots[i].vote == VOTE_GRANTED ? round->ballots[i].clock : 0;
    attempt->fence = choose_fence(e, attempt->unfounded, grants);
    attempt->basis = 0;
    for (unsigned i = 0; i < lease_masters(e); i++)
        if (grants[i] && grants[i] <= attempt->fence && keeps_lease(e, lease, i))
            attempt->basis |= BIT(i);
}

void fencing_notice(const struct engine *e, struct lease *lease, unsigned master)
{
    if (lease->attempt && lease->claim && !keeps_lease(e, lease, master))
        lease->attempt->basis &= (uint16_t)~BIT(master);
}

bool fencing_is_founded(const struct engine *e, const struct lease *lease)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < lease_masters(e); i++)
        kept += lease->attempt->basis & BIT(i) && keeps_lease(e, lease, i);
    return kept >= e->quorum;
}

/* The last grants have as long again as the quorum took: with all N grants the fence is always
 * stored. */
static bool await_last_grants(struct engine *e, struct lease *lease)
{
    struct round *round = lease->attempt->round;
    bool comes_unasked = lease->state == LEASE_GATHERING;
    if (round_undecided(round, lease_masters(e)) == 0 && !comes_unasked)
        return false;
    return !round_end_grace(round, comes_unasked ? 0 : e->now - round->asked_at, e->now);
}

/* The second round stores the fence where the grant was lower or is unknown. */
static void ask_to_raise(struct engine *e, struct lease *lease)
{
    struct attempt *attempt = lease->attempt;
    struct round *round = attempt->round;
    if (lease->state != LEASE_UPGRADING)
        lease_become(lease, LEASE_STORING);
    round->kind = REQUEST_RAISE;
    round->grace = 0;
    e->counters.raises++;
    round_give_up_connecting(round, lease_masters(e));
    for (unsigned i = 0; i < lease_masters(e); i++) {
        struct ballot *ballot = &round->ballots[i];
        ballot->again = false; /* it runs another script */
        bool lower = ballot->vote == VOTE_GRANTED && ballot->clock < attempt->fence;
        if ((lower || ballot->state == BALLOT_ASKED) && master_is_up(&e->masters[i]))
            lease_ask(e, lease, i, false);
    }
}

enum verdict fencing_weigh(struct engine *e, struct lease *lease)
{
    struct attempt *attempt = lease->attempt;
    struct round *round = attempt->round;
    if (round->kind != REQUEST_RAISE) {
        fix_fence(e, lease);
        if (stored(e, round, attempt->fence) >= e->quorum)
            return VERDICT_WON;
        if (await_last_grants(e, lease))
            return VERDICT_PENDING;
        ask_to_raise(e, lease);
    }
    if (!fencing_is_founded(e, lease))
        return VERDICT_LOST;
    unsigned have = stored(e, round, attempt->fence);
    if (have >= e->quorum)
        return VERDICT_WON;
    return have + may_yet_store(e, attempt) < e->quorum ? VERDICT_LOST : VERDICT_PENDING;
}

/* Before ACQUIRED only masters of the fence's basis count: on another master a later holder may
 * have been shown a larger fence, and be gone. */
usec fencing_valid_until(const struct engine *e, const struct lease *lease)
{
    bool told = lease_valid_until(lease) != 0; /* its fence was stored in time */
    if (!lease->terms.fence || told)
        return claim_valid_until(e, lease->claim);
    usec promises[MASTERS_MAX];
    for (unsigned i = 0; i < lease_masters(e); i++)
        promises[i] = lease->attempt->basis & BIT(i) ? lease->claim->at[i].promise : 0;
    return quorum_valid_until(promises, lease_masters(e), e->quorum);
}

bool fencing_may_be_confirmed(const struct engine *e, const struct lease *lease)
{
    bool any = false;
    for (unsigned i = 0; i < lease_masters(e); i++)
        any |= lease->attempt->basis & BIT(i) &&
               lease->attempt->round->ballots[i].state == BALLOT_ASKED;
    return any;
}

static void believe(struct attempt *attempt, unsigned master, usec clock)
{
    struct round *round = attempt->round;
    struct ballot *ballot = &round->ballots[master];
    ballot->clock = clock;
    ballot->doubted = 0;
    round_vote(round, master, VOTE_GRANTED);
    if (round->kind == REQUEST_RAISE && clock < attempt->fence)
        ballot->state = BALLOT_ASKED;
}

void fencing_vouch(const struct engine *e, struct attempt *attempt)
{
    const struct round *round = attempt->round;
    for (unsigned i = 0; i < lease_masters(e); i++)
        if (round->ballots[i].doubted && logical_believes(e, round->ballots[i].doubted))
            believe(attempt, i, round->ballots[i].doubted);
}

/* A grant that comes after the second round was sent counts for what it stored. */
void fencing_record(struct engine *e, struct lease *lease, unsigned master,
                    const struct reply *reply)
{
    struct round *round = lease->attempt->round;
    if (!logical_hear(e, master, reply->clock)) {
        static const char why[] = "its logical clock is out of all reason";
        lease_vote_text(e, lease, master, VOTE_REFUSED, why, sizeof why - 1);
        round->ballots[master].doubted = reply->clock;
    } else {
        believe(lease->attempt, master, reply->clock);
    }
    fencing_vouch(e, lease->attempt);
}
