#include "world.h"

static int count_said(const struct rules *rules, const struct world *world, int t, enum said said)
{
    int count = 0;
    for (int i = 0; i < rules->masters; i++)
        count += world->master[i].said[t] == said;
    return count;
}

bool tool_may_win(const struct rules *rules, const struct world *world, int t)
{
    int count = 0;
    for (int i = 0; i < rules->masters; i++)
        count += master_is_of(world, i, t);
    return !world->try[t].fence && count >= quorum(rules);
}

void tool_win(struct world *world, int t)
{
    world->try[t].fence = ++world->fences;
}

void tool_read(const struct rules *rules, struct world *world, int t, int i)
{
    struct master *master = &world->master[i];
    struct try *try = &world->try[t];
    bool counts = master->knows || broken(rules, FORGETFUL_COUNT);
    bool is_later = broken(rules, WRITES_THE_FIRST) ? !try->of : master->fence > try->of;
    master->said[t] = counts ? KNEW : FORGOT;
    if (!is_later)
        return;
    try->of = master->fence;
    try->list = master->list;
}

/* Where nobody knows anything, nothing has been written yet. */
bool tool_may_decide(const struct rules *rules, const struct world *world, int t)
{
    int least = quorum(rules) - broken(rules, READ_FEWER);
    int founding = broken(rules, FOUNDED_BY_QUORUM) ? quorum(rules) : rules->masters;
    return !world->try[t].writes && (count_said(rules, world, t, KNEW) >= least ||
                                     count_said(rules, world, t, FORGOT) >= founding);
}

void tool_decide(const struct rules *rules, struct world *world, int t)
{
    struct try *try = &world->try[t];
    try->writes = true;
    if (!try->of || broken(rules, WRITES_ITS_OWN))
        try->list = t + 1;
    world->list_of[try->fence] = try->list;
}

/* ---- clients ------------------------------------------------------------------------------- */

static int count_written(const struct rules *rules, const struct world *world, unsigned fences)
{
    int count = 0;
    for (int i = 0; i < rules->masters; i++)
        count += (world->master[i].written & fences) != 0;
    return count;
}

/* The fences that count as one with this. */
static unsigned alike(const struct rules *rules, const struct world *world, int fence)
{
    unsigned fences = 1U << fence;
    for (int f = 1; f <= world->fences && broken(rules, FOLLOWED_ANY_FENCE); f++)
        if (world->list_of[f] == world->list_of[fence])
            fences |= 1U << f;
    return fences;
}

/* Words of several times count together, and a word stays for a while after a restart. */
static bool is_followed(const struct rules *rules, const struct world *world, int fence)
{
    int least = broken(rules, FOLLOWED_ONE) ? 1 : quorum(rules);
    return count_written(rules, world, alike(rules, world, fence)) >= least;
}

bool two_are_followed(const struct rules *rules, const struct world *world)
{
    unsigned lists = 0;
    for (int fence = 1; fence <= world->fences; fence++)
        if (is_followed(rules, world, fence))
            lists |= 1U << world->list_of[fence];
    return (lists & (lists - 1)) != 0;
}
