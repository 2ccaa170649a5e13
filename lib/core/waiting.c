#include "engine.h"
#include "lease_parts.h"
#include "line.h"
#include "listening.h"
#include "logical.h"
#include "mutant.h"

#define STANDS_MOST MS(3000) /* a waiter that is not heard of for so long is passed over */
#define EAGER_LEAST MS(5)    /* a minority was given to us: who has the rest? */
#define EAGER_MOST  MS(10)
#define EXPIRED     MS(2) /* the masters' expiry is that coarse */
#define AGAIN       MS(100)
#define PAUSE_FIRST MS(10) /* after having given back twice */
#define PAUSE_LAST  MS(200)
#define CALM        MS(1000) /* after so long without, yielding begins anew */

/* How long it stands in line, and keeps what it is given, without being heard of. */
static usec life_of(const struct lease *lease)
{
    return lease->terms.ttl < STANDS_MOST ? lease->terms.ttl : STANDS_MOST;
}

bool waiting_is_first(const struct lease *lease)
{
    return !lease->round->line || lease->round->line->first == lease;
}

bool waiting_is_next(const struct engine *e, const struct lease *lease)
{
    unsigned first = 0;
    for (unsigned i = 0; waiting_is_queued(lease) && i < lease_masters(e); i++) {
        const struct ballot *ballot = &lease->round->ballots[i];
        first += ballot->said == SAID_HELD && ballot->stood_at && !ballot->position;
    }
    return first >= e->quorum;
}

bool waiting_is_queued(const struct lease *lease)
{
    return lease->claim && lease->round && lease->round->kind == REQUEST_QUEUE &&
           !lease->round->decided;
}

/* ---- the ticket ------------------------------------------------------------- */

/* Refusals and grants tell the logical clock, each a new number.  The largest of a
 * quorum is above the ticket of everybody who stood in line on a quorum before we
 * asked. */
usec waiting_ticket(const struct engine *e, const struct round *round)
{
    unsigned told = 0;
    usec ticket = 0;
    for (unsigned i = 0; i < lease_masters(e); i++) {
        usec clock = round->ballots[i].clock;
        told += clock != 0;
        if (clock > ticket && !(MUTANT(TICKET_OF_ONE) && ticket))
            ticket = clock;
        if (MUTANT(TICKET_MINIMUM) && clock && clock < ticket)
            ticket = clock;
    }
    return told >= e->quorum ? ticket : 0;
}

bool waiting_for_ticket(const struct engine *e, const struct round *round)
{
    unsigned may_tell = round_undecided(round, lease_masters(e));
    for (unsigned i = 0; i < lease_masters(e); i++)
        may_tell += round->ballots[i].clock != 0;
    return round->kind == REQUEST_GRANT && round->wait && !round->ticket &&
           !waiting_ticket(e, round) && may_tell >= e->quorum;
}

/* ---- standing in line on the masters ------------------------------------------ */

/* One that is silent may hear us all the same, and give us what we do not hear of: it is not asked
 * to keep that for longer. */
static void ask_master(struct engine *e, struct lease *lease, unsigned master)
{
    struct ballot *ballot = &lease->round->ballots[master];
    if (ballot->state == BALLOT_ASKED || minority_avoids(lease->round) & BIT(master) ||
        (master_is_silent(e, &e->masters[master]) && !MUTANT(UNHEARD_GOES_ON)))
        return;
    ballot->again = false;
    if (master_may_grant(e, &e->masters[master]))
        lease_ask(e, lease, master, false);
    else if (ballot->said != SAID_GRANTED)
        lease_cannot_ask(e, lease, master);
}

void waiting_wake_by(struct lease *lease, usec at)
{
    if (at < lease->wake_at)
        lease->wake_at = at;
}

/* Gives back what it has, and stands nowhere: the token's release is on its way, so it must
 * never be granted again. */
static void withdraw(struct engine *e, struct lease *lease)
{
    claim_abandon(e, lease->claim, 0);
    claim_let_go(lease);
    round_close(lease->round, lease_masters(e));
    lease->state = LEASE_WAITING;
}

static void stay_away(struct engine *e, struct lease *lease)
{
    if (lease->claim)
        withdraw(e, lease);
    lease->wake_at = e->now + engine_jitter(e, life_of(lease) / 16, life_of(lease) / 8);
    waiting_wake_by(lease, lease_wait_until(lease));
}

/* Each refresh doubles as a try, and heals a push that was lost. */
static void refresh(struct engine *e, struct lease *lease)
{
    usec often = lease->round->life / 3;
    lease->wake_at = e->now + engine_jitter(e, often - often / 8, often);
    if (minority_look_at(lease->round) > e->now)
        waiting_wake_by(lease, minority_look_at(lease->round));
    minority_comes_back(e, lease->round);
    listening_keep(e);
    for (unsigned i = 0; i < lease_masters(e); i++)
        ask_master(e, lease, i);
}

/* `same`: a mutant's, whose token is used again; else NULL. */
static void stand(struct engine *e, struct lease *lease, const struct claim *same)
{
    struct round *round = lease->round;
    lease->state = LEASE_WAITING;
    lease->claim = claim_new(e, round->names, NULL, 0);
    if (!lease->claim) {
        lease->wake_at = e->now + AGAIN;
        return;
    }
    lease->claim->lease = lease;
    claim_fresh_token(e, lease->claim);
    if (same)
        claim_copy_token(e, lease->claim, same);
    claim_stand(e, lease->claim);
    round_begin(round, lease_masters(e), REQUEST_QUEUE, engine_next_round(e), 0);
    round->life = life_of(lease);
    refresh(e, lease);
}

/* The first in line: stands on the masters, or asks them for a ticket.  Only when its
 * own timer fires: many may become the first at once, and each needs random bytes. */
static void contend(struct engine *e, struct lease *lease)
{
    if (!lease->round->ticket)
        acquiring_again(e, lease);
    else if (minority_reaches_quorum(e, 0))
        stand(e, lease, NULL);
    else
        stay_away(e, lease);
}

/* At once for the first time; whoever has to give back again and again, by whatever masters say,
 * asks ever less. */
usec waiting_pause(struct engine *e, const struct lease *lease)
{
    struct round *round = lease->round;
    if (e->now > round->yielded_at + CALM)
        round->yields = 0;
    round->yielded_at = e->now;
    unsigned before = round->yields;
    round->yields += round->yields < UINT8_MAX;
    if (!before || MUTANT(YIELD_UNPAUSED))
        return 0;
    usec longest = before < 6 ? PAUSE_FIRST << (before - 1) : PAUSE_LAST;
    return engine_jitter(e, longest / 2, longest < PAUSE_LAST ? longest : PAUSE_LAST);
}

void waiting_yield(struct engine *e, struct lease *lease)
{
    const struct claim *same = MUTANT(YIELD_SAME_TOKEN) ? lease->claim : NULL;
    e->counters.yields++;
    withdraw(e, lease);
    lease->wake_at = e->now + waiting_pause(e, lease);
    waiting_wake_by(lease, lease_wait_until(lease));
    if (same)
        stand(e, lease, same);
}

/* ---- what the masters say --------------------------------------------------------- */

static void granted(struct engine *e, struct lease *lease, unsigned master, usec clock)
{
    struct round *round = lease->round;
    struct ballot *ballot = &round->ballots[master];
    if (ballot->said != SAID_GRANTED) {
        waiting_wake_by(lease, e->now + engine_jitter(e, EAGER_LEAST, EAGER_MOST));
        round->few_since = e->now;
        round->aside = 0; /* the holder may have gone */
    }
    ballot->said = SAID_GRANTED;
    ballot->ahead = false;
    ballot->clock = clock;
    ballot->text[0] = '\0';
}

/* When a quorum of masters is rid of the present holder, if he does not renew. */
static void await_expiry(struct engine *e, struct lease *lease)
{
    usec left[MASTERS_MAX];
    for (unsigned i = 0; i < lease_masters(e); i++) {
        const struct ballot *ballot = &lease->round->ballots[i];
        bool next = ballot->said == SAID_HELD && ballot->position == 0;
        bool is_ours = ballot->said == SAID_GRANTED || lease->round->aside & BIT(i);
        left[i] = is_ours                             ? 0
                  : next && ballot->remaining_ms >= 0 ? -MS(ballot->remaining_ms)
                                                      : -TTL_MS_MOST * 1000;
    }
    waiting_wake_by(lease, e->now - quorum_reached(left, lease_masters(e)) + EXPIRED);
}

/* Granted after our last refresh that it answered, or it would have said so then: that
 * is what the promise is dated from, however long the push was on its way.  It may
 * overtake the answer to the first, on another connection: that one is waited for.  Both must
 * come from one process: another one at that address may have forgotten the present holder,
 * abstain unheard, and remember of us what the former one knew. */
static void take_push(struct engine *e, struct lease *lease, unsigned master, usec clock)
{
    struct ballot *ballot = &lease->round->ballots[master];
    usec from = MUTANT(DATED_FROM_PUSH) ? e->now : ballot->stood_at;
    bool is_old = clock <= ballot->clock && !MUTANT(OLD_PUSH);
    if (is_old || !listening_to_same_process(e, master) ||
        !master_may_grant(e, &e->masters[master]))
        return;
    if (!logical_hear(e, master, clock) && lease->terms.fence)
        return;
    if (!from) {
        ballot->pushed = clock; /* saves a refresh */
        return;
    }
    fencing_notice(e, lease, master);
    claim_promised(e, lease->claim, master, from, lease->round->life);
    ballot->state = BALLOT_CLOSED;
    granted(e, lease, master, clock);
    e->counters.pushes++;
}

static void take_early_push(struct engine *e, struct lease *lease, unsigned master)
{
    struct ballot *ballot = &lease->round->ballots[master];
    usec clock = ballot->pushed;
    ballot->pushed = 0;
    if (clock)
        take_push(e, lease, master, clock);
}

/* A refresh that was carried out before we were granted says nothing about now. */
static void hear_queued(struct engine *e, struct lease *lease, unsigned master,
                        const struct reply *reply)
{
    struct ballot *ballot = &lease->round->ballots[master];
    logical_hear(e, master, reply->clock); /* believed or not: here it only tells what came first */
    if (reply->clock < ballot->clock)      /* what was given since is not given up for nothing */
        return;
    ballot->said = SAID_HELD;
    ballot->text[0] = '\0'; /* by whom is not told */
    ballot->clock = reply->clock;
    ballot->stood_at = reply->tag.sent_at;
    ballot->remaining_ms = reply->remaining_ms;
    ballot->position = reply->position;
    lease->claim->at[master].promise = 0; /* over already, but for what is told of it */
    take_early_push(e, lease, master);
    await_expiry(e, lease);
}

void waiting_hear(struct engine *e, struct lease *lease, unsigned master, const struct reply *reply)
{
    struct ballot *ballot = &lease->round->ballots[master];
    bool is_last = reply->tag.sent_at == ballot->asked_at; /* it was not asked again since */
    if (is_last)
        ballot->state = BALLOT_CLOSED;
    switch (reply->answer) {
    case ANSWER_YES:
    case ANSWER_AHEAD:
        if (!logical_hear(e, master, reply->clock) && lease->terms.fence) {
            ballot->said = SAID_REFUSED;
            break;
        }
        ballot->stood_at = 0;
        e->counters.found += ballot->said != SAID_GRANTED;
        granted(e, lease, master, reply->clock);
        ballot->ahead = reply->answer == ANSWER_AHEAD;
        if (!ballot->ahead)
            lease->round->ahead_alone &= (uint16_t)~BIT(master);
        break;
    case ANSWER_QUEUED:
        hear_queued(e, lease, master, reply);
        break;
    default: /* what it gave us it still keeps; nothing can be dated from now on */
        ballot->stood_at = 0;
        if (ballot->said != SAID_GRANTED)
            lease_record(e, lease, master, reply);
    }
}

void waiting_forget_process(struct lease *lease, unsigned master)
{
    if (!waiting_is_queued(lease))
        return;
    lease->round->ballots[master].stood_at = 0;
    lease->round->ballots[master].pushed = 0;
}

void waiting_push(struct engine *e, unsigned master, const struct push *push)
{
    struct claim *claim = claim_standing(e, push->token, push->token_length);
    struct lease *lease = claim ? claim->lease : NULL;
    if (!lease || !waiting_is_queued(lease))
        return;
    take_push(e, lease, master, push->clock);
    lease_weigh(e, lease);
    lease_schedule(e, lease);
}

/* ---- weighing ------------------------------------------------------------------------ */

/* What is over does not count, though nobody has taken it back. */
static void forget_what_is_over(const struct engine *e, struct lease *lease)
{
    for (unsigned i = 0; i < lease_masters(e); i++) {
        struct ballot *ballot = &lease->round->ballots[i];
        if (ballot->said == SAID_GRANTED && lease->claim->at[i].promise <= e->now)
            ballot->said = SAID_NOTHING;
    }
}

void waiting_weigh(struct engine *e, struct lease *lease)
{
    if (!waiting_is_queued(lease))
        return;
    forget_what_is_over(e, lease);
    unsigned has = round_yes(lease->round, lease_masters(e));
    if (!has)
        lease->round->few_since = 0;
    if (has >= e->quorum) {
        lease->state = LEASE_ACQUIRING;
        acquiring_weigh(e, lease);
    } else {
        minority_weigh(e, lease);
    }
}

/* ---- time ------------------------------------------------------------------------------- */

/* Who has been refused by no quorum yet tries once more. */
static void wait_is_over(struct engine *e, struct lease *lease)
{
    if (lease->round->ticket || !waiting_is_first(lease))
        acquiring_over(e, lease);
    else
        acquiring_again(e, lease);
}

/* Looked at when time has passed, not with each answer: those of the others may be there to be
 * read, after a process was stopped. */
void waiting_look_around(struct engine *e, struct lease *lease)
{
    bool has_some = waiting_is_queued(lease) && round_yes(lease->round, lease_masters(e));
    if (has_some && !minority_reaches_quorum(e, 0))
        stay_away(e, lease);
}

void waiting_wake(struct engine *e, struct lease *lease)
{
    if (e->now >= lease_wait_until(lease) && !MUTANT(WAIT_FOREVER)) {
        wait_is_over(e, lease);
        return;
    }
    if (!waiting_is_first(lease))
        lease->wake_at = lease_wait_until(lease);
    else if (!waiting_is_queued(lease))
        contend(e, lease);
    else if (minority_is_connected(e))
        refresh(e, lease);
    else
        stay_away(e, lease);
    waiting_wake_by(lease, lease_wait_until(lease));
}

void lease_look_again(struct engine *e, struct lease *lease, unsigned master)
{
    if (lease->state != LEASE_WAITING || !waiting_is_queued(lease))
        return;
    ask_master(e, lease, master);
    lease_schedule(e, lease);
}

void waiting_master_up(struct engine *e, struct lease *lease)
{
    bool stays_away = lease->state == LEASE_WAITING && !lease->claim && waiting_is_first(lease);
    if (!stays_away || !lease->round->ticket || e->now < lease->round->yielded_at + PAUSE_LAST)
        return;
    waiting_wake_by(lease, e->now + engine_jitter(e, 0, EAGER_LEAST));
    lease_schedule(e, lease);
}

static const struct lease *who_contends(const struct lease *lease)
{
    return lease->round->line ? lease->round->line->first : lease;
}

bool waiting_look(const struct engine *e, const struct lease *lease, unsigned *position,
                  usec *expires)
{
    if (lease->state != LEASE_WAITING || !lease->round->line)
        return false;
    const struct round *round = who_contends(lease)->round;
    unsigned before = 0;
    int64_t left = -1;
    for (unsigned i = 0; i < lease_masters(e); i++) {
        const struct ballot *ballot = &round->ballots[i];
        if (ballot->said != SAID_HELD)
            continue;
        before = ballot->position > before ? ballot->position : before;
        left = ballot->remaining_ms > left ? ballot->remaining_ms : left;
    }
    *position = line_position(lease) + before;
    *expires = left < 0 ? NEVER : MS(left);
    return true;
}
