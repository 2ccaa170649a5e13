#include "lease.h"

#include "engine.h"
#include "lease_parts.h"
#include "mutant.h"

#define CAUSE_MASK ((UINT64_C(1) << CAUSE_BITS) - 1)

void lease_add_outcome(struct engine *e, struct lease *lease, enum outcome_kind kind,
                       enum cause cause)
{
    bool first = lease->untold == 0;
    lease->untold |= BIT(kind);
    unsigned shift = CAUSE_BITS * kind;
    lease->causes &= ~(CAUSE_MASK << shift);
    lease->causes |= (uint64_t)cause << shift;
    if (first)
        engine_emit(e, EFFECT_TELL, 0, lease);
}

/* When each master is given up that was asked and has not answered. */
static void overdue(const struct engine *e, const struct lease *lease, usec at[MASTERS_MAX])
{
    for (unsigned i = 0; i < lease_masters(e); i++) {
        const struct ballot *ballot = &lease->round->ballots[i];
        at[i] = NEVER;
        if (ballot->state == BALLOT_ASKED)
            at[i] = master_overdue(e, &e->masters[i], ballot->asked_at, lease->terms.ttl);
    }
}

static usec round_wakes(const struct engine *e, const struct lease *lease)
{
    usec at[MASTERS_MAX];
    overdue(e, lease, at);
    return round_deadline(lease->round, lease_masters(e), at);
}

static void expire(struct engine *e, struct lease *lease)
{
    usec at[MASTERS_MAX];
    unsigned timeouts = 0;
    overdue(e, lease, at);
    if (!round_expire(lease->round, lease_masters(e), e->now, at, &timeouts))
        return;
    e->counters.timeouts += timeouts;
    lease_weigh(e, lease);
}

void lease_schedule(struct engine *e, struct lease *lease)
{
    usec at = NEVER;
    if (lease->round && lease->state != LEASE_IDLE && lease->state != LEASE_LOST)
        at = round_wakes(e, lease);
    if (lease->state == LEASE_WAITING || lease->state == LEASE_HELD)
        at = lease->wake_at < at ? lease->wake_at : at;
    if (lease->state == LEASE_HELD && holding_lost_at(lease) < at)
        at = holding_lost_at(lease);
    if (at == NEVER)
        deadlines_set(&e->deadlines, &lease->deadline, NEVER);
    else
        deadlines_at_latest(&e->deadlines, &lease->deadline, at);
}

/* The last outcome but RELEASED: nothing concerns the masters any more. */
void lease_end(struct engine *e, struct lease *lease, enum outcome_kind kind, enum cause cause)
{
    lease->state = LEASE_IDLE;
    engine_list(e, &e->idle, lease);
    deadlines_set(&e->deadlines, &lease->deadline, NEVER);
    if (kind == OUTCOME_NOT_ACQUIRED && cause == CAUSE_HELD)
        e->counters.contended++;
    else if (kind == OUTCOME_NOT_ACQUIRED &&
             (cause == CAUSE_UNAVAILABLE || cause == CAUSE_TOO_SLOW))
        e->counters.unavailable++;
    lease_add_outcome(e, lease, kind, cause);
}

static void weigh_inspecting(struct engine *e, struct lease *lease)
{
    if (round_undecided(lease->round, lease_masters(e)))
        return;
    unsigned answered = round_count(lease->round, lease_masters(e), SAID_HELD) +
                        round_count(lease->round, lease_masters(e), SAID_FREE);
    lease_end(e, lease, OUTCOME_SEEN, answered < e->quorum ? CAUSE_UNAVAILABLE : CAUSE_NONE);
}

void lease_weigh(struct engine *e, struct lease *lease)
{
    switch (lease->state) {
    case LEASE_ACQUIRING:
        acquiring_weigh(e, lease);
        break;
    case LEASE_WAITING:
        waiting_weigh(e, lease);
        break;
    case LEASE_HELD:
        holding_weigh(e, lease);
        break;
    case LEASE_RELEASING:
        releasing_weigh(e, lease);
        break;
    case LEASE_INSPECTING:
        weigh_inspecting(e, lease);
        break;
    default:
        break;
    }
}

void lease_inspect(struct engine *e, struct lease *lease)
{
    lease->asked_at = e->now;
    lease->state = LEASE_INSPECTING;
    engine_list(e, &e->busy, lease);
    lease_open_round(e, lease, REQUEST_PEEK);
    lease_ask_those_up(e, lease);
    lease_weigh(e, lease);
    lease_schedule(e, lease);
}

void lease_master_up(struct engine *e, struct lease *lease, unsigned master)
{
    waiting_master_up(e, lease);
    if (!lease->round || lease->round->ballots[master].state != BALLOT_HOPED ||
        lease->state == LEASE_RELEASING)
        return;
    if (lease_may_ask(e, lease, master))
        lease_ask_those_up(e, lease);
    else
        lease_hope(e, lease, master);
    lease_weigh(e, lease);
    lease_schedule(e, lease);
}

void lease_master_down(struct engine *e, struct lease *lease, unsigned master)
{
    if (e->misconfigured && (lease->state == LEASE_ACQUIRING || lease->state == LEASE_WAITING)) {
        acquiring_cancel(e, lease, e->misconfigured);
        return;
    }
    if (!lease->round || lease->round->ballots[master].state != BALLOT_HOPED)
        return;
    if (!master_is_hopeful(&e->masters[master]))
        round_say(lease->round, master, SAID_UNREACHABLE);
    lease_weigh(e, lease);
    lease_schedule(e, lease);
}

void lease_wake(struct engine *e, struct lease *lease)
{
    holding_notice_the_end(e, lease);
    if (lease->round)
        expire(e, lease);
    if (lease->state == LEASE_WAITING)
        waiting_look_around(e, lease);
    if (lease->state == LEASE_WAITING && e->now >= lease->wake_at)
        waiting_wake(e, lease);
    else if (lease->state == LEASE_HELD && e->now >= lease->wake_at)
        holding_renew(e, lease);
    lease_schedule(e, lease);
}

void lease_close(struct engine *e, struct lease *lease)
{
    holding_notice_the_end(e, lease);
    if (lease->state == LEASE_INSPECTING)
        lease_end(e, lease, OUTCOME_SEEN, CAUSE_CLOSED);
    else if (lease->state == LEASE_ACQUIRING || lease->state == LEASE_WAITING ||
             (lease->state == LEASE_HELD && lease->untold & BIT(OUTCOME_ACQUIRED)))
        acquiring_cancel(e, lease, CAUSE_CLOSED);
    else if (lease->state == LEASE_HELD)
        releasing_begin(e, lease);
    lease_schedule(e, lease);
}

void lease_abandon(struct engine *e, struct lease *lease, bool keep)
{
    passing_leave(e, lease);
    struct claim *claim = lease->claim;
    bool not_ours = lease->attached && lease->state != LEASE_RELEASING;
    claim_let_go(lease);
    if (claim && (keep || lease->state == LEASE_INSPECTING || not_ours))
        claim_forget(e, claim);
    else if (claim &&
             lease->state != LEASE_LOST) /* a lost one is given back when its time is over */
        claim_abandon(e, claim, 0);
    lease_drop(e, lease);
}

void lease_drop(struct engine *e, struct lease *lease)
{
    engine_unlist(e, lease);
    if (lease->claim && !lease->claim->abandoned)
        claim_drop(e, lease->claim);
    else
        claim_let_go(lease);
    if (lease->round && lease->round->line)
        line_leave(e, lease);
    if (lease->round)
        engine_give_round(e, lease->round);
    lease->round = NULL;
    deadlines_leave(&e->deadlines, &lease->deadline);
    lease->state = LEASE_IDLE;
}

bool lease_init(struct engine *e, struct lease *lease, struct names *names,
                const struct terms *terms, const char *token, size_t token_length)
{
    *lease = (struct lease){.terms = {.ttl = terms->ttl,
                                      .margin = terms->margin,
                                      .renew = terms->renew,
                                      .fence = terms->fence},
                            .attached = token != NULL};
    lease->deadline.owner = OWNER_LEASE;
    lease->wake_at = NEVER;
    lease->round = engine_take_round(e);
    if (!lease->round)
        return false;
    if (!deadlines_enter(&e->deadlines, &e->memory)) {
        engine_give_round(e, lease->round);
        return false;
    }
    lease->claim = claim_new(e, names, token, token_length);
    if (!lease->claim) {
        deadlines_leave(&e->deadlines, &lease->deadline);
        engine_give_round(e, lease->round);
        return false;
    }
    lease->claim->lease = lease;
    lease->round->names = names_share(names);
    lease->round->wait = terms->wait;
    lease->round->max_hold = terms->max_hold;
    lease->round->ticket = 0;
    lease->round->aside = lease->round->outranked = lease->round->ahead_alone = 0;
    lease->round->yields = 0;
    lease->round->yielded_at = 0;
    engine_list(e, &e->idle, lease);
    round_begin(lease->round, lease_masters(e), REQUEST_ACQUIRE, 0, 0);
    return true;
}

static enum cause cause_of(const struct lease *lease, enum outcome_kind kind)
{
    return (enum cause)(lease->causes >> CAUSE_BITS * kind & CAUSE_MASK);
}

bool lease_tell(struct engine *e, struct lease *lease, struct outcome *outcome)
{
    if (!MUTANT(TELL_UNCHECKED))
        holding_notice_the_end(e, lease);
    lease_schedule(e, lease);
    if (!lease->untold) {
        holding_put_round_away(e, lease);
        return false;
    }
    enum outcome_kind kind = (enum outcome_kind)__builtin_ctz(lease->untold);
    bool again = MUTANT(TOLD_TWICE) && kind == OUTCOME_ACQUIRED && e->counters.acquired % 2 == 0;
    if (!again)
        lease->untold &= (uint16_t)~BIT(kind);
    *outcome = (struct outcome){.kind = kind,
                                .cause = cause_of(lease, kind),
                                .elapsed = e->now - lease->asked_at,
                                .rounds = lease->rounds};
    if (lease->claim)
        outcome->granted = claim_health(e, lease->claim);
    if (lease->valid_until > e->now)
        outcome->valid = lease->valid_until - e->now;
    outcome->fence = lease_fence(lease);
    if (kind == OUTCOME_ACQUIRED) {
        lease->attached = false; /* from now on it is ours to release */
        e->counters.acquired++;
        e->counters.acquire_us += (uint64_t)outcome->elapsed;
    }
    return true;
}

usec lease_fence(const struct lease *lease)
{
    return lease->untold & BIT(OUTCOME_ACQUIRED) ? 0 : lease->fence;
}

usec lease_wait_until(const struct lease *lease)
{
    usec wait = lease->round->wait;
    return wait == NEVER ? NEVER : lease->asked_at + wait;
}

usec lease_valid_until(const struct lease *lease)
{
    bool told = lease->state == LEASE_HELD && !(lease->untold & BIT(OUTCOME_ACQUIRED));
    return told ? lease->valid_until : 0;
}

bool lease_is_extending(const struct lease *lease)
{
    return lease->extending || lease->untold & (BIT(OUTCOME_EXTENDED) | BIT(OUTCOME_NOT_EXTENDED));
}
