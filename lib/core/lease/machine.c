#include "lease/lease.h"

#include "lease/further.h"
#include "lease/lease_parts.h"
#include "lease/local_queue.h"
#include "ground/histogram.h"

/* ---- what a lease does in each state -------------------------------------- */

static void nothing(struct engine *e, struct lease *lease)
{
    (void)e, (void)lease;
}

static void cancel(struct engine *e, struct lease *lease)
{
    acquiring_cancel(e, lease, CAUSE_CANCELLED);
}

static void cancel_at_close(struct engine *e, struct lease *lease)
{
    acquiring_cancel(e, lease, CAUSE_CLOSED);
}

static void refuse(struct engine *e, struct lease *lease)
{
    if (!stranded_enter(e, lease))
        acquiring_cancel(e, lease, e->misconfigured);
}

/* ACQUIRED was not reported, so RELEASED is not reported either. */
static bool is_untold(const struct lease *lease)
{
    return lease->untold & BIT(OUTCOME_ACQUIRED);
}

static void release_held(struct engine *e, struct lease *lease)
{
    if (is_untold(lease))
        cancel(e, lease);
    else if (releasing_is_early(e, lease) || !handover_give(e, lease))
        releasing_begin(e, lease);
}

static void close_held(struct engine *e, struct lease *lease)
{
    if (is_untold(lease))
        cancel_at_close(e, lease);
    else
        releasing_begin(e, lease);
}

static void renew_when_due(struct engine *e, struct lease *lease)
{
    if (e->now >= lease->wake_at && !holding_put_off(e, lease))
        holding_renew(e, lease);
}

static void extend_held(struct engine *e, struct lease *lease)
{
    lease->extending = true;
    holding_renew(e, lease);
    lease_schedule(e, lease);
}

/* The renewal comes when the upgrade is decided. */
static void extend_later(struct engine *e, struct lease *lease)
{
    (void)e;
    lease->extending = true;
}

static void end_inspecting(struct engine *e, struct lease *lease)
{
    lease_end(e, lease, OUTCOME_SEEN, CAUSE_CLOSED);
}

typedef void handler(struct engine *engine, struct lease *lease);

/* The table at the head of lease.h. */
struct conduct {
    handler *weigh;   /* votes may have changed */
    handler *woken;   /* a deadline has come */
    handler *extend;  /* the user extends it */
    handler *release; /* the user releases it */
    handler *close;   /* the client is closed */
    handler *refuse;  /* the list of masters is wrong */
    handler *give_up; /* closing has taken too long */
};

/* clang-format off */
static const struct conduct conduct[LEASE_STATES] = {
    /* or nothing:        weigh                   woken                extend       release             close            refuse   give_up */
    [LEASE_IDLE]       = {nothing,                nothing,             nothing,     releasing_by_token, nothing,         nothing, nothing},
    [LEASE_BEHIND]     = {nothing,                queue_wake_outside,  nothing,     cancel,             cancel_at_close, refuse,  nothing},
    [LEASE_PAUSING]    = {nothing,                queue_wake_outside,  nothing,     cancel,             cancel_at_close, refuse,  nothing},
    [LEASE_QUEUED]     = {queue_weigh,            queue_wake,          nothing,     cancel,             cancel_at_close, refuse,  nothing},
    [LEASE_ASKING]     = {acquiring_weigh,        nothing,             nothing,     cancel,             cancel_at_close, refuse,  nothing},
    [LEASE_ATTACHING]  = {acquiring_weigh,        nothing,             nothing,     cancel,             cancel_at_close, refuse,  nothing},
    [LEASE_GATHERING]  = {acquiring_weigh,        nothing,             nothing,     cancel,             cancel_at_close, refuse,  nothing},
    [LEASE_STORING]    = {acquiring_weigh,        nothing,             nothing,     cancel,             cancel_at_close, refuse,  nothing},
    [LEASE_CONFIRMING] = {acquiring_weigh,        nothing,             nothing,     cancel,             cancel_at_close, refuse,  nothing},
    [LEASE_FAILING]    = {acquiring_weigh_failed, nothing,             nothing,     cancel,             cancel_at_close, refuse,  nothing},
    [LEASE_HELD]       = {holding_weigh,          renew_when_due,      extend_held, release_held,       close_held,      nothing, nothing},
    [LEASE_RENEWING]   = {holding_weigh,          renew_when_due,      extend_held, release_held,       close_held,      nothing, nothing},
    [LEASE_UPGRADING]  = {changing_weigh,         nothing,             extend_later, release_held,      close_held,      nothing, nothing},
    [LEASE_LOST]       = {nothing,                nothing,             nothing,     releasing_end_lost,     nothing,         nothing, nothing},
    [LEASE_RELEASING]  = {releasing_weigh,        nothing,             nothing,     nothing,            nothing,         nothing, releasing_give_up},
    [LEASE_INSPECTING] = {inspecting_weigh,       nothing,             nothing,     nothing,            end_inspecting,  nothing, nothing},
};
/* clang-format on */

static const struct conduct *conduct_of(const struct lease *lease)
{
    return &conduct[lease->state];
}

static void weigh(struct engine *e, struct lease *lease)
{
    conduct_of(lease)->weigh(e, lease);
}

/* ---- what happens to a lease ------------------------------------------------ */

static bool awaits_connection(const struct lease *lease, unsigned master)
{
    const struct round *round = lease_round(lease);
    return round && round->ballots[master].state == BALLOT_CONNECTING;
}

void lease_master_up(struct engine *e, struct lease *lease, unsigned master)
{
    queue_master_up(e, lease);
    bool claim_asks = lease->state == LEASE_RELEASING && !releasing_is_leaving(lease);
    if (!awaits_connection(lease, master) || claim_asks)
        return;
    if (lease_may_ask(e, lease, master))
        lease_ask_those_up(e, lease);
    else
        lease_await_connection(e, lease, master);
    weigh(e, lease);
    lease_schedule(e, lease);
}

void lease_weigh_again(struct engine *e, struct lease *lease, unsigned master)
{
    (void)master;
    weigh(e, lease);
    lease_schedule(e, lease);
}

void lease_refuse(struct engine *e, struct lease *lease, unsigned master)
{
    (void)master;
    if (e->misconfigured)
        conduct_of(lease)->refuse(e, lease);
}

void lease_master_down(struct engine *e, struct lease *lease, unsigned master)
{
    lease_refuse(e, lease, master);
    if (lease->state == LEASE_IDLE || !awaits_connection(lease, master))
        return;
    if (!master_is_connecting(&e->masters[master]))
        round_vote(lease->attempt->round, master, VOTE_UNREACHABLE);
    weigh(e, lease);
    lease_schedule(e, lease);
}

void lease_look_at_masters(struct engine *e, struct lease *lease, unsigned master)
{
    (void)master;
    if (e->now < lease_wait_until(lease))
        return;
    lease_await_masters(e, lease);
    weigh(e, lease);
    lease_schedule(e, lease);
}

void lease_wake(struct engine *e, struct lease *lease)
{
    releasing_notice_loss(e, lease);
    if (lease_round(lease) && lease_expire(e, lease))
        weigh(e, lease);
    conduct_of(lease)->woken(e, lease);
    lease_schedule(e, lease);
}

void lease_close(struct engine *e, struct lease *lease)
{
    releasing_notice_loss(e, lease);
    conduct_of(lease)->close(e, lease);
    lease_schedule(e, lease);
}

void lease_abandon(struct engine *e, struct lease *lease, bool keep)
{
    place_leave(e, lease);
    bool stays = releasing_is_leaving(lease);
    if (lease_is_held(lease) && !keep && releasing_is_early(e, lease)) {
        releasing_ask_to_keep(e, lease);
        stays = true;
    }
    struct claim *claim = lease->claim;
    bool not_ours = lease->attached && lease->state != LEASE_RELEASING;
    claim_let_go(&lease->claim);
    if (claim && (keep || stays || lease->state == LEASE_INSPECTING || not_ours)) {
        e->left_behind |= stays;
        claim_forget(e, claim);
    } else if (claim &&
               lease->state != LEASE_LOST) { /* a lost lease is released when its time is over */
        claim_abandon(e, claim, 0);
    }
    lease_drop(e, lease);
}

void lease_drop(struct engine *e, struct lease *lease)
{
    if (lease->attempt && lease->attempt->permit)
        further_drop(e, lease);
    lease_unmake(e, lease);
}

bool lease_init(struct engine *e, struct lease *lease, struct names *names,
                const struct terms *terms, const char *token, size_t token_length)
{
    return terms->permits ? permits_make(e, lease, names, terms)
                          : lease_make(e, lease, names, terms, token, token_length);
}

/* LOST may come late: then it tells since when the lease is over.  A lost lease that was released
 * is over, whatever was left of it. */
static usec end_told(const struct engine *e, const struct lease *lease, enum outcome_kind kind)
{
    usec left = lease->valid_until - e->now;
    if (left > 0)
        return lease->state == LEASE_IDLE ? 0 : left;
    bool is_told = kind == OUTCOME_LOST && lease->valid_until;
    return is_told ? left : 0;
}

/* The kinds are in the order of their reports, but a change goes first: all later reports are about
 * the changed lease. */
static enum outcome_kind next_untold(const struct lease *lease)
{
    unsigned changes = lease->untold >> OUTCOME_CHANGED;
    return (enum outcome_kind)(changes ? OUTCOME_CHANGED + __builtin_ctz(changes)
                                       : __builtin_ctz(lease->untold));
}

static void renew_by(struct engine *e, struct lease *lease, usec at)
{
    lease_wake_by(lease, at);
    lease_schedule(e, lease);
}

bool lease_tell(struct engine *e, struct lease *lease, struct outcome *outcome)
{
    releasing_notice_loss(e, lease);
    lease_schedule(e, lease);
    if (!lease->untold) {
        holding_put_round_away(e, lease);
        return false;
    }
    enum outcome_kind kind = next_untold(lease);
    lease->untold &= (uint16_t)~BIT(kind);
    *outcome = (struct outcome){.kind = kind,
                                .cause = lease_cause_of(lease, kind),
                                .elapsed = e->now - lease->asked_at,
                                .rounds = lease->rounds};
    if (lease->claim)
        outcome->granted = claim_health(e, lease->claim);
    outcome->ends = end_told(e, lease, kind);
    outcome->valid = outcome->ends > 0 ? outcome->ends : 0;
    outcome->fence = lease_fence(lease);
    if (kind == OUTCOME_RELEASED && !outcome->cause && releasing_is_early(e, lease))
        outcome->kept = lease_keep_until(lease) - e->now;
    if (kind == OUTCOME_NOT_CHANGED && lease->state == LEASE_HELD)
        renew_by(e, lease, e->now);
    if (kind == OUTCOME_ACQUIRED) {
        lease->attached = false; /* from now on releasing it is our duty */
        if (lease->attempt->at_least)
            lease_extra(lease)->keep_until = e->now + lease->attempt->at_least;
        e->counters.acquired++;
        histogram_add(&e->counters.acquiring, outcome->elapsed);
        lease_note_waited(lease, outcome->elapsed);
    }
    return true;
}

/* If the lease is not held, NOT_ACQUIRED or LOST is on its way, and tells so. */
void lease_extend(struct engine *e, struct lease *lease, usec ttl)
{
    releasing_notice_loss(e, lease);
    if (ttl && lease_is_held(lease))
        lease->terms.ttl = ttl;
    conduct_of(lease)->extend(e, lease);
}

/* All held leases are gone through, so only after a rare event. */
static struct lease *find_held(const struct engine *e, struct slice token)
{
    char text[TOKEN_MAX + 1];
    for (struct lease *lease = e->held.first; lease; lease = lease->next) {
        lease_token(e, lease, text);
        if (slices_are_same(slice_of(text), token))
            return lease;
    }
    return NULL;
}

/* Masters may have answered an upgrade before: so it comes after. */
bool lease_renew_soon(struct engine *e, struct slice token)
{
    struct lease *lease = find_held(e, token);
    bool upgrades = lease && lease->state == LEASE_UPGRADING;
    if (lease && lease->terms.renew && !upgrades)
        renew_by(e, lease, e->now);
    return !upgrades;
}

/* If the lease is not held, LOST or RELEASED is on its way, in place of CHANGED. */
static void change_held(struct engine *e, struct lease *lease, handler *changing)
{
    releasing_notice_loss(e, lease);
    if (!lease_is_held(lease))
        return;
    changing(e, lease);
    lease_schedule(e, lease);
}

void lease_downgrade(struct engine *e, struct lease *lease)
{
    change_held(e, lease, changing_downgrade);
}

void lease_upgrade(struct engine *e, struct lease *lease)
{
    change_held(e, lease, changing_upgrade);
}

/* An answer to a question that goes on can only move the deadline out, so the deadline is not set
 * anew: when it comes, the lease looks again. */
static bool goes_on(const struct lease *lease, unsigned state, uint32_t question)
{
    bool waits = lease_is_acquiring(lease) || state == LEASE_RELEASING;
    const struct round *round = lease_round(lease);
    return waits && lease->state == state && round && round->number == question &&
           round->grace == NEVER;
}

/* Asks again if the master has forgotten the script, or calls us late because its wall clock has
 * stepped since hello. */
static bool ask_lease_again(struct engine *e, struct lease *lease, unsigned master,
                            const struct reply *reply)
{
    struct ballot *ballot = &lease->attempt->round->ballots[master];
    if (reply->answer == ANSWER_LATE) {
        ballot->late = true;
        master_set_clock(&e->masters[master], reply->master_time, e->now);
    } else if (reply->answer != ANSWER_NOSCRIPT) {
        return false;
    }
    if (reply->tag.kind == REQUEST_RELEASE)
        return true; /* the claim asks again */
    bool other_question =
        reply->tag.kind != lease->attempt->round->kind; /* an acquire, in STORING */
    if (ballot->again || lease->state == LEASE_LOST || other_question)
        return false;
    if (!lease_may_ask(e, lease, master)) { /* the master abstains since it was asked */
        bool counts_without = lease->attempt->round->kind != REQUEST_QUEUE;
        if (counts_without)
            lease_await_connection(e, lease, master);
        return counts_without;
    }
    ballot->again = true;
    lease_ask(e, lease, master, reply->answer == ANSWER_NOSCRIPT);
    return true;
}

static void hear_answer(struct engine *e, struct lease *lease, unsigned master,
                        const struct reply *reply)
{
    struct round *round = lease_round(lease);
    if (!round || reply->tag.round != round->number)
        return;
    /* Each refresh of a place tells the clock, also when the next one is under way. */
    bool refreshes = round->kind == REQUEST_QUEUE && reply->tag.kind == REQUEST_QUEUE;
    if (round->ballots[master].state != BALLOT_ASKED && !refreshes)
        return;
    if (ask_lease_again(e, lease, master, reply))
        return;
    if (round->kind == REQUEST_PEEK)
        inspecting_record(e, lease, master, reply);
    else if (round->kind == REQUEST_QUEUE)
        queue_hear(e, lease, master, reply);
    else
        recording_take(e, lease, master, reply);
}

static __attribute__((cold, noinline)) void note_odd(struct lease *lease, unsigned master,
                                                     const struct reply *reply, bool broken)
{
    struct round *round = lease_round(lease);
    if (!round || reply->tag.round != round->number)
        return;
    round->ballots[master].broken |= broken;
    round->uncounted |= reply->uncounted;
}

/* All that masters that abstain had promised is void, and so is what they said in this round. */
static __attribute__((cold, noinline)) void take_back_void_votes(struct engine *e,
                                                                 struct lease *lease)
{
    const struct round *round = lease_round(lease);
    for (unsigned i = 0; round && i < lease_masters(e); i++) {
        const struct ballot *ballot = &round->ballots[i];
        bool is_yes = ballot->vote == VOTE_GRANTED || ballot->vote == VOTE_HEALED;
        if (is_yes && e->now < e->masters[i].abstains_until && !lease->claim->at[i].promise)
            lease_vote_uncounted(e, lease, i);
    }
}

void lease_hear(struct engine *e, struct lease *lease, unsigned master, const struct reply *reply)
{
    struct claim *claim = lease->claim;
    unsigned state = lease->state;
    uint32_t question = lease_round(lease) ? lease_round(lease)->number : 0;
    releasing_notice_loss(e, lease);
    bool counts = lease->claim == claim && !claim->abandoned &&
                  (lease_is_acquiring(lease) || lease_is_waiting(lease) || lease_is_held(lease));
    bool broken = reply->answer == ANSWER_HEALED && claim->at[master].promise > e->now &&
                  e->now >= e->masters[master].abstains_until;
    fencing_notice(e, lease, master);
    counts = counts && claim_counts(e, claim, master, reply);
    if (claim_hear(e, claim, master, reply, counts ? lease->terms.ttl : 0))
        lease_release_sent(e, lease, BIT(master));
    fencing_notice(e, lease, master);
    if (lease->claim == claim) {
        hear_answer(e, lease, master, reply);
        if (claim->withdrawn)
            take_back_void_votes(e, lease);
        if (broken || reply->uncounted)
            note_odd(lease, master, reply, broken);
        releasing_follow_the_ledger(e, lease);
        weigh(e, lease);
        if (!goes_on(lease, state, question))
            lease_schedule(e, lease);
    }
    claim_answered(e, claim);
}

void lease_release(struct engine *e, struct lease *lease)
{
    releasing_notice_loss(e, lease);
    conduct_of(lease)->release(e, lease);
    lease_schedule(e, lease);
}

/* The user does not wait for closing any longer: releases that are not confirmed stay owed. */
void lease_give_up(struct engine *e, struct lease *lease)
{
    conduct_of(lease)->give_up(e, lease);
}
