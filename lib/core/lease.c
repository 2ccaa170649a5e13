#include "lease.h"

#include "engine.h"
#include "mutant.h"

#define RETRY_FIRST MS(10)
#define RETRY_LAST MS(200)
#define RENEW_SOON_LEAST MS(5)
#define COMPLETE_AFTER MS(50) /* a lease won before all masters were connected */

#define BIT(outcome) (uint16_t)(1U << (outcome))
#define WHILE_HELD                                                                                 \
    (BIT(OUTCOME_EXTENDED) | BIT(OUTCOME_NOT_EXTENDED) | BIT(OUTCOME_AT_RISK) |                    \
     BIT(OUTCOME_HEALTHY))

static void weigh(struct engine *e, struct lease *lease);

static unsigned masters(const struct engine *e)
{
    return e->config.masters;
}

/* ---- telling ------------------------------------------------------------- */

static void add_outcome(struct engine *e, struct lease *lease, enum outcome_kind kind,
                        enum cause cause)
{
    bool first = lease->untold == 0;
    lease->untold |= BIT(kind);
    lease->causes[kind] = (uint8_t)cause;
    if (first)
        engine_emit(e, EFFECT_TELL, 0, lease);
}

/* A margin before it ends. */
static usec lost_at(const struct lease *lease)
{
    if (MUTANT(MARGIN_IGNORED) || MUTANT(LOST_LATE))
        return lease->valid_until + (MUTANT(LOST_LATE) ? MS(10) : 0);
    return lease->valid_until - lease->terms.margin;
}

static void schedule(struct engine *e, struct lease *lease)
{
    usec at = NEVER;
    if (lease->round && lease->state != LEASE_IDLE && lease->state != LEASE_LOST)
        at = round_deadline(lease->round, masters(e));
    if (lease->state == LEASE_WAITING || lease->state == LEASE_HELD)
        at = lease->wake_at < at ? lease->wake_at : at;
    if (lease->state == LEASE_HELD && lost_at(lease) < at)
        at = lost_at(lease);
    if (at == NEVER)
        deadlines_set(&e->deadlines, &lease->deadline, NEVER);
    else
        deadlines_at_latest(&e->deadlines, &lease->deadline, at);
}

/* The last outcome but RELEASED: nothing concerns the masters any more. */
static void end(struct engine *e, struct lease *lease, enum outcome_kind kind, enum cause cause)
{
    lease->state = LEASE_IDLE;
    engine_unlist(e, lease);
    deadlines_set(&e->deadlines, &lease->deadline, NEVER);
    if (kind == OUTCOME_NOT_ACQUIRED && cause == CAUSE_HELD)
        e->counters.contended++;
    else if (kind == OUTCOME_NOT_ACQUIRED && (cause == CAUSE_UNAVAILABLE || cause == CAUSE_TOO_SLOW))
        e->counters.unavailable++;
    add_outcome(e, lease, kind, cause);
}

/* ---- asking -------------------------------------------------------------- */

static bool may_ask(const struct engine *e, const struct lease *lease, unsigned master)
{
    if (lease->round->kind == REQUEST_ACQUIRE)
        return master_may_grant(e, &e->masters[master]);
    return master_is_up(&e->masters[master]);
}

static void ask(struct engine *e, struct lease *lease, unsigned master, bool whole)
{
    struct round *round = lease->round;
    bool held = lease->state == LEASE_HELD;
    round_ask(round, master,
              e->now + master_patience(e, &e->masters[master], lease->terms.ttl));
    claim_ask(e, lease->claim, master,
              &(struct question){.kind = round->kind,
                                 .round = round->number,
                                 .ttl = lease->terms.ttl,
                                 .heal = held && !round->ballots[master].late &&
                                         (master_may_grant(e, &e->masters[master]) ||
                                          MUTANT(HEAL_QUARANTINED)),
                                 .not_after = held && !MUTANT(HEAL_LATE) ? lease->valid_until : 0,
                                 .whole = whole});
}

static void hope_or_say_why_not(struct engine *e, struct lease *lease, unsigned master)
{
    const struct master *it = &e->masters[master];
    struct ballot *ballot = &lease->round->ballots[master];
    if (may_ask(e, lease, master) || master_is_hopeful(it)) {
        ballot->state = BALLOT_HOPED;
    } else if (master_abstains(e, it)) {
        round_say(lease->round, master, SAID_ABSTAINS);
        ballot->remaining_ms = (it->abstains_until - e->now + 999) / 1000;
    } else {
        round_say(lease->round, master, SAID_UNREACHABLE);
    }
}

static void open_round(struct engine *e, struct lease *lease, enum request_kind kind)
{
    usec patience = e->config.connect_timeout;
    if (lease->terms.ttl && patience > lease->terms.ttl / 4)
        patience = lease->terms.ttl / 4;
    round_begin(lease->round, masters(e), kind, engine_next_round(e), e->now + patience);
    for (unsigned i = 0; i < masters(e); i++)
        hope_or_say_why_not(e, lease, i);
}

/* Nothing is sent before a quorum can be asked: a minority held while waiting for
 * connections would only be in the way of others. */
static void ask_who_can_be_asked(struct engine *e, struct lease *lease)
{
    unsigned can = 0, least = lease->state == LEASE_ACQUIRING ? e->quorum : 1;
    for (unsigned i = 0; i < masters(e); i++)
        can += lease->round->ballots[i].state == BALLOT_HOPED && may_ask(e, lease, i);
    if (!lease->round->begun && can < least)
        return;
    for (unsigned i = 0; can && i < masters(e); i++)
        if (lease->round->ballots[i].state == BALLOT_HOPED && may_ask(e, lease, i))
            ask(e, lease, i, false);
}

/* ---- acquiring ----------------------------------------------------------- */

static void acquire_round(struct engine *e, struct lease *lease)
{
    lease->state = LEASE_ACQUIRING;
    lease->rounds++;
    e->counters.rounds++;
    open_round(e, lease, lease->attached ? REQUEST_RENEW : REQUEST_ACQUIRE);
    ask_who_can_be_asked(e, lease);
    weigh(e, lease);
}

void lease_acquire(struct engine *e, struct lease *lease)
{
    lease->asked_at = e->now;
    lease->wait_until = lease->terms.wait == NEVER ? NEVER : e->now + lease->terms.wait;
    e->counters.acquires++;
    if (e->closing || e->misconfigured) {
        end(e, lease, OUTCOME_NOT_ACQUIRED, e->closing ? CAUSE_CLOSED : e->misconfigured);
        return;
    }
    if (!lease->attached)
        claim_fresh_token(e, lease->claim);
    engine_list(e, &e->busy, lease);
    acquire_round(e, lease);
    schedule(e, lease);
}

static bool retries(struct engine *e, struct lease *lease)
{
    bool over = e->now >= lease->wait_until && !MUTANT(WAIT_FOREVER);
    if (e->closing || e->misconfigured || lease->attached || over)
        return false;
    usec longest = RETRY_FIRST << (lease->rounds < 6 ? lease->rounds : 5);
    if (longest > RETRY_LAST)
        longest = RETRY_LAST;
    lease->wake_at = e->now + engine_jitter(e, longest / 2, longest);
    if (lease->wake_at > lease->wait_until)
        lease->wake_at = lease->wait_until;
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
    enum cause cause = e->closing        ? CAUSE_CLOSED
                       : e->misconfigured ? e->misconfigured
                                          : (enum cause)lease->failing;
    end(e, lease, OUTCOME_NOT_ACQUIRED, cause);
}

static void try_again(struct engine *e, struct lease *lease)
{
    lease->claim = claim_new(e, lease->names, NULL, 0);
    if (!lease->claim) {
        end(e, lease, OUTCOME_NOT_ACQUIRED, CAUSE_MEMORY);
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
    for (unsigned i = 0; i < masters(e); i++)
        if (round->ballots[i].said == SAID_HELD && master_is_up(&e->masters[i])) {
            round->ballots[i].again = false; /* another script */
            ask(e, lease, i, false);
        }
}

static void round_failed(struct engine *e, struct lease *lease, enum cause cause)
{
    lease->round->decided = true;
    round_close(lease->round, masters(e));
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
    if (round_undecided(lease->round, masters(e)) == 0)
        conclude(e, lease);
}

static enum cause why_failed(const struct engine *e, const struct lease *lease)
{
    const struct round *round = lease->round;
    unsigned refused = round_count(round, masters(e), SAID_HELD);
    unsigned gone = round_count(round, masters(e), SAID_FREE);
    unsigned answered = round_yes(round, masters(e)) + refused + gone +
                        round_undecided(round, masters(e));
    if (answered < e->quorum)
        return CAUSE_UNAVAILABLE;
    return lease->attached ? CAUSE_GONE : CAUSE_HELD;
}

static usec renew_when(struct engine *e, const struct lease *lease)
{
    if (!lease->terms.renew || e->now >= lease->hold_until)
        return NEVER;
    usec third = lease->terms.ttl / 3;
    return e->now + engine_jitter(e, third - third / 10, third);
}

static bool is_too_late(const struct engine *e, const struct lease *lease)
{
    bool unchecked = MUTANT(VALIDITY_UNCHECKED) && !lease_valid_until(lease);
    return e->now >= lost_at(lease) && !unchecked;
}

static void round_won(struct engine *e, struct lease *lease)
{
    lease->valid_until = claim_valid_until(e, lease->claim);
    if (is_too_late(e, lease)) {
        lease->valid_until = 0;
        round_failed(e, lease, CAUSE_TOO_SLOW);
        return;
    }
    lease->round->decided = true;
    bool incomplete = round_stop_hoping(lease->round, masters(e));
    engine_unlist(e, lease);
    engine_list(e, &e->held, lease);
    lease->state = LEASE_HELD;
    lease->risk = RISK_NONE;
    lease->hold_until = lease->terms.max_hold ? e->now + lease->terms.max_hold : NEVER;
    lease->wake_at = renew_when(e, lease);
    if (incomplete && lease->wake_at > e->now + COMPLETE_AFTER && lease->wake_at != NEVER)
        lease->wake_at = e->now + COMPLETE_AFTER;
    add_outcome(e, lease, OUTCOME_ACQUIRED, CAUSE_NONE);
    weigh(e, lease);
}

static void weigh_acquiring(struct engine *e, struct lease *lease)
{
    if (lease->round->decided) {
        if (round_undecided(lease->round, masters(e)) == 0)
            conclude(e, lease);
        return;
    }
    switch (round_verdict(lease->round, masters(e))) {
    case VERDICT_WON:
        round_won(e, lease);
        break;
    case VERDICT_LOST:
        round_failed(e, lease, why_failed(e, lease));
        break;
    case VERDICT_PENDING:
        break;
    }
}

static void cancel(struct engine *e, struct lease *lease, enum cause cause)
{
    lease->untold = 0;
    lease->valid_until = 0;
    if (lease->claim && lease->attached)
        claim_forget(e, lease->claim);
    else if (lease->claim)
        claim_abandon(e, lease->claim, 0);
    claim_let_go(lease);
    end(e, lease, OUTCOME_NOT_ACQUIRED, cause);
}

/* ---- holding ------------------------------------------------------------- */

static void set_risk(struct engine *e, struct lease *lease, enum risk risk)
{
    if (lease->risk == risk)
        return;
    lease->risk = (uint8_t)risk;
    lease->untold &= (uint16_t) ~(BIT(OUTCOME_AT_RISK) | BIT(OUTCOME_HEALTHY));
    add_outcome(e, lease, risk ? OUTCOME_AT_RISK : OUTCOME_HEALTHY, CAUSE_NONE);
}

static void renewal_won(struct engine *e, struct lease *lease)
{
    lease->round->decided = true;
    e->counters.renewals++;
    lease->wake_at = renew_when(e, lease);
    if (lease->extending)
        add_outcome(e, lease, OUTCOME_EXTENDED, CAUSE_NONE);
    lease->extending = false;
}

static void renewal_missed(struct engine *e, struct lease *lease)
{
    if (lease->round)
        lease->round->decided = true;
    e->counters.renewals_missed++;
    if (lease->extending)
        add_outcome(e, lease, OUTCOME_NOT_EXTENDED, CAUSE_UNAVAILABLE);
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
    unsigned yes = round_yes(round, masters(e));
    set_risk(e, lease,
             yes < e->quorum                           ? RISK_MISSED
             : yes == e->quorum && yes < masters(e) ? RISK_BARE
                                                       : RISK_NONE);
}

/* A lease that is merely held has no round; one at risk keeps it, to tell at a loss
 * what each master said last. */
static void put_round_away(struct engine *e, struct lease *lease)
{
    if (!lease->round || lease->untold || lease->risk || lease->state != LEASE_HELD ||
        !lease->round->decided || round_undecided(lease->round, masters(e)))
        return;
    engine_give_round(e, lease->round);
    lease->round = NULL;
}

static void weigh_held(struct engine *e, struct lease *lease)
{
    struct round *round = lease->round;
    if (!round)
        return;
    if (!round->decided) {
        enum verdict verdict = round_verdict(round, masters(e));
        if (verdict == VERDICT_WON)
            renewal_won(e, lease);
        else if (verdict == VERDICT_LOST)
            renewal_missed(e, lease);
    }
    if (!round->decided || round_undecided(round, masters(e)))
        return;
    judge_health(e, lease);
    put_round_away(e, lease);
}

static void renew(struct engine *e, struct lease *lease)
{
    lease->wake_at = NEVER;
    if (e->now >= lease->hold_until) {
        if (lease->extending)
            add_outcome(e, lease, OUTCOME_NOT_EXTENDED, CAUSE_MAX_HOLD);
        lease->extending = false;
        return;
    }
    if (!lease->round)
        lease->round = engine_take_round(e);
    if (!lease->round) {
        renewal_missed(e, lease);
        return;
    }
    round_begin(lease->round, masters(e), REQUEST_RENEW, engine_next_round(e), e->now);
    for (unsigned i = 0; i < masters(e); i++) {
        if (master_is_up(&e->masters[i]))
            ask(e, lease, i, false);
        else
            round_say(lease->round, i, SAID_UNREACHABLE);
    }
    weigh(e, lease);
}

/* Won, but over before anybody was told: it was never had. */
static void unsay(struct engine *e, struct lease *lease)
{
    lease->untold = 0;
    lease->valid_until = 0;
    lease->state = LEASE_ACQUIRING;
    engine_unlist(e, lease);
    engine_list(e, &e->busy, lease);
    round_failed(e, lease, CAUSE_TOO_SLOW);
}

static void lose(struct engine *e, struct lease *lease, enum cause cause)
{
    if (lease->untold & BIT(OUTCOME_ACQUIRED)) {
        unsay(e, lease);
        return;
    }
    if (cause == CAUSE_EXPIRED && e->now >= lease->hold_until)
        cause = CAUSE_MAX_HOLD;
    e->counters.lost++;
    lease->state = LEASE_LOST;
    lease->untold &= (uint16_t)~WHILE_HELD;
    engine_unlist(e, lease);
    deadlines_set(&e->deadlines, &lease->deadline, NEVER);
    /* The holder may still be winding down: others get in when validity has ended. */
    bool at_once = cause == CAUSE_GONE || MUTANT(RELEASED_TOO_SOON);
    claim_abandon(e, lease->claim, at_once ? 0 : lease->valid_until);
    add_outcome(e, lease, OUTCOME_LOST, cause);
}

/* Seen before anything else is done with a lease, whatever woke us and however
 * late: a lease past its time is lost, and never comes back. */
static void notice_the_end(struct engine *e, struct lease *lease)
{
    if (lease->state == LEASE_HELD && is_too_late(e, lease))
        lose(e, lease, CAUSE_EXPIRED);
}

void lease_extend(struct engine *e, struct lease *lease, usec ttl)
{
    notice_the_end(e, lease);
    if (lease->state != LEASE_HELD)
        return; /* NOT_ACQUIRED or LOST is on its way, and says it */
    if (ttl)
        lease->terms.ttl = ttl;
    lease->extending = true;
    renew(e, lease);
    schedule(e, lease);
}

/* ---- releasing ----------------------------------------------------------- */

static void hope_for_release(struct engine *e, struct lease *lease, unsigned master)
{
    const struct standing *at = &lease->claim->at[master];
    if (at->presence == ABSENT)
        round_say(lease->round, master, SAID_FREE);
    else if (master_is_up(&e->masters[master]) || master_is_hopeful(&e->masters[master]))
        lease->round->ballots[master].state = BALLOT_HOPED;
    else
        round_say(lease->round, master, SAID_UNREACHABLE);
}

static void give_back(struct engine *e, struct lease *lease)
{
    /* Validity ends first: from here on valid_for() is 0. */
    lease->state = LEASE_RELEASING;
    lease->valid_until = 0;
    lease->untold &= (uint16_t)~WHILE_HELD;
    engine_unlist(e, lease);
    engine_list(e, &e->busy, lease);
    if (!lease->round)
        lease->round = engine_take_round(e);
    if (!lease->round) {
        claim_abandon(e, lease->claim, 0);
        claim_let_go(lease);
        end(e, lease, OUTCOME_RELEASED, CAUSE_UNAVAILABLE);
        return;
    }
    round_begin(lease->round, masters(e), REQUEST_RELEASE, engine_next_round(e),
                e->now + e->config.connect_timeout);
    for (unsigned i = 0; i < masters(e); i++)
        hope_for_release(e, lease, i);
    claim_abandon(e, lease->claim, 0);
    weigh(e, lease);
}

uint32_t lease_paying(struct engine *e, struct lease *lease, unsigned master)
{
    if (lease->state != LEASE_RELEASING || !lease->round || /* memory was out */
        lease->round->ballots[master].state == BALLOT_CLOSED)
        return 0;
    round_ask(lease->round, master,
              e->now + master_patience(e, &e->masters[master], lease->terms.ttl));
    return lease->round->number;
}

/* Gone is certain once too few masters can still have had it; that too few answered
 * is known only when nobody is left to answer. */
static void weigh_releasing(struct engine *e, struct lease *lease)
{
    const struct round *round = lease->round;
    unsigned said_no = round_count(round, masters(e), SAID_FREE) +
                       round_count(round, masters(e), SAID_HELD);
    enum cause cause = CAUSE_NONE;
    if (round_yes(round, masters(e)) >= e->quorum)
        e->counters.released++;
    else if (masters(e) - said_no < e->quorum)
        cause = CAUSE_GONE;
    else if (round_undecided(round, masters(e)) == 0)
        cause = CAUSE_UNAVAILABLE;
    else
        return;
    claim_let_go(lease);
    end(e, lease, OUTCOME_RELEASED, cause);
}

void lease_release(struct engine *e, struct lease *lease)
{
    notice_the_end(e, lease);
    switch (lease->state) {
    case LEASE_ACQUIRING:
    case LEASE_WAITING:
        cancel(e, lease, CAUSE_CANCELLED);
        break;
    case LEASE_HELD:
        if (lease->untold & BIT(OUTCOME_ACQUIRED))
            cancel(e, lease, CAUSE_CANCELLED);
        else
            give_back(e, lease);
        break;
    case LEASE_LOST:
        if (lease->claim)
            claim_abandon(e, lease->claim, 0);
        claim_let_go(lease);
        lease->valid_until = 0;
        end(e, lease, OUTCOME_RELEASED, CAUSE_GONE);
        break;
    case LEASE_IDLE:
        if (lease->attached && !lease->asked_at) { /* by the token of another process */
            lease->asked_at = e->now;
            give_back(e, lease);
        }
        break;
    default:
        break;
    }
    schedule(e, lease);
}

/* ---- inspecting ---------------------------------------------------------- */

void lease_inspect(struct engine *e, struct lease *lease)
{
    lease->asked_at = e->now;
    lease->state = LEASE_INSPECTING;
    engine_list(e, &e->busy, lease);
    open_round(e, lease, REQUEST_PEEK);
    ask_who_can_be_asked(e, lease);
    weigh(e, lease);
    schedule(e, lease);
}

static void weigh_inspecting(struct engine *e, struct lease *lease)
{
    if (round_undecided(lease->round, masters(e)))
        return;
    unsigned answered = round_count(lease->round, masters(e), SAID_HELD) +
                        round_count(lease->round, masters(e), SAID_FREE);
    end(e, lease, OUTCOME_SEEN, answered < e->quorum ? CAUSE_UNAVAILABLE : CAUSE_NONE);
}

/* ---- hearing ------------------------------------------------------------- */

static void weigh(struct engine *e, struct lease *lease)
{
    switch (lease->state) {
    case LEASE_ACQUIRING:
        weigh_acquiring(e, lease);
        break;
    case LEASE_HELD:
        weigh_held(e, lease);
        break;
    case LEASE_RELEASING:
        weigh_releasing(e, lease);
        break;
    case LEASE_INSPECTING:
        weigh_inspecting(e, lease);
        break;
    default:
        break;
    }
}

static void record_peek(struct round *round, unsigned master, const struct reply *reply)
{
    struct ballot *ballot = &round->ballots[master];
    if (reply->answer == ANSWER_HELD) {
        ballot->remaining_ms = reply->remaining_ms;
        round_say_text(round, master, SAID_HELD, reply->text, reply->text_length);
    } else if (ballot->said == SAID_HELD) {
        ballot->state = BALLOT_CLOSED; /* the refusal stands, its holder is not known */
    } else if (reply->answer == ANSWER_ABSENT) {
        round_say(round, master, SAID_FREE);
    } else {
        round_say_text(round, master,
                       reply->answer == ANSWER_LOST ? SAID_UNREACHABLE : SAID_REFUSED, reply->text,
                       reply->text_length);
    }
}

static void record(struct engine *e, struct lease *lease, unsigned master,
                   const struct reply *reply)
{
    struct round *round = lease->round;
    switch (reply->answer) {
    case ANSWER_YES:
        round_say(round, master,
                  round->kind == REQUEST_RELEASE ? SAID_RELEASED : SAID_GRANTED);
        break;
    case ANSWER_HEALED:
        e->counters.heals++;
        round_say(round, master, SAID_HEALED);
        break;
    case ANSWER_HELD:
        round_say(round, master, SAID_HELD);
        break;
    case ANSWER_ABSENT:
        round_say(round, master, SAID_FREE);
        break;
    case ANSWER_LATE:
        round_say_text(round, master, SAID_REFUSED, "says that we are late", 21);
        break;
    case ANSWER_LOST:
        round_say_text(round, master, SAID_UNREACHABLE, reply->text, reply->text_length);
        break;
    default:
        round_say_text(round, master, SAID_REFUSED, reply->text, reply->text_length);
    }
}

/* The master has forgotten the script, or its wall clock has stepped since hello
 * and it thinks us late. */
static bool asks_again(struct engine *e, struct lease *lease, unsigned master,
                       const struct reply *reply)
{
    struct ballot *ballot = &lease->round->ballots[master];
    if (reply->answer == ANSWER_LATE) {
        ballot->late = true;
        master_set_clock(&e->masters[master], reply->master_time, e->now);
    } else if (reply->answer != ANSWER_NOSCRIPT) {
        return false;
    }
    if (reply->tag.kind == REQUEST_RELEASE)
        return true; /* its claim does so */
    if (ballot->again || lease->state == LEASE_LOST)
        return false;
    ballot->again = true;
    ask(e, lease, master, reply->answer == ANSWER_NOSCRIPT);
    return true;
}

/* One master may have a wrong clock, or have lost its keys.  If so many say so that
 * no quorum is left that does not, the clock that stood still is ours, or the lease
 * was gone for a moment: somebody else may have had it. */
static bool is_given_up(const struct engine *e, const struct lease *lease)
{
    const struct round *round = lease->round;
    unsigned most = masters(e) - e->quorum;
    return round && (round_late(round, masters(e)) > most || round_broken(round, masters(e)) > most);
}

static void hear_in_round(struct engine *e, struct lease *lease, unsigned master,
                          const struct reply *reply)
{
    struct round *round = lease->round;
    if (!round || (reply->tag.round != round->number && !MUTANT(OLD_ROUND)) ||
        round->ballots[master].state != BALLOT_ASKED)
        return;
    if (asks_again(e, lease, master, reply))
        return;
    if (round->kind == REQUEST_PEEK) {
        record_peek(round, master, reply);
    } else {
        record(e, lease, master, reply);
    }
}

/* Validity is what the ledger says now; it shrinks when a master says that the
 * lease is gone. */
static void follow_the_ledger(struct engine *e, struct lease *lease)
{
    if (lease->state != LEASE_HELD)
        return;
    lease->valid_until = is_given_up(e, lease) ? 0 : claim_valid_until(e, lease->claim);
    if (e->now >= lease->valid_until)
        lose(e, lease, CAUSE_GONE);
}

void lease_hear(struct engine *e, struct lease *lease, unsigned master, const struct reply *reply)
{
    struct claim *claim = lease->claim;
    if (!MUTANT(RESURRECT))
        notice_the_end(e, lease);
    if (MUTANT(LATE_GRANT) && lease->state == LEASE_LOST && reply->answer == ANSWER_YES)
        lease->state = LEASE_HELD;
    bool counts = lease->claim == claim && !claim->abandoned &&
                  (lease->state == LEASE_ACQUIRING || lease->state == LEASE_HELD);
    bool broken = reply->answer == ANSWER_HEALED && claim->at[master].promise > e->now &&
                  e->now >= e->masters[master].abstains_until;
    claim_hear(e, claim, master, reply, counts);
    if (lease->claim == claim) {
        hear_in_round(e, lease, master, reply);
        if (broken && lease->round && reply->tag.round == lease->round->number)
            lease->round->ballots[master].broken = true;
        follow_the_ledger(e, lease);
        weigh(e, lease);
        schedule(e, lease);
    }
    claim_answered(e, claim);
}

void lease_master_up(struct engine *e, struct lease *lease, unsigned master)
{
    if (!lease->round || lease->round->ballots[master].state != BALLOT_HOPED ||
        lease->state == LEASE_RELEASING)
        return;
    if (may_ask(e, lease, master))
        ask_who_can_be_asked(e, lease);
    else
        hope_or_say_why_not(e, lease, master);
    weigh(e, lease);
    schedule(e, lease);
}

void lease_master_down(struct engine *e, struct lease *lease, unsigned master)
{
    if (e->misconfigured && (lease->state == LEASE_ACQUIRING || lease->state == LEASE_WAITING)) {
        cancel(e, lease, e->misconfigured);
        return;
    }
    if (!lease->round || lease->round->ballots[master].state != BALLOT_HOPED)
        return;
    if (!master_is_hopeful(&e->masters[master]))
        round_say(lease->round, master, SAID_UNREACHABLE);
    weigh(e, lease);
    schedule(e, lease);
}

void lease_wake(struct engine *e, struct lease *lease)
{
    notice_the_end(e, lease);
    unsigned timeouts = 0;
    if (lease->round && round_expire(lease->round, masters(e), e->now, &timeouts)) {
        e->counters.timeouts += timeouts;
        weigh(e, lease);
    }
    if (lease->state == LEASE_WAITING && e->now >= lease->wake_at)
        try_again(e, lease);
    else if (lease->state == LEASE_HELD && e->now >= lease->wake_at)
        renew(e, lease);
    schedule(e, lease);
}

/* ---- ending -------------------------------------------------------------- */

/* The patience of the user who closes is over: what is not confirmed stays owed. */
void lease_give_up(struct engine *e, struct lease *lease)
{
    if (lease->state != LEASE_RELEASING)
        return;
    claim_let_go(lease);
    end(e, lease, OUTCOME_RELEASED, CAUSE_UNAVAILABLE);
}

void lease_close(struct engine *e, struct lease *lease)
{
    notice_the_end(e, lease);
    if (lease->state == LEASE_INSPECTING)
        end(e, lease, OUTCOME_SEEN, CAUSE_CLOSED);
    else if (lease->state == LEASE_ACQUIRING || lease->state == LEASE_WAITING ||
             (lease->state == LEASE_HELD && lease->untold & BIT(OUTCOME_ACQUIRED)))
        cancel(e, lease, CAUSE_CLOSED);
    else if (lease->state == LEASE_HELD)
        give_back(e, lease);
    schedule(e, lease);
}

void lease_abandon(struct engine *e, struct lease *lease, bool keep)
{
    struct claim *claim = lease->claim;
    bool not_ours = lease->attached && lease->state != LEASE_RELEASING;
    claim_let_go(lease);
    if (claim && (keep || lease->state == LEASE_INSPECTING || not_ours))
        claim_forget(e, claim);
    else if (claim && lease->state != LEASE_LOST) /* a lost one is given back when its time is over */
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
    if (lease->round)
        engine_give_round(e, lease->round);
    lease->round = NULL;
    deadlines_leave(&e->deadlines, &lease->deadline);
    names_drop(&e->memory, lease->names);
    lease->names = NULL;
    lease->state = LEASE_IDLE;
}

bool lease_init(struct engine *e, struct lease *lease, struct names *names,
                const struct terms *terms, const char *token, size_t token_length)
{
    *lease = (struct lease){.terms = *terms, .attached = token != NULL};
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
    lease->names = names_share(names);
    round_begin(lease->round, masters(e), REQUEST_ACQUIRE, 0, 0);
    return true;
}

/* ---- telling, part two: at the last moment --------------------------------- */

bool lease_tell(struct engine *e, struct lease *lease, struct outcome *outcome)
{
    if (!MUTANT(TELL_UNCHECKED))
        notice_the_end(e, lease);
    schedule(e, lease);
    if (!lease->untold) {
        put_round_away(e, lease);
        return false;
    }
    enum outcome_kind kind = (enum outcome_kind)__builtin_ctz(lease->untold);
    bool again = MUTANT(TOLD_TWICE) && kind == OUTCOME_ACQUIRED && e->counters.acquired % 2 == 0;
    if (!again)
        lease->untold &= (uint16_t) ~BIT(kind);
    *outcome = (struct outcome){.kind = kind,
                                .cause = (enum cause)lease->causes[kind],
                                .elapsed = e->now - lease->asked_at,
                                .rounds = lease->rounds};
    if (lease->claim)
        outcome->granted = claim_health(e, lease->claim);
    if (lease->valid_until > e->now)
        outcome->valid = lease->valid_until - e->now;
    if (kind == OUTCOME_ACQUIRED) {
        lease->attached = false; /* from now on it is ours to release */
        e->counters.acquired++;
        e->counters.acquire_us += (uint64_t)outcome->elapsed;
    }
    return true;
}

usec lease_valid_until(const struct lease *lease)
{
    bool told = lease->state == LEASE_HELD && !(lease->untold & BIT(OUTCOME_ACQUIRED));
    return told ? lease->valid_until : 0;
}

bool lease_is_extending(const struct lease *lease)
{
    return lease->extending ||
           lease->untold & (BIT(OUTCOME_EXTENDED) | BIT(OUTCOME_NOT_EXTENDED));
}
