#include "engine.h"
#include "lease_parts.h"
#include "line.h"
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
    bool needs_clock = lease->terms.fence || lease->round->wait; /* a fence, or a ticket */
    if (lease->round->line)
        lease->round->line->drawn_at = e->now;
    enum request_kind kind = lease->attached ? REQUEST_RENEW
                             : needs_clock   ? REQUEST_GRANT
                                             : REQUEST_ACQUIRE;
    lease_open_round(e, lease, kind);
    if (lease->terms.fence && kind == REQUEST_GRANT)
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
    engine_list(e, &e->busy, lease);
    if (lease->round->wait && !passing_enter(e, lease)) {
        lease_end(e, lease, OUTCOME_NOT_ACQUIRED, CAUSE_MEMORY);
        return;
    }
    if (lease->claim) {
        if (!lease->attached)
            claim_fresh_token(e, lease->claim);
        acquire_round(e, lease);
    }
    lease_schedule(e, lease);
}

static bool may_wait(const struct engine *e, const struct lease *lease)
{
    bool over = e->now >= lease_wait_until(lease) && !MUTANT(WAIT_FOREVER);
    return !e->closing && !e->misconfigured && !lease->attached && !over;
}

static bool retries(struct engine *e, struct lease *lease)
{
    usec until = lease_wait_until(lease);
    if (!may_wait(e, lease))
        return false;
    usec longest = RETRY_FIRST << (lease->rounds < 6 ? lease->rounds : 5);
    if (longest > RETRY_LAST)
        longest = RETRY_LAST;
    bool has_ticket = lease->round->ticket != 0, is_drawn = lease->round->kind == REQUEST_GRANT;
    if (has_ticket) /* stands in line, at once, unless it did and nothing came of what it was given
                     */
        lease->wake_at = e->now + (is_drawn ? 0 : waiting_pause(e, lease));
    else
        lease->wake_at = e->now + engine_jitter(e, longest / 2, longest);
    if (lease->wake_at > until)
        lease->wake_at = until;
    return true;
}

static void acquiring_end(struct engine *e, struct lease *lease, enum cause cause)
{
    passing_leave(e, lease);
    lease_end(e, lease, OUTCOME_NOT_ACQUIRED, cause);
}

/* The round is over, what it took is being given back: again later, or never. */
static void conclude(struct engine *e, struct lease *lease)
{
    claim_let_go(lease);
    lease->state = LEASE_WAITING;
    if (retries(e, lease))
        return;
    acquiring_end(e, lease,
                  e->closing         ? CAUSE_CLOSED
                  : e->misconfigured ? e->misconfigured
                                     : (enum cause)lease->failing);
}

void acquiring_again(struct engine *e, struct lease *lease)
{
    lease->claim = claim_new(e, lease->round->names, NULL, 0);
    if (!lease->claim) {
        acquiring_end(e, lease, CAUSE_MEMORY);
        return;
    }
    lease->claim->lease = lease;
    claim_fresh_token(e, lease->claim);
    acquire_round(e, lease);
}

void acquiring_over(struct engine *e, struct lease *lease)
{
    bool held = (lease->round->ticket || !waiting_is_first(lease)) && minority_is_connected(e);
    passing_leave(e, lease);
    lease->state = LEASE_ACQUIRING;
    for (unsigned i = 0; i < lease_masters(e); i++) /* what they said before is not so now */
        if (!master_may_grant(e, &e->masters[i]))
            lease_cannot_ask(e, lease, i);
    if (!lease->claim && (lease->claim = claim_new(e, lease->round->names, NULL, 0)))
        lease->claim->lease = lease;
    if (lease->claim)
        acquiring_failed(e, lease, held ? CAUSE_HELD : CAUSE_UNAVAILABLE);
    else
        lease_end(e, lease, OUTCOME_NOT_ACQUIRED, CAUSE_MEMORY);
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
    bool waits = cause == CAUSE_HELD && may_wait(e, lease);
    if (waits && (!lease->round->ticket || MUTANT(TICKET_RENEWED))) {
        lease->round->ticket = waiting_ticket(e, lease->round);
        lease->round->drawn_at = lease->round->asked_at;
    }
    lease->round->decided = true;
    round_close(lease->round, lease_masters(e));
    lease->failing = (uint8_t)cause;
    if (lease->attached) {
        claim_forget(e, lease->claim);
    } else {
        if (cause == CAUSE_HELD && !waits)
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

static void hold(struct engine *e, struct lease *lease, usec max_hold)
{
    engine_unlist(e, lease);
    engine_list(e, &e->held, lease);
    lease->state = LEASE_HELD;
    lease->hold_until = max_hold ? e->now + max_hold : NEVER;
    lease->wake_at = holding_renew_when(e, lease);
    lease_add_outcome(e, lease, OUTCOME_ACQUIRED, CAUSE_NONE);
}

/* What the masters gave lasts for as long as a waiter stands unheard of, less than
 * this lease's margin: it is prolonged before it is told. */
static void confirm(struct engine *e, struct lease *lease)
{
    struct round *round = lease->round;
    round->kind = REQUEST_RENEW;
    round->number = engine_next_round(e);
    round->confirms = true;
    for (unsigned i = 0; i < lease_masters(e); i++) {
        bool has = round->ballots[i].said == SAID_GRANTED && master_is_up(&e->masters[i]);
        round_say(round, i, SAID_NOTHING);
        round->incomplete |= !has;
        if (has)
            lease_ask(e, lease, i, false);
    }
}

/* To its full ttl, while most of what was given is left; who gives it back sooner saves
 * the masters a renewal. */
static usec renew_given(const struct engine *e, const struct lease *lease)
{
    return e->now + (lease->valid_until - lease->terms.margin - e->now) / 8;
}

static void round_won(struct engine *e, struct lease *lease)
{
    struct round *round = lease->round;
    bool given = round->kind == REQUEST_QUEUE || lease->claim->stands; /* for a short while only */
    lease->valid_until = fencing_valid_until(e, lease);
    if (holding_is_over(e, lease)) {
        usec valid_until = lease->valid_until;
        lease->valid_until = 0;
        if (given && !round->confirms && e->now < valid_until)
            confirm(e, lease);
        else
            acquiring_failed(e, lease, CAUSE_TOO_SLOW);
        return;
    }
    round->decided = true;
    lease->claim->taken_at = e->now;
    passing_leave(e, lease);
    lease->fence = lease->terms.fence ? round->fence : 0; /* its place may be another's */
    round_stop_hoping(round, lease_masters(e));
    e->counters.handoffs += given;
    e->counters.queue_us += given ? (uint64_t)(e->now - lease->asked_at) : 0;
    hold(e, lease, round->max_hold);
    if (given && !round->confirms)
        lease->wake_at = renew_given(e, lease);
    else if (round->incomplete && lease->wake_at > e->now + COMPLETE_AFTER &&
             lease->wake_at != NEVER)
        lease->wake_at = e->now + COMPLETE_AFTER;
    lease_weigh(e, lease);
}

void acquiring_take_over(struct engine *e, struct lease *lease, usec renew_at)
{
    lease->valid_until = claim_valid_until(e, lease->claim);
    lease->claim->handed += lease->claim->handed < UINT8_MAX;
    hold(e, lease, lease->round->max_hold);
    bool is_short = lease->valid_until < e->now + lease->terms.ttl / 2;
    if (is_short || !lease->terms.renew)
        lease->wake_at = renew_given(e, lease); /* to its full ttl */
    if (renew_at < lease->wake_at)
        lease->wake_at = renew_at;
    lease_schedule(e, lease);
}

/* A quorum has prolonged it: of the masters that count for its fence, too? */
static enum verdict weigh_confirmed(const struct engine *e, const struct lease *lease)
{
    bool is_short = e->now >= fencing_valid_until(e, lease) - lease->terms.margin;
    return is_short && fencing_may_be_confirmed(e, lease) ? VERDICT_PENDING : VERDICT_WON;
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
        verdict = lease->round->confirms ? weigh_confirmed(e, lease) : fencing_weigh(e, lease);
    if (verdict == VERDICT_LOST && waiting_for_ticket(e, lease->round))
        return;
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
    passing_leave(e, lease);
    if (lease->claim && lease->attached)
        claim_forget(e, lease->claim);
    else if (lease->claim)
        claim_abandon(e, lease->claim, 0);
    claim_let_go(lease);
    lease_end(e, lease, OUTCOME_NOT_ACQUIRED, cause);
}
