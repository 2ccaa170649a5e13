/*
 * A client keeps the last word of each master, with the time for which it counts: from when its
 * hello was sent.  It counts the words for its list and those for the other.
 */
#include "world.h"

static bool is_fresh(const struct link *link)
{
    return link->word != NO_ANSWER && link->word_left > 0;
}

/* An answer that came late counts as no word. */
void client_hear(struct world *world, int c, int i)
{
    struct link *link = &world->master[i].link[c];
    link->word = link->answer;
    link->word_left = link->answer_left;
    link->answer = NO_ANSWER;
    link->answer_left = 0;
}

struct words {
    int heard, telling, ours, theirs;
};

/* A master that the other list does not name counts only if it tells of that list. */
static struct words count_words(const struct rules *rules, const struct world *world, int c)
{
    struct words words = {0};
    for (int i = 0; i < honest(rules); i++) {
        const struct link *link = &world->master[i].link[c];
        if (!is_fresh(link))
            continue;
        words.heard++;
        words.telling += link->word != ALONE;
        words.ours += link->word == OURS_FIRST || (link->word == ALONE && rules->named);
        words.theirs += link->word == THEIRS_FIRST;
    }
    return words;
}

static bool came_later(const struct rules *rules, const struct words *words)
{
    int spare = broken(rules, LIARS_UNCOUNTED) ? 0 : rules->liars;
    if (broken(rules, NOT_COMPARED))
        return false;
    if (words->telling <= (broken(rules, ONE_LIAR_REFUSES) ? 0 : rules->liars))
        return false;
    if (broken(rules, ONE_WORD_REFUSES))
        return words->theirs > 0;
    return words->ours < words->theirs + spare + !broken(rules, HALF_IS_ENOUGH);
}

/* Masters that have not answered yet may all be for it. */
bool client_is_refused(const struct rules *rules, const struct world *world, int c)
{
    struct words words = count_words(rules, world, c);
    if (!broken(rules, REFUSED_UNHEARD))
        words.ours += honest(rules) - words.heard;
    words.telling += rules->liars;
    words.theirs += rules->liars;
    return came_later(rules, &words);
}

bool client_may_take(const struct rules *rules, const struct world *world, int c)
{
    struct words words = count_words(rules, world, c);
    int connected = honest(rules);
    if (broken(rules, TAKES_UNHEARD) || broken(rules, SOME_SAID_AGAIN))
        connected--;
    words.ours += rules->liars;
    return world->client[c].phase == IN_USE && words.heard >= connected &&
           !came_later(rules, &words);
}

bool client_may_close(const struct rules *rules, const struct world *world, int c)
{
    const struct client *client = &world->client[c];
    return rules->closes && client->phase == IN_USE &&
           (!client->held || broken(rules, TAKEN_BACK_WHILE_HELD));
}
