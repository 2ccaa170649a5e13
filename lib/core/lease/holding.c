#include "lease/lease_parts.h"
#include "ground/histogram.h"

#define RENEW_SOON_LEAST MS(5)
#define PUT_OFF_MOST     MS(1000)
#define SELDOM_TTLS      4
#define RENEW_TOGETHER   64 /* as many leases as make a common wake-up and write worth while */

/* A margin before validity ends. */
usec holding_lost_at(const struct lease *lease)
{
    return lease->valid_until - lease->terms.margin;
}

bool holding_is_over(const struct engine *e, const struct lease *lease)
{
    return e->now >= holding_lost_at(lease);
}

/* Renewals leave at whole multiples of this step, so that renewals that are due together are sent
 * together.  With few leases they would not meet.  The more leases there are the shorter it is, so
 * that no herd gathers.  It is a power of two, so that leases of several ttls meet too. */
static usec renewal_step(const struct engine *e, usec ttl)
{
    if (e->held.count < RENEW_TOGETHER)
        return 1;
    usec longest = ttl / 128, enough = ttl / 3 * RENEW_TOGETHER / (usec)e->held.count;
    usec most = enough < longest ? enough : longest;
    return most > 0 ? (usec)1 << (63 - __builtin_clzll((uint64_t)most)) : 1;
}

/* Of late masters were behind with renewals: fewer of them leave room for all else. */
static bool is_renewed_seldom(const struct engine *e, usec ttl)
{
    return e->now < e->renewals_first + SELDOM_TTLS * ttl;
}

/* A renewal is due 0.3 ttl to ttl/3 after the last one, but before half of the time left until LOST
 * has passed.  The latter is sooner with a large margin, and for a lease that was given or renewed
 * for less than its ttl; it alone counts where masters were behind. */
usec holding_renew_when(struct engine *e, const struct lease *lease)
{
    if (!lease->terms.renew)
        return NEVER;
    usec third = lease->terms.ttl / 3, step = renewal_step(e, lease->terms.ttl);
    usec at = e->now + engine_jitter(e, third - third / 10 + step - 1, third);
    usec latest = e->now + (holding_lost_at(lease) - e->now) / 2;
    at -= (at + e->phase) & (step - 1);
    return at < latest && !is_renewed_seldom(e, lease->terms.ttl) ? at : latest;
}

static void set_risk(struct engine *e, struct lease *lease, enum risk risk)
{
    if (lease->risk == risk)
        return;
    ASSERT(lease->place == PLACE_HELD);
    e->at_risk += !lease->risk;
    e->at_risk -= risk == RISK_NONE;
    lease->risk = (uint8_t)risk;
    lease->untold &= (uint16_t) ~(BIT(OUTCOME_AT_RISK) | BIT(OUTCOME_HEALTHY));
    lease_add_outcome(e, lease, risk ? OUTCOME_AT_RISK : OUTCOME_HEALTHY, CAUSE_NONE);
}

static void win_renewal(struct engine *e, struct lease *lease)
{
    lease_become(lease, LEASE_HELD);
    e->counters.renewals++;
    histogram_add(&e->counters.left, lease->attempt->renewed_from - e->now);
    lease->wake_at = holding_renew_when(e, lease);
    if (lease->extending)
        lease_add_outcome(e, lease, OUTCOME_EXTENDED, CAUSE_NONE);
    if (lease->downgrading)
        lease_add_outcome(e, lease, OUTCOME_CHANGED, CAUSE_NONE);
    lease->extending = lease->downgrading = false;
}

static void miss_renewal(struct engine *e, struct lease *lease)
{
    lease_become(lease, LEASE_HELD);
    e->counters.renewals_missed++;
    if (lease->extending)
        lease_add_outcome(e, lease, OUTCOME_NOT_EXTENDED, CAUSE_UNAVAILABLE);
    lease->extending = false;
    if (lease->terms.renew || lease->downgrading) {
        usec soon = (lease->valid_until - lease->terms.margin - e->now) / 8;
        if (soon < RENEW_SOON_LEAST)
            soon = RENEW_SOON_LEAST;
        lease->wake_at = e->now + engine_jitter(e, soon / 2, soon);
    }
    set_risk(e, lease, RISK_MISSED);
}

static void judge_health(struct engine *e, struct lease *lease)
{
    const struct round *round = lease->attempt->round;
    unsigned yes = round_yes(round, lease_masters(e));
    set_risk(e, lease,
             yes < e->quorum                              ? RISK_MISSED
             : yes == e->quorum && yes < lease_masters(e) ? RISK_BARE
                                                          : RISK_NONE);
}

/* A lease that is merely held has no round.  A lease at risk keeps its round, to tell each master's
 * last vote if it is lost. */
void holding_put_round_away(struct engine *e, struct lease *lease)
{
    if (!lease->attempt || lease->untold || lease->risk || lease->state != LEASE_HELD ||
        (lease->attempt->round && round_undecided(lease->attempt->round, lease_masters(e))))
        return;
    attempt_give(e, lease->attempt);
    lease->attempt = NULL;
}

/* A lease that was handed over is renewed at once, and so is one that was not upgraded: only that
 * renewal tells how well it is held. */
static bool is_renewed_at_once(const struct lease *lease)
{
    enum request_kind kind = lease->attempt->round->kind;
    bool not_upgraded = kind == REQUEST_UPGRADE && lease->claim->mode != MODE_EXCLUSIVE;
    return not_upgraded || kind == REQUEST_QUEUE ||
           (kind == REQUEST_RAISE && lease->claim->enqueued);
}

void holding_weigh(struct engine *e, struct lease *lease)
{
    const struct round *round = lease_round(lease);
    if (!round || is_renewed_at_once(lease))
        return;
    if (lease->state == LEASE_RENEWING) {
        enum verdict verdict = round_verdict(round, lease_masters(e), e->quorum);
        if (verdict == VERDICT_WON)
            win_renewal(e, lease);
        else if (verdict == VERDICT_LOST)
            miss_renewal(e, lease);
    }
    if (lease->state == LEASE_RENEWING || round_undecided(round, lease_masters(e)))
        return;
    judge_health(e, lease);
    holding_put_round_away(e, lease);
}

/* Where renewals alone are more than the masters can do, each waits while a missed one can still be
 * repeated, and acquires wait for it.  Acquires fill no more than half of this. */
bool holding_put_off(struct engine *e, struct lease *lease)
{
    usec ttl = lease->terms.ttl, left = holding_lost_at(lease) - e->now;
    bool are_behind = masters_may_grant(e) && !masters_have_room(e, 2 * e->config.backlog);
    if (left < ttl / 8 * 3 || !are_behind)
        return false;
    usec later = ttl / 16 < PUT_OFF_MOST ? ttl / 16 : PUT_OFF_MOST;
    lease->wake_at = e->now + engine_jitter(e, later / 2, later);
    if (e->renewals_first < e->now + 4 * later)
        e->renewals_first = e->now + 4 * later;
    return true;
}

/* Past max_hold only a downgrade goes on, until a quorum has heard of it. */
void holding_renew(struct engine *e, struct lease *lease)
{
    lease->wake_at = NEVER;
    bool too_late = e->now >= lease_hold_until(lease);
    if (too_late && lease->extending) {
        lease_add_outcome(e, lease, OUTCOME_NOT_EXTENDED, CAUSE_MAX_HOLD);
        lease->extending = false;
    }
    if (!too_late || lease->downgrading)
        holding_ask(e, lease);
}

void holding_ask(struct engine *e, struct lease *lease)
{
    lease->wake_at = NEVER;
    if (e->differs || !lease_make_room(e, lease)) {
        miss_renewal(e, lease);
        return;
    }
    lease_become(lease, LEASE_RENEWING);
    lease->attempt->renewed_from = lease->valid_until;
    attempt_open(lease->attempt, lease_masters(e), REQUEST_RENEW, engine_next_round(e), e->now);
    for (unsigned i = 0; i < lease_masters(e); i++)
        if (lease_may_ask(e, lease, i))
            lease_ask(e, lease, i, false);
        else
            lease_vote_unasked(e, lease, i);
    holding_weigh(e, lease);
}

/* ---- when a lease is woken --------------------------------------------------------- */

/* When the ballot is given up that is awaited; NEVER: none is. */
static usec ballot_ends(const struct engine *e, const struct lease *lease, unsigned master,
                        bool longer)
{
    const struct round *round = lease->attempt->round;
    const struct ballot *ballot = &round->ballots[master];
    if (ballot->state == BALLOT_ASKED)
        return master_overdue(e, &e->masters[master], ballot->asked_at, lease->terms.ttl, longer);
    return ballot->state == BALLOT_CONNECTING ? round->give_up : NEVER;
}

/* Where the masters that are not silent are no quorum, the way to all may have become longer.  So
 * an acquire awaits them as long as it would await a look. */
static void prolong_silent(const struct engine *e, const struct lease *lease, usec ends[])
{
    bool acquires = lease_is_acquiring(lease) && lease->state != LEASE_FAILING;
    unsigned silent = 0;
    for (unsigned i = 0; i < lease_masters(e); i++)
        silent += ends[i] <= e->now || lease->attempt->round->ballots[i].vote == VOTE_TIMEOUT;
    if (!acquires || silent <= lease_masters(e) - e->quorum)
        return;
    for (unsigned i = 0; i < lease_masters(e); i++)
        ends[i] = ballot_ends(e, lease, i, true);
}

static void find_ends(const struct engine *e, const struct lease *lease, usec ends[])
{
    for (unsigned i = 0; i < lease_masters(e); i++)
        ends[i] = ballot_ends(e, lease, i, false);
    prolong_silent(e, lease, ends);
}

static __attribute__((cold, noinline)) usec first_end(const struct engine *e,
                                                      const struct lease *lease)
{
    usec ends[MASTERS_MAX];
    find_ends(e, lease, ends);
    return quorum_ranked(ends, lease_masters(e), lease_masters(e));
}

static usec round_wakes(const struct engine *e, const struct lease *lease)
{
    usec next = NEVER, grace = lease->attempt->round->grace;
    for (unsigned i = 0; i < lease_masters(e); i++) {
        usec at = ballot_ends(e, lease, i, false);
        next = at < next ? at : next;
    }
    if (next <= e->now)
        next = first_end(e, lease);
    return grace && grace < next ? grace : next;
}

bool lease_expire(struct engine *e, struct lease *lease)
{
    usec ends[MASTERS_MAX];
    unsigned timeouts = 0;
    find_ends(e, lease, ends);
    if (!round_expire(lease->attempt->round, lease_masters(e), e->now, ends, &timeouts))
        return false;
    e->counters.timeouts += timeouts;
    return true;
}

void lease_schedule(struct engine *e, struct lease *lease)
{
    usec at = NEVER;
    if (lease_round(lease) && lease->state != LEASE_IDLE && lease->state != LEASE_LOST)
        at = round_wakes(e, lease);
    if (lease_is_waiting(lease) || lease_is_held(lease))
        at = lease->wake_at < at ? lease->wake_at : at;
    if (lease_is_held(lease) && holding_lost_at(lease) < at)
        at = holding_lost_at(lease);
    if (at == NEVER)
        deadlines_set(&e->deadlines, &lease->deadline, NEVER);
    else
        deadlines_at_latest(&e->deadlines, &lease->deadline, at);
}
