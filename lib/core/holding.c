#include "engine.h"
#include "lease_parts.h"
#include "mutant.h"

#define RENEW_SOON_LEAST MS(5)
#define RENEW_TOGETHER   64 /* as many as make a wake-up and a write worth while */

/* A margin before it ends. */
usec holding_lost_at(const struct lease *lease)
{
    if (MUTANT(MARGIN_IGNORED) || MUTANT(LOST_LATE))
        return lease->valid_until + (MUTANT(LOST_LATE) ? MS(10) : 0);
    return lease->valid_until - lease->terms.margin;
}

bool holding_is_over(const struct engine *e, const struct lease *lease)
{
    bool unchecked = MUTANT(VALIDITY_UNCHECKED) && !lease_valid_until(lease);
    return e->now >= holding_lost_at(lease) && !unchecked;
}

/* Renewals leave at whole multiples of this, so that those that fall due together are
 * sent together.  With few leases they would not meet; the more there are the shorter it
 * is, so that no herd gathers.  A power of two: leases of several ttls meet too. */
static usec renewal_step(const struct engine *e, usec ttl)
{
    if (e->held.count < RENEW_TOGETHER)
        return 1;
    usec longest = ttl / 128, enough = ttl / 3 * RENEW_TOGETHER / (usec)e->held.count;
    usec most = enough < longest ? enough : longest;
    return most > 0 ? (usec)1 << (63 - __builtin_clzll((uint64_t)most)) : 1;
}

/* From 0.3 ttl to ttl/3 after the last one; but before half of what is left of it is over, which
 * is sooner with a large margin, or if it was given or renewed for less than its ttl. */
usec holding_renew_when(struct engine *e, const struct lease *lease)
{
    if (!lease->terms.renew || e->now >= lease->hold_until)
        return NEVER;
    usec third = lease->terms.ttl / 3, step = renewal_step(e, lease->terms.ttl);
    usec at = e->now + engine_jitter(e, third - third / 10 + step - 1, third);
    usec latest = e->now + (holding_lost_at(lease) - e->now) / 2;
    at -= (at + e->renewal_phase) & (step - 1);
    return at < latest ? at : latest;
}

static void set_risk(struct engine *e, struct lease *lease, enum risk risk)
{
    if (lease->risk == risk)
        return;
    lease->risk = (uint8_t)risk;
    lease->untold &= (uint16_t) ~(BIT(OUTCOME_AT_RISK) | BIT(OUTCOME_HEALTHY));
    lease_add_outcome(e, lease, risk ? OUTCOME_AT_RISK : OUTCOME_HEALTHY, CAUSE_NONE);
}

static void renewal_won(struct engine *e, struct lease *lease)
{
    lease->round->decided = true;
    e->counters.renewals++;
    lease->wake_at = holding_renew_when(e, lease);
    if (lease->extending)
        lease_add_outcome(e, lease, OUTCOME_EXTENDED, CAUSE_NONE);
    lease->extending = false;
}

static void renewal_missed(struct engine *e, struct lease *lease)
{
    if (lease->round)
        lease->round->decided = true;
    e->counters.renewals_missed++;
    if (lease->extending)
        lease_add_outcome(e, lease, OUTCOME_NOT_EXTENDED, CAUSE_UNAVAILABLE);
    lease->extending = false;
    if (lease->terms.renew) {
        usec soon = (lease->valid_until - lease->terms.margin - e->now) / 8;
        if (soon < RENEW_SOON_LEAST)
            soon = RENEW_SOON_LEAST;
        lease->wake_at = e->now + engine_jitter(e, soon / 2, soon);
    }
    set_risk(e, lease, RISK_MISSED);
}

static void judge_health(struct engine *e, struct lease *lease)
{
    const struct round *round = lease->round;
    unsigned yes = round_yes(round, lease_masters(e));
    set_risk(e, lease,
             yes < e->quorum                              ? RISK_MISSED
             : yes == e->quorum && yes < lease_masters(e) ? RISK_BARE
                                                          : RISK_NONE);
}

/* A lease that is merely held has no round; one at risk keeps it, to tell at a loss
 * what each master said last. */
void holding_put_round_away(struct engine *e, struct lease *lease)
{
    if (!lease->round || lease->untold || lease->risk || lease->state != LEASE_HELD ||
        !lease->round->decided || round_undecided(lease->round, lease_masters(e)))
        return;
    engine_give_round(e, lease->round);
    lease->round = NULL;
}

/* What was given in line is renewed at once: only that says how well it is held. */
static bool is_only_given(const struct lease *lease)
{
    enum request_kind kind = lease->round->kind;
    return kind == REQUEST_QUEUE || (kind == REQUEST_RAISE && lease->claim->stands);
}

void holding_weigh(struct engine *e, struct lease *lease)
{
    struct round *round = lease->round;
    if (!round || is_only_given(lease))
        return;
    if (!round->decided) {
        enum verdict verdict = round_verdict(round, lease_masters(e));
        if (verdict == VERDICT_WON)
            renewal_won(e, lease);
        else if (verdict == VERDICT_LOST)
            renewal_missed(e, lease);
    }
    if (!round->decided || round_undecided(round, lease_masters(e)))
        return;
    judge_health(e, lease);
    holding_put_round_away(e, lease);
}

void holding_renew(struct engine *e, struct lease *lease)
{
    lease->wake_at = NEVER;
    if (e->now >= lease->hold_until) {
        if (lease->extending)
            lease_add_outcome(e, lease, OUTCOME_NOT_EXTENDED, CAUSE_MAX_HOLD);
        lease->extending = false;
        return;
    }
    if (!lease->round)
        lease->round = engine_take_round(e);
    if (!lease->round) {
        renewal_missed(e, lease);
        return;
    }
    round_begin(lease->round, lease_masters(e), REQUEST_RENEW, engine_next_round(e), e->now);
    for (unsigned i = 0; i < lease_masters(e); i++) {
        if (master_is_up(&e->masters[i]))
            lease_ask(e, lease, i, false);
        else
            round_say(lease->round, i, SAID_UNREACHABLE);
    }
    lease_weigh(e, lease);
}

static void lose(struct engine *e, struct lease *lease, enum cause cause)
{
    if (lease->untold & BIT(OUTCOME_ACQUIRED)) {
        acquiring_unsay(e, lease);
        return;
    }
    if (cause == CAUSE_EXPIRED && e->now >= lease->hold_until)
        cause = CAUSE_MAX_HOLD;
    e->counters.lost++;
    lease->state = LEASE_LOST;
    lease->untold &= (uint16_t)~WHILE_HELD;
    engine_list(e, &e->idle, lease);
    deadlines_set(&e->deadlines, &lease->deadline, NEVER);
    /* The holder may still be winding down: others get in when validity has ended. */
    bool at_once = cause == CAUSE_GONE || MUTANT(RELEASED_TOO_SOON);
    claim_abandon(e, lease->claim, at_once ? 0 : lease->valid_until);
    lease_add_outcome(e, lease, OUTCOME_LOST, cause);
}

/* Seen before anything else is done with a lease, whatever woke us and however
 * late: a lease past its time is lost, and never comes back. */
void holding_notice_the_end(struct engine *e, struct lease *lease)
{
    if (lease->state == LEASE_HELD && holding_is_over(e, lease))
        lose(e, lease, CAUSE_EXPIRED);
}

/* One master may have a wrong clock, or have lost its keys.  If so many say so that
 * no quorum is left that does not, the clock that stood still is ours, or the lease
 * was gone for a moment: somebody else may have had it. */
static bool is_given_up(const struct engine *e, const struct lease *lease)
{
    const struct round *round = lease->round;
    unsigned most = lease_masters(e) - e->quorum;
    return round && (round_late(round, lease_masters(e)) > most ||
                     round_broken(round, lease_masters(e)) > most);
}

/* Validity is what the ledger says now; it shrinks when a master says that the
 * lease is gone. */
void holding_follow_the_ledger(struct engine *e, struct lease *lease)
{
    if (lease->state != LEASE_HELD)
        return;
    lease->valid_until = is_given_up(e, lease) ? 0 : fencing_valid_until(e, lease);
    if (e->now >= lease->valid_until)
        lose(e, lease, CAUSE_GONE);
}

void lease_extend(struct engine *e, struct lease *lease, usec ttl)
{
    holding_notice_the_end(e, lease);
    if (lease->state != LEASE_HELD)
        return; /* NOT_ACQUIRED or LOST is on its way, and says it */
    if (ttl)
        lease->terms.ttl = ttl;
    lease->extending = true;
    holding_renew(e, lease);
    lease_schedule(e, lease);
}
