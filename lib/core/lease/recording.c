#include "lease/lease_parts.h"
#include "masters/logical.h"

#define LATE "says that we are late"

/* Out of the way of the answers that are counted at each acquire. */
static __attribute__((cold, noinline)) void
record_refusal(struct engine *e, struct lease *lease, unsigned master, const struct reply *reply)
{
    struct round *round = lease->attempt->round;
    if (reply->clock && logical_hear(e, master, reply->clock))
        round->ballots[master].clock = reply->clock;
    round_vote(round, master, VOTE_HELD);
    fencing_vouch(e, lease->attempt);
    if (reply->tag.kind == REQUEST_GRANT)
        permits_note_told(e, lease, master, &reply->grant);
}

void recording_take(struct engine *e, struct lease *lease, unsigned master,
                    const struct reply *reply)
{
    struct round *round = lease->attempt->round;
    switch (reply->answer) {
    case ANSWER_YES:
    case ANSWER_AHEAD:
        if (!claim_counts(e, lease->claim, master, reply))
            lease_vote_uncounted(e, lease, master);
        else if (reply->clock)
            fencing_record(e, lease, master, reply);
        else
            round_vote(round, master,
                       round->kind == REQUEST_RELEASE ? VOTE_RELEASED : VOTE_GRANTED);
        break;
    case ANSWER_READ:
        lease_vote_text(e, lease, master, VOTE_HELD, READERS, sizeof READERS - 1);
        break;
    case ANSWER_HEALED:
        e->counters.heals++;
        if (claim_counts(e, lease->claim, master, reply))
            round_vote(round, master, VOTE_HEALED);
        else
            lease_vote_uncounted(e, lease, master);
        break;
    case ANSWER_HELD:
        record_refusal(e, lease, master, reply);
        break;
    case ANSWER_ABSENT:
        round_vote(round, master, VOTE_FREE);
        break;
    case ANSWER_QUEUED: /* it is from before the handover, while we raise or confirm */
        break;
    case ANSWER_LATE:
        lease_vote_text(e, lease, master, VOTE_REFUSED, LATE, sizeof LATE - 1);
        break;
    case ANSWER_LOST:
        lease_vote_text(e, lease, master, VOTE_UNREACHABLE, reply->text.bytes, reply->text.length);
        break;
    default:
        lease_vote_text(e, lease, master, VOTE_REFUSED, reply->text.bytes, reply->text.length);
    }
}
