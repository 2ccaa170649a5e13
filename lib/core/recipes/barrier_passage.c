#include "recipes/barrier.h"

#include <string.h>

#include "ground/quorum.h"

/* The master's word was true not long ago. */
static bool passage_stands(const struct engine *e, const struct party *party, unsigned master)
{
    return task_counts_on(e, master) && e->now < party->at[master].asked_at + task_word_lasts(e);
}

static unsigned passage_count(const struct engine *e, const struct party *party, enum stand stand)
{
    unsigned number = 0;
    for (unsigned i = 0; i < e->config.masters; i++)
        number += party->at[i].stand == stand && passage_stands(e, party, i);
    return number;
}

/* Whom this master counts, in what it said that still counts. */
static struct slice passage_parties_at(const struct engine *e, const struct party *party,
                                       unsigned master)
{
    const struct stood_at *at = &party->at[master];
    bool open = at->stand == STAND_OPEN && passage_stands(e, party, master);
    return open ? lines_all(&at->tokens) : (struct slice){"", 0};
}

static bool passage_has_line(struct slice lines, struct slice token)
{
    struct slice line;
    while (lines_next(&lines, &line))
        if (slices_are_same(line, token))
            return true;
    return false;
}

static bool passage_is_counted_at(const struct engine *e, const struct party *party,
                                  unsigned master, struct slice token)
{
    return passage_has_line(passage_parties_at(e, party, master), token);
}

/* A wrong master may name a party twice. */
static bool passage_is_repeated(struct slice all, struct slice token)
{
    return passage_has_line((struct slice){all.bytes, (size_t)(token.bytes - all.bytes)}, token);
}

/* On `enough` masters, of which this is the first one that counts it. */
static bool passage_is_there(const struct engine *e, const struct party *party, unsigned first,
                             struct slice token, unsigned enough)
{
    unsigned count = 1;
    for (unsigned i = 0; i < first; i++)
        if (passage_is_counted_at(e, party, i, token))
            return false;
    for (unsigned i = first + 1; i < e->config.masters && count < enough; i++)
        count += passage_is_counted_at(e, party, i, token);
    return count >= enough;
}

/* Enough parties are each on a quorum of open masters.  That each of a quorum of masters counts
 * enough is not enough: they may be other ones, of which each has left. */
static bool passage_all_are_there(const struct engine *e, const struct party *party)
{
    unsigned enough = e->quorum, there = 0;
    if (passage_count(e, party, STAND_OPEN) < enough)
        return false;
    for (unsigned i = 0; i + enough <= e->config.masters; i++) {
        struct slice all = passage_parties_at(e, party, i), lines = all, token;
        while (lines_next(&lines, &token))
            there +=
                !passage_is_repeated(all, token) && passage_is_there(e, party, i, token, enough);
    }
    return there >= party->terms.parties;
}

/* That it was passed stays true, but spare votes are those of masters that may be wrong. */
bool passage_is_decided(const struct engine *e, const struct party *party)
{
    return passage_count(e, party, STAND_PASSED) > e->config.spare ||
           passage_all_are_there(e, party);
}

bool passage_is_known(const struct engine *e, const struct party *party)
{
    return passage_count(e, party, STAND_PASSED) >= e->quorum;
}

/* Others wait there for another number, or the generation is over there.  While the master is being
 * asked again that does not count.  The others may have gone, or the master lost its data, and it
 * may be open with this party by now.
 */
static bool passage_bars(const struct engine *e, const struct party *party, unsigned master)
{
    enum stand stand = party->at[master].stand;
    bool is_asked = task_is_asking(&party->task, master);
    return (stand == STAND_OTHER || stand == STAND_OVER) && !is_asked &&
           passage_stands(e, party, master);
}

/* A party that passes with this one has found it on a quorum of open masters: on one of those that
 * are counted here, which would have said so. */
bool passage_is_left(const struct engine *e, const struct party *party)
{
    if (party->comes_back || party->unheard || party->was_open)
        return false;
    unsigned left = passage_count(e, party, STAND_GONE);
    for (unsigned i = 0; i < e->config.masters; i++) {
        left += !(party->touched >> i & 1);
        left += passage_bars(e, party, i);
    }
    return left >= e->quorum;
}

bool passage_is_barred(const struct engine *e, const struct party *party)
{
    return passage_count(e, party, STAND_OTHER) > e->config.masters - e->quorum;
}

/* That a generation was passed stays true, as `passed` does; a master that was set back to older
 * data has forgotten it at worst. */
bool passage_is_over(const struct engine *e, const struct party *party)
{
    return passage_count(e, party, STAND_OVER) > e->config.spare;
}

int64_t passage_latest(const struct engine *e, const struct party *party)
{
    usec latest[MASTERS_MAX];
    unsigned told = 0;
    for (unsigned i = 0; i < e->config.masters; i++)
        if (party->at[i].stand == STAND_OVER && passage_stands(e, party, i))
            latest[told++] = party->at[i].latest;
    return quorum_ranked(latest, told, e->config.spare + 1);
}

bool passage_hears_quorum(const struct engine *e, const struct party *party)
{
    unsigned heard = 0;
    for (unsigned i = 0; i < e->config.masters; i++)
        heard += party->at[i].stand != STAND_UNKNOWN && passage_stands(e, party, i);
    return heard >= e->quorum;
}

usec passage_heard_until(const struct engine *e, const struct party *party, usec since)
{
    usec answered[MASTERS_MAX];
    unsigned heard = 0;
    for (unsigned i = 0; i < e->config.masters; i++)
        if (party->at[i].answered && task_counts_on(e, i))
            answered[heard++] = party->at[i].answered;
    usec latest = heard >= e->quorum ? quorum_ranked(answered, heard, e->quorum) : 0;
    return (latest > since ? latest : since) + task_word_lasts(e);
}
