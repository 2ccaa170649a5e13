#include "round.h"

#include <string.h>

void round_begin(struct round *round, unsigned masters, enum request_kind kind, uint32_t number,
                 usec give_up)
{
    round->kind = kind;
    round->number = number;
    round->begun = false;
    round->decided = round->confirms = round->incomplete = false;
    round->give_up = give_up;
    round->proposal = round->fence = 0;
    round->basis = 0;
    round->asked_at = 0;
    round->grace = NEVER;
    round->few_since = 0;
    for (unsigned i = 0; i < masters; i++) {
        struct ballot *ballot = &round->ballots[i];
        ballot->state = BALLOT_CLOSED;
        ballot->said = SAID_NOTHING;
        ballot->again = ballot->late = ballot->broken = false;
        ballot->asked_at = 0;
        ballot->remaining_ms = -1;
        ballot->clock = ballot->doubted = ballot->stood_at = ballot->pushed = 0;
        ballot->position = 0;
        ballot->ahead = false;
        ballot->text[0] = '\0';
    }
}

void round_copy(struct round *to, const struct round *from, unsigned masters)
{
    size_t start = offsetof(struct round, kind);
    size_t end = offsetof(struct round, ballots) + masters * sizeof(struct ballot);
    memcpy((char *)to + start, (const char *)from + start, end - start);
}

void round_ask(struct round *round, unsigned master, usec now)
{
    round->ballots[master].state = BALLOT_ASKED;
    round->ballots[master].asked_at = now;
    round->begun = true;
}

void round_say(struct round *round, unsigned master, enum saying said)
{
    round->ballots[master].state = BALLOT_CLOSED;
    round->ballots[master].said = (uint8_t)said;
}

void round_say_text(struct round *round, unsigned master, enum saying said, const char *text,
                    size_t length)
{
    char *kept = round->ballots[master].text;
    if (length >= SAYING_MAX)
        length = SAYING_MAX - 1;
    if (length)
        memcpy(kept, text, length);
    kept[length] = '\0';
    round_say(round, master, said);
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
            /* Only asked who has it; or what it gave us, it still keeps. */
            bool stays = ballot->said == SAID_HELD ||
                         (round->kind == REQUEST_QUEUE && ballot->said == SAID_GRANTED);
            round_say(round, i, stays ? (enum saying)ballot->said : SAID_TIMEOUT);
            ++*timeouts;
            any = true;
        } else if (ballot->state == BALLOT_HOPED && now >= round->give_up) {
            round_say(round, i, SAID_UNREACHABLE);
            any = true;
        }
    }
    return any;
}

void round_close(struct round *round, unsigned masters)
{
    for (unsigned i = 0; i < masters; i++)
        round->ballots[i].state = BALLOT_CLOSED;
}

void round_stop_hoping(struct round *round, unsigned masters)
{
    for (unsigned i = 0; i < masters; i++) {
        if (round->ballots[i].state != BALLOT_HOPED)
            continue;
        round_say(round, i, SAID_UNREACHABLE);
        round->incomplete = true;
    }
}

usec round_deadline(const struct round *round, unsigned masters, const usec *overdue)
{
    usec next = round->grace ? round->grace : NEVER;
    for (unsigned i = 0; i < masters; i++) {
        const struct ballot *ballot = &round->ballots[i];
        usec at = ballot->state == BALLOT_ASKED   ? overdue[i]
                  : ballot->state == BALLOT_HOPED ? round->give_up
                                                  : NEVER;
        if (at < next)
            next = at;
    }
    return next;
}

unsigned round_count(const struct round *round, unsigned masters, enum saying said)
{
    unsigned count = 0;
    for (unsigned i = 0; i < masters; i++)
        count += round->ballots[i].said == said;
    return count;
}

static bool says_yes(const struct ballot *ballot)
{
    return ballot->said == SAID_GRANTED || ballot->said == SAID_HEALED ||
           ballot->said == SAID_RELEASED;
}

unsigned round_yes(const struct round *round, unsigned masters)
{
    unsigned yes = 0;
    for (unsigned i = 0; i < masters; i++)
        yes += says_yes(&round->ballots[i]);
    return yes;
}

unsigned round_may_say_yes(const struct round *round, unsigned masters)
{
    unsigned may = 0, doubted = 0;
    for (unsigned i = 0; i < masters; i++) {
        may += round->ballots[i].state != BALLOT_CLOSED && !says_yes(&round->ballots[i]);
        doubted += round->ballots[i].doubted != 0;
    }
    return may ? may + doubted : 0; /* who is still to answer may vouch for them */
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

enum verdict round_verdict(const struct round *round, unsigned masters)
{
    return quorum_verdict(masters, round_yes(round, masters), round_may_say_yes(round, masters));
}
