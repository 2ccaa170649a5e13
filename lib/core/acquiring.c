#include "engine.h"
#include "lease_parts.h"
#include "logical.h"
#include "mutant.h"

#define RETRY_FIRST    MS(10)
#define RETRY_LAST     MS(200)
#define COMPLETE_AFTER MS(50) /* a lease won before all masters were connected */

static void acquire_round(struct engine *e, struct lease *lease)
{
    lease->state = LEASE_ACQUIRING;
    lease->rounds++;
    e->counters.rounds++;
    enum request_kind kind = lease->attached      ? REQUEST_RENEW
                             : lease->terms.fence ? REQUEST_GRANT
                                                  : REQUEST_ACQUIRE;
    lease_open_round(e, lease, kind);
    if (kind == REQUEST_GRANT)
        lease->round->proposal = logical_propose(e);
    lease_ask_those_up(e, lease);
    lease_weigh(e, lease);
}

void lease_acquire(struct engine *e, struct lease *lease)
{
    lease->asked_at = e->now;
    e->counters.acquires++;
    if (e->closing || e->misconfigured) {
        lease_end(e, lease, OUTCOME_NOT_ACQUIRED, e->closing ? CAUSE_CLOSED : e->misconfigured);
        return;
    }
    if (!lease->attached)
        claim_fresh_token(e, lease->claim);
    engine_list(e, &e->busy, lease);
    acquire_round(e, lease);
    lease_schedule(e, lease);
}

static bool retries(struct engine *e, struct lease *lease)
{
    usec until = lease_wait_until(lease);
    bool over = e->now >= until && !MUTANT(WAIT_FOREVER);
    if (e->closing || e->misconfigured || lease->attached || over)
        return false;
    usec longest = RETRY_FIRST << (lease->rounds < 6 ? lease->rounds : 5);
    if (longest > RETRY_LAST)
        longest = RETRY_LAST;
    lease->wake_at = e->now + engine_jitter(e, longest / 2, longest);
    if (lease->wake_at > until)
        lease->wake_at = until;
    return true;
}

/* The round is over, what it took is being given back: again later, or never. */
static void conclude(struct engine *e, struct lease *lease)
{
    claim_let_go(lease);
    if (retries(e, lease)) {
        lease->state = LEASE_WAITING;
        return;
    }
    enum cause cause = e->closing         ? CAUSE_CLOSED
                       : e->misconfigured ? e->misconfigured
                                          : (enum cause)lease->failing;
    lease_end(e, lease, OUTCOME_NOT_ACQUIRED, cause);
}

void acquiring_again(struct engine *e, struct lease *lease)
{
    lease->claim = claim_new(e, lease->round->names, NULL, 0);
    if (!lease->claim) {
        lease_end(e, lease, OUTCOME_NOT_ACQUIRED, CAUSE_MEMORY);
        return;
    }
    lease->claim->lease = lease;
    claim_fresh_token(e, lease->claim);
    acquire_round(e, lease);
}

/* Who has it, and for how long?  Asked only where it was refused. */
static void ask_who_has_it(struct engine *e, struct lease *lease)
{
    struct round *round = lease->round;
    round->kind = REQUEST_PEEK;
    round->number = engine_next_round(e);
    for (unsigned i = 0; i < lease_masters(e); i++)
        if (round->ballots[i].said == SAID_HELD && master_is_up(&e->masters[i])) {
            round->ballots[i].again = false; /* another script */
            lease_ask(e, lease, i, false);
        }
}

void acquiring_failed(struct engine *e, struct lease *lease, enum cause cause)
{
    lease->round->decided = true;
    round_close(lease->round, lease_masters(e));
    lease->failing = (uint8_t)cause;
    if (lease->attached) {
        claim_forget(e, lease->claim);
    } else {
        if (cause == CAUSE_HELD)
            ask_who_has_it(e, lease);
        if (MUTANT(NO_ROLLBACK))
            claim_forget(e, lease->claim);
        else
            claim_abandon(e, lease->claim, MUTANT(RETRY_HOLDING) ? e->now + RETRY_LAST : 0);
    }
    if (round_undecided(lease->round, lease_masters(e)) == 0)
        conclude(e, lease);
}

static enum cause why_failed(const struct engine *e, const struct lease *lease)
{
    const struct round *round = lease->round;
    unsigned granted = round_yes(round, lease_masters(e));
    unsigned refused = round_count(round, lease_masters(e), SAID_HELD);
    unsigned gone = lease->attached ? round_count(round, lease_masters(e), SAID_FREE) : 0;
    unsigned answered = granted + refused + gone + round_may_say_yes(round, lease_masters(e));
    bool not_stored = granted >= e->quorum; /* its fence, for want of masters */
    if (answered < e->quorum || not_stored)
        return CAUSE_UNAVAILABLE;
    return lease->attached ? CAUSE_GONE : CAUSE_HELD;
}

static void round_won(struct engine *e, struct lease *lease)
{
    lease->valid_until = fencing_valid_until(e, lease);
    if (holding_is_over(e, lease)) {
        lease->valid_until = 0;
        acquiring_failed(e, lease, CAUSE_TOO_SLOW);
        return;
    }
    lease->fence = lease->round->fence;
    lease->round->decided = true;
    round_stop_hoping(lease->round, lease_masters(e));
    engine_unlist(e, lease);
    engine_list(e, &e->held, lease);
    lease->state = LEASE_HELD;
    lease->risk = RISK_NONE;
    lease->hold_until = lease->round->max_hold ? e->now + lease->round->max_hold : NEVER;
    lease->wake_at = holding_renew_when(e, lease);
    if (lease->round->incomplete && lease->wake_at > e->now + COMPLETE_AFTER &&
        lease->wake_at != NEVER)
        lease->wake_at = e->now + COMPLETE_AFTER;
    lease_add_outcome(e, lease, OUTCOME_ACQUIRED, CAUSE_NONE);
    lease_weigh(e, lease);
}

void acquiring_weigh(struct engine *e, struct lease *lease)
{
    if (lease->round->decided) {
        if (round_undecided(lease->round, lease_masters(e)) == 0)
            conclude(e, lease);
        return;
    }
    enum verdict verdict = round_verdict(lease->round, lease_masters(e));
    if (verdict == VERDICT_WON && lease->terms.fence)
        verdict = fencing_weigh(e, lease);
    switch (verdict) {
    case VERDICT_WON:
        round_won(e, lease);
        break;
    case VERDICT_LOST:
        acquiring_failed(e, lease, why_failed(e, lease));
        break;
    case VERDICT_PENDING:
        break;
    }
}

/* Won, but over before anybody was told: it was never had. */
void acquiring_unsay(struct engine *e, struct lease *lease)
{
    lease->untold = 0;
    lease->valid_until = 0;
    lease->fence = 0;
    lease->state = LEASE_ACQUIRING;
    engine_unlist(e, lease);
    engine_list(e, &e->busy, lease);
    acquiring_failed(e, lease, CAUSE_TOO_SLOW);
}

void acquiring_cancel(struct engine *e, struct lease *lease, enum cause cause)
{
    lease->untold = 0;
    lease->valid_until = 0;
    lease->fence = 0;
    if (lease->claim && lease->attached)
        claim_forget(e, lease->claim);
    else if (lease->claim)
        claim_abandon(e, lease->claim, 0);
    claim_let_go(lease);
    lease_end(e, lease, OUTCOME_NOT_ACQUIRED, cause);
}
