#include "engine.h"
#include "lease_parts.h"
#include "logical.h"
#include "mutant.h"

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

void lease_record(struct engine *e, struct lease *lease, unsigned master, const struct reply *reply)
{
    struct round *round = lease->round;
    switch (reply->answer) {
    case ANSWER_YES:
    case ANSWER_AHEAD:
        if (reply->clock)
            fencing_record(e, lease, master, reply);
        else
            round_say(round, master, round->kind == REQUEST_RELEASE ? SAID_RELEASED : SAID_GRANTED);
        break;
    case ANSWER_HEALED:
        e->counters.heals++;
        round_say(round, master, SAID_HEALED);
        break;
    case ANSWER_HELD:
        if (reply->clock && logical_hear(e, master, reply->clock))
            round->ballots[master].clock = reply->clock;
        round_say(round, master, SAID_HELD);
        fencing_vouch(e, round);
        break;
    case ANSWER_ABSENT:
        round_say(round, master, SAID_FREE);
        break;
    case ANSWER_QUEUED: /* from before it was given us, while we raise or confirm */
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
        return true;                                             /* its claim does so */
    bool other_question = reply->tag.kind != lease->round->kind; /* an acquire, while it raises */
    if (ballot->again || lease->state == LEASE_LOST || other_question)
        return false;
    if (!lease_may_ask(e, lease, master)) { /* it abstains since it was asked */
        bool counts_without = lease->round->kind != REQUEST_QUEUE;
        if (counts_without)
            lease_hope(e, lease, master);
        return counts_without;
    }
    ballot->again = true;
    lease_ask(e, lease, master, reply->answer == ANSWER_NOSCRIPT);
    return true;
}

static void hear_in_round(struct engine *e, struct lease *lease, unsigned master,
                          const struct reply *reply)
{
    struct round *round = lease->round;
    if (!round || (reply->tag.round != round->number && !MUTANT(OLD_ROUND)))
        return;
    /* Each refresh of a place in line tells the clock, also when the next is under way. */
    bool refreshes = round->kind == REQUEST_QUEUE && reply->tag.kind == REQUEST_QUEUE;
    if (round->ballots[master].state != BALLOT_ASKED && !refreshes)
        return;
    if (asks_again(e, lease, master, reply))
        return;
    if (round->kind == REQUEST_PEEK)
        record_peek(round, master, reply);
    else if (round->kind == REQUEST_QUEUE)
        waiting_hear(e, lease, master, reply);
    else
        lease_record(e, lease, master, reply);
}

/* An answer to a question that goes on only moves its deadline out: an earlier one is
 * looked at when it comes. */
static bool goes_on(const struct lease *lease, unsigned state, uint32_t question)
{
    bool waits = state == LEASE_ACQUIRING || state == LEASE_RELEASING;
    return waits && lease->state == state && lease->round && lease->round->number == question &&
           lease->round->grace == NEVER;
}

void lease_hear(struct engine *e, struct lease *lease, unsigned master, const struct reply *reply)
{
    struct claim *claim = lease->claim;
    unsigned state = lease->state;
    uint32_t question = lease->round ? lease->round->number : 0;
    if (!MUTANT(RESURRECT))
        holding_notice_the_end(e, lease);
    if (MUTANT(LATE_GRANT) && lease->state == LEASE_LOST && !lease->terms.fence &&
        reply->answer == ANSWER_YES)
        lease->state = LEASE_HELD;
    bool counts = lease->claim == claim && !claim->abandoned &&
                  (lease->state == LEASE_ACQUIRING || lease->state == LEASE_WAITING ||
                   lease->state == LEASE_HELD);
    bool broken = reply->answer == ANSWER_HEALED && claim->at[master].promise > e->now &&
                  e->now >= e->masters[master].abstains_until;
    fencing_notice(e, lease, master);
    claim_hear(e, claim, master, reply, counts);
    fencing_notice(e, lease, master);
    if (lease->claim == claim) {
        hear_in_round(e, lease, master, reply);
        if (broken && lease->round && reply->tag.round == lease->round->number)
            lease->round->ballots[master].broken = true;
        holding_follow_the_ledger(e, lease);
        lease_weigh(e, lease);
        if (!goes_on(lease, state, question))
            lease_schedule(e, lease);
    }
    claim_answered(e, claim);
}
