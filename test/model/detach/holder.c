/*
 * It renews with heal, as often as it likes, until redlock_lease_detach().
 */
#include "world.h"

bool holder_may_ask(const struct rules *rules, const struct world *world, int i, int k)
{
    return !world->left && k < rules->renewals && !world->master[i].renewal[k].stage;
}

/* lease_ask(): the request waits in the batch of the link. */
void holder_ask(const struct rules *rules, struct world *world, int i, int k)
{
    world->master[i].renewal[k] =
        (struct renewal){.stage = UNWRITTEN, .late_in = whole_time(rules)};
}

bool holder_may_write(const struct world *world, int i)
{
    for (int k = 0; k < RENEWALS; k++)
        if (world->master[i].renewal[k].stage == UNWRITTEN)
            return true;
    return false;
}

/* link_flush() */
void holder_write(struct world *world, int i)
{
    for (int k = 0; k < RENEWALS; k++)
        if (world->master[i].renewal[k].stage == UNWRITTEN)
            world->master[i].renewal[k].stage = ON_ITS_WAY;
    world->wrong = world->left ? WRITTEN_LATE : FINE;
}

/* ask_lease_again(): the script whole, unless the lease is left. */
void holder_hear_forgotten(const struct rules *rules, struct world *world, int i, int k)
{
    world->master[i].renewal[k] = (struct renewal){0};
    if (!world->left || broken(rules, REPEATED_WHEN_LEFT))
        holder_ask(rules, world, i, k);
}

/* redlock_lease_detach(): lease_leave() and pump_write(). */
void holder_detach(const struct rules *rules, struct world *world)
{
    for (int i = 0; i < rules->masters && !broken(rules, LEFT_UNWRITTEN); i++)
        holder_write(world, i);
    world->left = true;
}
