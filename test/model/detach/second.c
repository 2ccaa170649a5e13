/*
 * It is given the token as well, and attaches when the first heir hears that a quorum has done its
 * release.
 */
#include "world.h"

static int count_done(const struct rules *rules, const struct world *world)
{
    int done = 0;
    for (int i = 0; i < rules->masters; i++)
        done += heir_is_done(world, i);
    return done;
}

/* releasing_weigh() */
bool second_may_attach(const struct rules *rules, const struct world *world)
{
    return rules->question == AGAIN && !world->master[0].second &&
           count_done(rules, world) >= quorum(rules) - broken(rules, RELEASED_BY_FEW);
}

void second_attach(const struct rules *rules, struct world *world)
{
    for (int i = 0; i < rules->masters; i++)
        world->master[i].second = ASKED;
}

bool second_holds(const struct rules *rules, const struct world *world)
{
    int yes = 0;
    for (int i = 0; i < rules->masters; i++)
        yes += world->master[i].second == SAID_YES;
    return yes >= quorum(rules);
}
