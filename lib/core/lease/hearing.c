#include "lease/lease_parts.h"
#include "masters/logical.h"
#include "ground/mutant.h"

/* Asks again if the master has forgotten the script, or calls us late because its wall clock has
 * stepped since hello. */
static bool asks_again(struct engine *e, struct lease *lease, unsigned master,
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

void hearing_take(struct engine *e, struct lease *lease, unsigned master, const struct reply *reply)
{
    struct round *round = lease_round(lease);
    if (!round)
        return;
    if (reply->tag.round != round->number && !MUTANT(OLD_ROUND))
        return;
    /* Each refresh of a place tells the clock, also when the next one is under way. */
    bool refreshes = round->kind == REQUEST_QUEUE && reply->tag.kind == REQUEST_QUEUE;
    if (round->ballots[master].state != BALLOT_ASKED && !refreshes)
        return;
    if (asks_again(e, lease, master, reply))
        return;
    if (round->kind == REQUEST_PEEK)
        recording_peek(e, lease, master, reply);
    else if (round->kind == REQUEST_QUEUE)
        queue_hear(e, lease, master, reply);
    else
        recording_take(e, lease, master, reply);
}
