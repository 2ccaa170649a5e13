/*
 * The tool may end at any moment, and another one may take its place.  It asks the masters for all
 * that it knows, but for the time that it has waited: that begins anew.
 */
#include "world.h"

static unsigned count_over(const struct rules *rules, const struct world *world, bool empty)
{
    unsigned count = 0;
    for (int i = 0; i < rules->masters; i++) {
        const struct master *master = &world->master[i];
        bool is_said = master->link[0].said_for || master->link[1].said_for;
        bool may_be_said = !master->over && !broken(rules, EMPTY_WITHOUT_END) &&
                           !(broken(rules, RESTART_IS_EMPTY) && master->abstains_for);
        count += has_master(world, 0, i) && !may_be_said && !(empty && is_said);
    }
    return count;
}

/* Any quorum of the first list has one of these, whatever restarts. */
static unsigned enough(const struct rules *rules)
{
    return quorum_of(rules, 0) - broken(rules, ENDED_ON_FEWER) +
           (broken(rules, RESTART_UNCOUNTED) ? 0 : rules->restarts);
}

static uint8_t whole_wait(const struct rules *rules)
{
    if (broken(rules, OPENED_AT_ONCE))
        return 0;
    if (broken(rules, WAITED_FOR_WORDS))
        return rules->word;
    return broken(rules, WAITED_FOR_LEASES) ? rules->ttl : kept_for(rules);
}

void tool_end(const struct rules *rules, struct world *world, int i)
{
    world->master[i].over = true;
    if (!world->wait && count_over(rules, world, false) >= enough(rules))
        world->wait = whole_wait(rules) + 1;
}

/* The tool tells the master again, and the time begins anew. */
void tool_notice_restart(const struct rules *rules, struct world *world)
{
    if (count_over(rules, world, false) < enough(rules))
        world->wait = 0;
}

bool tool_may_open(const struct rules *rules, const struct world *world)
{
    if (rules->question == WAITED)
        return world->wait == 1;
    unsigned least = broken(rules, EMPTY_ON_ONE) ? 1 : enough(rules);
    return count_over(rules, world, true) >= least;
}
