#include "fence.h"

#include "engine.h"
#include "lease_parts.h"
#include "logical.h"
#include "mutant.h"

#define GRACE_LEAST 400 /* us; a second round costs more */

static unsigned stored(const struct engine *e, const struct round *round, usec fence)
{
    usec clocks[MASTERS_MAX];
    for (unsigned i = 0; i < lease_masters(e); i++)
        clocks[i] = round->ballots[i].said == SAID_GRANTED ? round->ballots[i].clock : 0;
    return fence_reached(clocks, lease_masters(e), fence);
}

static unsigned may_yet_store(const struct engine *e, const struct round *round)
{
    unsigned may = 0;
    for (unsigned i = 0; i < lease_masters(e); i++)
        may += round->ballots[i].state == BALLOT_ASKED && round->ballots[i].clock < round->fence;
    return may;
}

static bool stands(const struct engine *e, const struct lease *lease, unsigned master)
{
    return lease->claim->at[master].promise > e->now;
}

/* From the grants that there are.  Those that come later were made when the name may have had
 * another holder, with a larger fence. */
static void fix_fence(const struct engine *e, struct lease *lease)
{
    struct round *round = lease->round;
    usec grants[MASTERS_MAX];
    for (unsigned i = 0; i < lease_masters(e); i++)
        grants[i] = round->ballots[i].said == SAID_GRANTED ? round->ballots[i].clock : 0;
    round->fence = fence_of(grants, lease_masters(e));
    round->basis = 0;
    for (unsigned i = 0; i < lease_masters(e); i++)
        if (grants[i] && grants[i] <= round->fence && stands(e, lease, i))
            round->basis |= BIT(i);
}

void fencing_notice(const struct engine *e, struct lease *lease, unsigned master)
{
    if (lease->round && lease->claim && !stands(e, lease, master))
        lease->round->basis &= (uint16_t)~BIT(master);
}

/* A quorum of the masters that the fence was taken from has kept the lease. */
static bool is_founded(const struct engine *e, const struct lease *lease)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < lease_masters(e); i++)
        kept += lease->round->basis & BIT(i) && stands(e, lease, i);
    return kept >= e->quorum || MUTANT(FENCE_UNFOUNDED);
}

/* As long again as the quorum took: with all N grants the fence is always stored. */
static bool waits_for_last_grants(struct engine *e, struct round *round)
{
    bool comes_unasked = round->kind == REQUEST_QUEUE;
    if (round_undecided(round, lease_masters(e)) == 0 && !comes_unasked)
        return false;
    if (round->grace == NEVER) {
        usec took = comes_unasked ? 0 : e->now - round->asked_at;
        round->grace = e->now + (took > GRACE_LEAST ? took : GRACE_LEAST);
    }
    return round->grace > e->now;
}

/* The second round: the fence is stored where the grant was lower or is unknown. */
static void ask_to_raise(struct engine *e, struct lease *lease)
{
    struct round *round = lease->round;
    round->kind = REQUEST_RAISE;
    round->grace = 0;
    e->counters.raises++;
    round_stop_hoping(round, lease_masters(e));
    for (unsigned i = 0; i < lease_masters(e); i++) {
        struct ballot *ballot = &round->ballots[i];
        ballot->again = false; /* another script */
        bool lower = ballot->said == SAID_GRANTED && ballot->clock < round->fence;
        if ((lower || ballot->state == BALLOT_ASKED) && master_is_up(&e->masters[i]))
            lease_ask(e, lease, i, false);
    }
}

enum verdict fencing_weigh(struct engine *e, struct lease *lease)
{
    struct round *round = lease->round;
    unsigned enough = e->quorum - (MUTANT(FENCE_BARE) && e->quorum > 1);
    if (round->kind != REQUEST_RAISE) {
        fix_fence(e, lease);
        if (stored(e, round, round->fence) >= e->quorum || MUTANT(FENCE_UNSTORED))
            return VERDICT_WON;
        if (waits_for_last_grants(e, round))
            return VERDICT_PENDING;
        ask_to_raise(e, lease);
    }
    if (!is_founded(e, lease))
        return VERDICT_LOST;
    unsigned have = stored(e, round, round->fence);
    if (have >= enough || MUTANT(FENCE_EARLY))
        return VERDICT_WON;
    return have + may_yet_store(e, round) < enough ? VERDICT_LOST : VERDICT_PENDING;
}

/* Until it is told, only the masters count that its fence was taken from: on another one a later
 * holder may have been shown a larger fence, and be gone. */
usec fencing_valid_until(const struct engine *e, const struct lease *lease)
{
    bool told = lease_valid_until(lease) != 0; /* its fence was stored in time */
    if (!lease->terms.fence || told || MUTANT(FENCE_UNFOUNDED))
        return claim_valid_until(e, lease->claim);
    usec promises[MASTERS_MAX];
    for (unsigned i = 0; i < lease_masters(e); i++)
        promises[i] = lease->round->basis & BIT(i) ? lease->claim->at[i].promise : 0;
    return quorum_valid_until(promises, lease_masters(e));
}

bool fencing_may_be_confirmed(const struct engine *e, const struct lease *lease)
{
    bool any = false;
    for (unsigned i = 0; i < lease_masters(e); i++)
        any |= lease->round->basis & BIT(i) && lease->round->ballots[i].state == BALLOT_ASKED;
    return any;
}

static void believe(struct round *round, unsigned master, usec clock)
{
    struct ballot *ballot = &round->ballots[master];
    ballot->clock = clock;
    ballot->doubted = 0;
    round_say(round, master, SAID_GRANTED);
    if (round->kind == REQUEST_RAISE && clock < round->fence)
        ballot->state = BALLOT_ASKED;
}

void fencing_vouch(const struct engine *e, struct round *round)
{
    for (unsigned i = 0; i < lease_masters(e); i++)
        if (round->ballots[i].doubted && logical_believes(e, round->ballots[i].doubted))
            believe(round, i, round->ballots[i].doubted);
}

/* A grant that came after the second round was sent may do without it. */
void fencing_record(struct engine *e, struct lease *lease, unsigned master,
                    const struct reply *reply)
{
    struct round *round = lease->round;
    if (!logical_hear(e, master, reply->clock)) {
        static const char why[] = "its logical clock is out of all reason";
        round_say_text(round, master, SAID_REFUSED, why, sizeof why - 1);
        round->ballots[master].doubted = reply->clock;
    } else {
        believe(round, master, reply->clock);
    }
    fencing_vouch(e, round);
}
