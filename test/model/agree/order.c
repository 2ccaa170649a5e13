/*
 * A common master keeps for each client that said its list how long that is kept, and which list
 * has been there for longer.  A list is there while it is kept for a client.
 */
#include "world.h"

static bool has(const struct rules *rules, const struct master *master, enum list list)
{
    for (int c = 0; c < clients(rules); c++)
        if (master->keeps[c] && list_of(rules, c) == list)
            return true;
    return false;
}

static void set_first(const struct rules *rules, struct master *master)
{
    bool a = has(rules, master, LIST_A), b = has(rules, master, LIST_B);
    if (!a || !b)
        master->first = a ? LIST_A : b ? LIST_B : NO_LIST;
}

/* Leases that were granted within a word's time are over before the list is forgotten. */
static uint8_t kept(const struct rules *rules)
{
    return rules->word ? rules->word + rules->lease - broken(rules, FORGOT_TOO_SOON) : 1;
}

static enum answer answer_of(const struct rules *rules, const struct master *master, enum list list)
{
    bool compares = rules->question != APART || broken(rules, COMPARES_OTHER_FLEET);
    if (!compares || !has(rules, master, list == LIST_A ? LIST_B : LIST_A))
        return ALONE;
    return master->first == list ? OURS_FIRST : THEIRS_FIRST;
}

enum answer master_say(const struct rules *rules, struct world *world, int c, int i)
{
    struct master *master = &world->master[i];
    enum list list = list_of(rules, c);
    if (!master->keeps[c] || !broken(rules, KEPT_FROM_FIRST))
        master->keeps[c] = kept(rules);
    set_first(rules, master);
    if (world->elder == NO_LIST)
        world->elder = list;
    if (broken(rules, FIRST_IS_SELF_TOLD) && world->elder == list)
        master->first = list;
    return answer_of(rules, master, list);
}

bool master_may_misplace(const struct rules *rules, const struct world *world, int c, int i)
{
    return broken(rules, PLACE_BY_CLOCK) && !has(rules, &world->master[i], list_of(rules, c));
}

void master_unsay(const struct rules *rules, struct world *world, int c, int i)
{
    struct master *master = &world->master[i];
    for (int other = 0; other < clients(rules); other++)
        if (other == c ||
            (broken(rules, TAKEN_BACK_FOR_ALL) && list_of(rules, other) == list_of(rules, c)))
            master->keeps[other] = 0;
    set_first(rules, master);
}

void master_tick(const struct rules *rules, struct world *world, int i)
{
    struct master *master = &world->master[i];
    for (int c = 0; c < clients(rules); c++) {
        struct link *link = &master->link[c];
        pass(&master->keeps[c]);
        if (!broken(rules, DATED_WHEN_HEARD))
            pass(&link->answer_left);
        if (!broken(rules, GRANT_WITHOUT_SAYING))
            pass(&link->word_left);
    }
    set_first(rules, master);
}
