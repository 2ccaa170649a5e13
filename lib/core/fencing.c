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

static usec fence_granted(const struct engine *e, const struct round *round)
{
    usec grants[MASTERS_MAX];
    for (unsigned i = 0; i < lease_masters(e); i++)
        grants[i] = round->ballots[i].said == SAID_GRANTED ? round->ballots[i].clock : 0;
    return fence_of(grants, lease_masters(e));
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
        round->fence = fence_granted(e, round);
        if (stored(e, round, round->fence) >= e->quorum || MUTANT(FENCE_UNSTORED))
            return VERDICT_WON;
        if (waits_for_last_grants(e, round))
            return VERDICT_PENDING;
        ask_to_raise(e, lease);
    }
    unsigned have = stored(e, round, round->fence);
    if (have >= enough || MUTANT(FENCE_EARLY))
        return VERDICT_WON;
    return have + may_yet_store(e, round) < enough ? VERDICT_LOST : VERDICT_PENDING;
}

/* What was asked again, or given later, stands longer than the first grants of the round.
 * Where one of those is over somebody else may have been shown a larger fence, and be
 * gone. */
usec fencing_valid_until(const struct engine *e, const struct lease *lease)
{
    usec valid_until = claim_valid_until(e, lease->claim);
    if (!lease->terms.fence || lease_valid_until(lease)) /* told: it was stored in time */
        return valid_until;
    for (unsigned i = 0; i < lease_masters(e); i++) {
        usec promise = lease->claim->at[i].promise;
        if (lease->round->ballots[i].said == SAID_GRANTED && promise < valid_until)
            valid_until = promise;
    }
    return valid_until;
}

bool fencing_is_spoilt(const struct lease *lease, unsigned master, const struct reply *reply)
{
    const struct round *round = lease->round;
    bool has_it = reply->answer == ANSWER_YES || reply->answer == ANSWER_AHEAD;
    return has_it && lease->state == LEASE_ACQUIRING && lease->terms.fence && round->fence &&
           (round->kind == REQUEST_RAISE || round->confirms) &&
           (reply->tag.kind == REQUEST_QUEUE || reply->tag.kind == REQUEST_RENEW) &&
           round->ballots[master].clock;
}

/* A grant that came after the second round was sent may do without it. */
void fencing_record(struct engine *e, struct lease *lease, unsigned master,
                    const struct reply *reply)
{
    struct round *round = lease->round;
    struct ballot *ballot = &round->ballots[master];
    if (!logical_hear(e, master, reply->clock)) {
        static const char why[] = "its logical clock is out of all reason";
        round_say_text(round, master, SAID_REFUSED, why, sizeof why - 1);
        return;
    }
    ballot->clock = reply->clock;
    round_say(round, master, SAID_GRANTED);
    if (round->kind == REQUEST_RAISE && ballot->clock < round->fence &&
        !MUTANT(LOW_LATE_GRANT_CLOSES))
        ballot->state = BALLOT_ASKED;
}
