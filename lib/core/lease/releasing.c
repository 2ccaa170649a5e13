#include "lease/lease_parts.h"
#include "masters/agreement.h"

/* ---- left to the masters for the rest of at_least ---------------------------------- */

/* Masters that granted an upgrade which came to nothing learn that the lease is a reader's. */
bool releasing_ask_to_keep(struct engine *e, struct lease *lease)
{
    if (lease->state == LEASE_UPGRADING)
        claim_end_vain_upgrade(lease->claim);
    lease_become(lease, LEASE_RELEASING);
    lease->untold &= (uint16_t)~WHILE_HELD;
    if (!lease_make_room(e, lease))
        return false;
    lease_open_round(e, lease, REQUEST_RENEW);
    lease_ask_those_up(e, lease);
    return true;
}

void releasing_leave(struct engine *e, struct lease *lease)
{
    e->left_behind = true;
    claim_forget(e, lease->claim);
    claim_let_go(&lease->claim);
}

/* ---- given back to the masters ----------------------------------------------------- */

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

static void end_release(struct engine *e, struct lease *lease, enum cause cause)
{
    if (releasing_is_leaving(lease))
        releasing_leave(e, lease);
    claim_let_go(&lease->claim);
    lease_end(e, lease, OUTCOME_RELEASED, cause);
}

static void leave_to_masters(struct engine *e, struct lease *lease)
{
    engine_list(e, &e->busy, lease);
    if (releasing_ask_to_keep(e, lease)) {
        releasing_weigh(e, lease);
        return;
    }
    releasing_leave(e, lease);
    lease_end(e, lease, OUTCOME_RELEASED, CAUSE_UNAVAILABLE);
}

void releasing_begin(struct engine *e, struct lease *lease)
{
    if (releasing_is_early(e, lease)) {
        leave_to_masters(e, lease);
        return;
    }
    if (lease->claim->names->slot)
        permits_note_given_back(e, lease->claim);
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

/* "Gone" is certain once too few masters can still have had the token.  "Unavailable" is known only
 * when no answer is left to come.  The token may have gone to the next list. */
static void weigh_refused(struct engine *e, struct lease *lease)
{
    if (agreement_awaits_ends(e))
        return;
    unsigned lost = count_of_voting(e, lease, REFUSED | 1U << VOTE_HEALED);
    unsigned refused = lost ? count_of_voting(e, lease, REFUSED) : 0;
    if (lost >= e->quorum || lease_masters(e) - refused < e->quorum)
        end_release(e, lease, CAUSE_GONE);
    else if (round_undecided(lease_round(lease), lease_masters(e)) == 0)
        end_release(e, lease, CAUSE_UNAVAILABLE);
}

void releasing_weigh(struct engine *e, struct lease *lease)
{
    bool decided = round_yes(lease->attempt->round, lease_masters(e)) >= e->quorum &&
                   (!releasing_is_leaving(lease) || was_kept(e, lease));
    if (!decided) {
        weigh_refused(e, lease);
        return;
    }
    e->counters.released++;
    end_release(e, lease, CAUSE_NONE);
}

void releasing_by_token(struct engine *e, struct lease *lease)
{
    if (!lease->attached || lease->asked_at)
        return;
    lease->asked_at = e->now;
    releasing_begin(e, lease);
}

void releasing_end_lost(struct engine *e, struct lease *lease)
{
    if (lease->claim)
        claim_abandon(e, lease->claim, 0);
    end_release(e, lease, CAUSE_GONE);
}

void releasing_give_up(struct engine *e, struct lease *lease)
{
    end_release(e, lease, CAUSE_UNAVAILABLE);
}

/* ---- lost -------------------------------------------------------------------------- */

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
    bool at_once = cause == CAUSE_GONE;
    if (releasing_is_early(e, lease) || lease->left)
        releasing_leave(e, lease);
    else
        claim_abandon(e, lease->claim, at_once ? 0 : lease->valid_until);
    lease_add_outcome(e, lease, OUTCOME_LOST, cause);
}

void releasing_notice_loss(struct engine *e, struct lease *lease)
{
    if (lease_is_held(lease) && holding_is_over(e, lease))
        lose(e, lease, CAUSE_EXPIRED);
}

/* One master may have a wrong clock, or have lost its keys.  If the masters without that fault are
 * no quorum, the clock that stood still is ours, or the lease was gone for a moment.  Then another
 * lease may have had the names. */
static bool is_given_up(const struct engine *e, const struct lease *lease)
{
    const struct round *round = lease_round(lease);
    unsigned most = lease_masters(e) - e->quorum;
    return round && (round_late(round, lease_masters(e)) > most ||
                     round_broken(round, lease_masters(e)) > most);
}

void releasing_follow_the_ledger(struct engine *e, struct lease *lease)
{
    if (!lease_is_held(lease))
        return;
    lease->valid_until = is_given_up(e, lease) ? 0 : fencing_valid_until(e, lease);
    if (e->now >= lease->valid_until)
        lose(e, lease, CAUSE_GONE);
}
