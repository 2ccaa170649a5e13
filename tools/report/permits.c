#include "permits.h"

#include <string.h>

bool is_of_permits(const char *value)
{
    return value && strcmp(value, REDLOCK_PERMITS) == 0;
}

static bool tells_permits(const redlock_vote *vote)
{
    return vote->kind == REDLOCK_VOTE_HELD && is_of_permits(vote->holder) && vote->permits > 0;
}

static void insert(unsigned *sorted, unsigned count, unsigned value)
{
    unsigned at = count;
    for (; at > 0 && sorted[at - 1] < value; at--)
        sorted[at] = sorted[at - 1];
    sorted[at] = value;
}

/* The largest that more masters tell than may be wrong; 0: none tells any. */
static unsigned how_many(const redlock_event *event)
{
    unsigned told[REDLOCK_MASTERS_MAX], count = 0;
    for (unsigned i = 0; i < event->masters; i++)
        if (tells_permits(&event->votes[i]))
            insert(told, count++, event->votes[i].permits);
    if (count == 0)
        return 0;
    return told[event->spare < count ? event->spare : count - 1];
}

/* As many as a quorum may say, for masters that did not answer may say the same; one without a
 * holder says none. */
static unsigned how_many_out(const redlock_event *event)
{
    unsigned told[REDLOCK_MASTERS_MAX], count = 0;
    for (unsigned i = 0; i < event->masters; i++) {
        const redlock_vote *vote = &event->votes[i];
        if (tells_permits(vote))
            insert(told, count++, vote->readers);
        else if (vote->kind == REDLOCK_VOTE_HELD || vote->kind == REDLOCK_VOTE_FREE)
            insert(told, count++, 0);
    }
    unsigned silent = event->masters - count;
    if (count == 0)
        return 0;
    return told[silent < event->quorum ? event->quorum - silent - 1 : 0];
}

struct permits votes_permits(const redlock_event *event)
{
    unsigned out = how_many_out(event);
    struct permits permits = {how_many(event), {.tokens = ""}};
    for (unsigned i = 0; i < event->masters; i++) {
        const redlock_vote *vote = &event->votes[i];
        if (tells_permits(vote) && vote->readers == out)
            permits.holders = (struct waiters){out, vote->reader_tokens};
    }
    return permits;
}

void permits_show(struct text *out, unsigned taken, unsigned count)
{
    if (count == 0)
        text_format(out, "permits");
    else
        text_format(out, "%u of %u permit%s", taken, count, count == 1 ? "" : "s");
}
