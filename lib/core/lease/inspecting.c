#include "lease/lease_parts.h"

void inspecting_record(struct engine *e, struct lease *lease, unsigned master,
                       const struct reply *reply)
{
    struct round *round = lease->attempt->round;
    struct ballot *ballot = &round->ballots[master];
    /* A name that was refused is free by now; its permits have nothing to do with that. */
    bool is_free = reply->peek.permits && lease->state != LEASE_INSPECTING;
    if (reply->answer == ANSWER_HELD && !is_free) {
        ballot->remaining_ms = reply->peek.remaining_ms;
        lease_vote_text(e, lease, master, VOTE_HELD, reply->peek.value.bytes,
                        reply->peek.value.length);
    } else if (ballot->vote == VOTE_HELD) {
        ballot->state = BALLOT_CLOSED; /* the refusal stands; its holder is not known */
    } else if (reply->answer == ANSWER_ABSENT && master_abstains(e, &e->masters[master])) {
        lease_vote_unasked(e, lease, master); /* the master may have forgotten a holder */
    } else if (reply->answer == ANSWER_ABSENT) {
        round_vote(round, master, VOTE_FREE);
    } else {
        lease_vote_text(e, lease, master,
                        reply->answer == ANSWER_LOST ? VOTE_UNREACHABLE : VOTE_REFUSED,
                        reply->text.bytes, reply->text.length);
    }
}

void inspecting_ask_for_holder(struct engine *e, struct lease *lease)
{
    struct round *round = lease->attempt->round;
    round->kind = REQUEST_PEEK;
    round->number = engine_next_round(e);
    for (unsigned i = 0; i < lease_masters(e); i++)
        if (round->ballots[i].vote == VOTE_HELD && master_is_up(&e->masters[i])) {
            round->ballots[i].again = false; /* it runs another script */
            lease_ask(e, lease, i, false);
        }
}

/* A quorum agrees that the name is free, or on its holder. */
static bool quorum_agrees(const struct engine *e, const struct round *round)
{
    return round_count(round, lease_masters(e), VOTE_FREE) >= e->quorum ||
           round_agree_on_holder(round, lease_masters(e)) >= e->quorum;
}

/* The user wants to have the answers of all, and some are on their way. */
static bool waits_for_all(const struct engine *e, const struct lease *lease)
{
    return lease->attempt->all_answers && round_asked(lease->attempt->round, lease_masters(e)) > 0;
}

/* A quorum is enough; but the user wants to see all masters, so the others have as long again. */
void inspecting_weigh(struct engine *e, struct lease *lease)
{
    struct round *round = lease->attempt->round;
    bool is_enough = quorum_agrees(e, round) &&
                     round_end_grace(round, e->now - round->asked_at, e->now) &&
                     !waits_for_all(e, lease);
    if (round_undecided(round, lease_masters(e)) && !is_enough)
        return;
    unsigned answered = round_count(round, lease_masters(e), VOTE_HELD) +
                        round_count(round, lease_masters(e), VOTE_FREE);
    round_give_up_connecting(round, lease_masters(e));
    round_close(round, lease_masters(e));
    lease_end(e, lease, OUTCOME_SEEN,
              e->misconfigured       ? e->misconfigured
              : answered < e->quorum ? CAUSE_UNAVAILABLE
                                     : CAUSE_NONE);
}

void lease_inspect(struct engine *e, struct lease *lease)
{
    lease->asked_at = e->now;
    if (e->closing) {
        lease_end(e, lease, OUTCOME_SEEN, CAUSE_CLOSED);
        return;
    }
    lease_become(lease, LEASE_INSPECTING);
    engine_list(e, &e->busy, lease);
    lease_open_round(e, lease, REQUEST_PEEK);
    lease_ask_those_up(e, lease);
    inspecting_weigh(e, lease);
    lease_schedule(e, lease);
}
