#include "ground/round.h"

#include <string.h>

#define GRACE_LEAST 400 /* us; less than a second round costs */

void round_begin(struct round *round, unsigned masters, enum request_kind kind, uint32_t number,
                 usec give_up)
{
    round->kind = kind;
    round->number = number;
    round->begun = false;
    round->incomplete = false;
    round->uncounted = false;
    round->give_up = give_up;
    round->proposal = 0;
    round->asked_at = 0;
    round->grace = NEVER;
    for (unsigned i = 0; i < masters; i++)
        round->ballots[i] = (struct ballot){.remaining_ms = -1};
}

/* ---- texts: few rounds have any ------------------------------------------------- */

static void keep_ballot_text(struct round *round, const struct memory *memory, unsigned masters,
                             unsigned master, struct slice text)
{
    if (!round->texts)
        round->texts = memory->take(memory->pool, masters * sizeof *round->texts);
    round->ballots[master].text = round->texts ? TEXT_KEPT : TEXT_LOST;
    if (!round->texts)
        return;
    char *kept = round->texts[master];
    size_t length = text.length < VOTE_TEXT_MAX ? text.length : VOTE_TEXT_MAX - 1;
    memcpy(kept, text.bytes, length);
    kept[length] = '\0';
}

void round_hush(struct round *round, const struct memory *memory, unsigned masters)
{
    if (!round->texts)
        return;
    memory->give(memory->pool, round->texts, masters * sizeof *round->texts);
    round->texts = NULL;
    for (unsigned i = 0; i < masters; i++)
        round->ballots[i].text = TEXT_NONE;
}

void round_copy(struct round *to, const struct round *from, const struct memory *memory,
                unsigned masters)
{
    vote_text *texts = to->texts;
    memcpy(to, from, sizeof *to + masters * sizeof(struct ballot));
    to->texts = texts;
    for (unsigned i = 0; i < masters; i++)
        if (from->ballots[i].text == TEXT_KEPT)
            keep_ballot_text(to, memory, masters, i,
                             (struct slice){from->texts[i], strlen(from->texts[i])});
}

/* ---- votes ---------------------------------------------------------------------- */

void round_ask(struct round *round, unsigned master, usec now)
{
    round->ballots[master].state = BALLOT_ASKED;
    round->ballots[master].asked_at = now;
    round->begun = true;
}

void round_vote(struct round *round, unsigned master, enum vote vote)
{
    round->ballots[master].state = BALLOT_CLOSED;
    round->ballots[master].vote = (uint8_t)vote;
}

void round_vote_text(struct round *round, const struct memory *memory, unsigned masters,
                     unsigned master, enum vote vote, struct slice text)
{
    round->ballots[master].text = TEXT_NONE;
    if (text.length)
        keep_ballot_text(round, memory, masters, master, text);
    round_vote(round, master, vote);
}

bool round_expire(struct round *round, unsigned masters, usec now, const usec *overdue,
                  unsigned *timeouts)
{
    bool any = round->grace && round->grace != NEVER && now >= round->grace;
    if (any)
        round->grace = 0;
    for (unsigned i = 0; i < masters; i++) {
        struct ballot *ballot = &round->ballots[i];
        if (ballot->state == BALLOT_ASKED && now >= overdue[i]) {
            /* A PEEK that times out leaves the refusal standing; a QUEUE that times out leaves the
             * grant standing. */
            bool stays = ballot->vote == VOTE_HELD ||
                         (round->kind == REQUEST_QUEUE && ballot->vote == VOTE_GRANTED);
            round_vote(round, i, stays ? (enum vote)ballot->vote : VOTE_TIMEOUT);
            ++*timeouts;
            any = true;
        } else if (ballot->state == BALLOT_CONNECTING && now >= round->give_up) {
            round_vote(round, i, VOTE_UNREACHABLE);
            any = true;
        }
    }
    return any;
}

bool round_end_grace(struct round *round, usec took, usec now)
{
    if (round->grace == NEVER)
        round->grace = now + (took > GRACE_LEAST ? took : GRACE_LEAST);
    return round->grace <= now;
}

void round_close(struct round *round, unsigned masters)
{
    for (unsigned i = 0; i < masters; i++)
        round->ballots[i].state = BALLOT_CLOSED;
}

void round_time_out(struct round *round, unsigned masters)
{
    for (unsigned i = 0; i < masters; i++)
        if (round->ballots[i].state == BALLOT_ASKED)
            round_vote(round, i, VOTE_TIMEOUT);
}

void round_give_up_connecting(struct round *round, unsigned masters)
{
    for (unsigned i = 0; i < masters; i++) {
        if (round->ballots[i].state != BALLOT_CONNECTING)
            continue;
        round_vote(round, i, VOTE_UNREACHABLE);
        round->incomplete = true;
    }
}

unsigned round_count(const struct round *round, unsigned masters, enum vote vote)
{
    unsigned count = 0;
    for (unsigned i = 0; i < masters; i++)
        count += round->ballots[i].vote == vote;
    return count;
}

static bool names_holder(const struct ballot *ballot)
{
    return ballot->vote == VOTE_HELD && ballot->text != TEXT_LOST;
}

static unsigned count_holder(const struct round *round, unsigned masters, const char *holder)
{
    unsigned same = 0;
    for (unsigned i = 0; i < masters; i++)
        same += names_holder(&round->ballots[i]) && strcmp(round_text(round, i), holder) == 0;
    return same;
}

unsigned round_agree_on_holder(const struct round *round, unsigned masters)
{
    unsigned most = 0;
    for (unsigned i = 0; i < masters; i++) {
        unsigned same = count_holder(round, masters, round_text(round, i));
        most = same > most ? same : most;
    }
    return most;
}

static bool is_yes(const struct ballot *ballot)
{
    const unsigned yes = 1U << VOTE_GRANTED | 1U << VOTE_HEALED | 1U << VOTE_RELEASED;
    return yes >> ballot->vote & 1;
}

unsigned round_yes(const struct round *round, unsigned masters)
{
    unsigned yes = 0;
    for (unsigned i = 0; i < masters; i++)
        yes += is_yes(&round->ballots[i]);
    return yes;
}

unsigned round_may_say_yes(const struct round *round, unsigned masters)
{
    unsigned may = 0, doubted = 0;
    for (unsigned i = 0; i < masters; i++) {
        may += round->ballots[i].state != BALLOT_CLOSED && !is_yes(&round->ballots[i]);
        doubted += round->ballots[i].doubted != 0;
    }
    return may ? may + doubted : 0; /* a later answer may vouch for them */
}

unsigned round_late(const struct round *round, unsigned masters)
{
    unsigned late = 0;
    for (unsigned i = 0; i < masters; i++)
        late += round->ballots[i].late;
    return late;
}

unsigned round_broken(const struct round *round, unsigned masters)
{
    unsigned broken = 0;
    for (unsigned i = 0; i < masters; i++)
        broken += round->ballots[i].broken;
    return broken;
}

unsigned round_undecided(const struct round *round, unsigned masters)
{
    unsigned undecided = 0;
    for (unsigned i = 0; i < masters; i++)
        undecided += round->ballots[i].state != BALLOT_CLOSED;
    return undecided;
}

unsigned round_asked(const struct round *round, unsigned masters)
{
    unsigned asked = 0;
    for (unsigned i = 0; i < masters; i++)
        asked += round->ballots[i].state == BALLOT_ASKED;
    return asked;
}

enum verdict round_verdict(const struct round *round, unsigned masters, unsigned quorum)
{
    return quorum_verdict(quorum, round_yes(round, masters), round_may_say_yes(round, masters));
}
