/*
 * renew.lua, release.lua with mark.lua, and a restart.
 */
#include "world.h"

/* The heir's ttl is of one tick. */
static uint8_t life_of_mark(const struct rules *rules)
{
    if (broken(rules, UNMARKED))
        return 0;
    int ttl = broken(rules, MARK_OF_OWN_TTL) ? 1 : rules->ttl;
    return broken(rules, MARK_WITHOUT_SLACK) ? ttl : ttl + 1;
}

static bool heals(const struct rules *rules, const struct master *master)
{
    return master->owner == FREE && (!master->mark || broken(rules, HEALS_MARKED));
}

void master_renew(const struct rules *rules, struct world *world, int i, int k)
{
    struct master *master = &world->master[i];
    struct renewal *renewal = &master->renewal[k];
    bool in_time = renewal->late_in || broken(rules, LATE_HEALS);
    if (in_time && heals(rules, master)) {
        master->owner = TOKEN;
        bool is_given_back =
            world->heir == GAVE_BACK && (master->released || heir_is_done(world, i));
        world->wrong = is_given_back ? HEALED : FINE;
    }
    *renewal = (struct renewal){0};
}

void master_renew_heirs(const struct rules *rules, struct world *world, int i)
{
    struct master *master = &world->master[i];
    if (master->heir.heals && heals(rules, master))
        master->owner = TOKEN;
    master->heir.renewal = master->owner == TOKEN ? SAID_YES : SAID_ABSENT;
}

/* As the heir's first one: without heal. */
void master_renew_seconds(const struct rules *rules, struct world *world, int i)
{
    struct master *master = &world->master[i];
    bool is_over = master->mark && !broken(rules, PASSES_MARKED_ON);
    master->second = master->owner == TOKEN && !is_over ? SAID_YES : SAID_ABSENT;
    world->wrong = second_holds(rules, world) ? TAKEN_OVER : FINE;
}

/* A place in the queue may be given the name later, until a release of the token ends it: here that
 * is a request that is still on its way. */
bool master_may_take(const struct world *world, int i)
{
    return world->master[i].taking && world->master[i].owner == FREE;
}

void master_take(struct world *world, int i)
{
    world->master[i].owner = TOKEN;
    world->master[i].taking = false;
}

void master_release(const struct rules *rules, struct world *world, int i)
{
    struct master *master = &world->master[i];
    bool had_it = master->owner == TOKEN;
    if (had_it)
        master->owner = FREE;
    if (had_it || !broken(rules, MARKS_WHAT_IT_HAD))
        master->mark = life_of_mark(rules);
    master->released = true;
    master->heir.release = SAID_DONE;
}

/* Without its data; all connections end, and what was on its way with them. */
void master_restart(const struct rules *rules, struct world *world, int i)
{
    struct master *master = &world->master[i];
    master->owner = FREE;
    master->mark = 0;
    master->taking &= broken(rules, RESTART_KEEPS_REQUESTS);
    for (int k = 0; k < rules->renewals && !broken(rules, RESTART_KEEPS_REQUESTS); k++)
        master->renewal[k] = (struct renewal){0};
    heir_cut(rules, world, i);
}

void master_tick(const struct rules *rules, struct world *world, int i)
{
    struct master *master = &world->master[i];
    pass(&master->mark);
    for (int k = 0; k < rules->renewals; k++)
        pass(&master->renewal[k].late_in);
}
