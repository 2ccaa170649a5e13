/*
 * A master has for each slot at most one owner and a line, in the order of tickets.  A free slot
 * goes to the first of its line, and to nobody else.  The registry is who stands in any line
 * here.  A try is refused where the slot is not free, or where somebody is in the registry.  A new
 * place is given no free slot while as many older ones are in the registry as slots are free.  Once
 * refreshed it is, for those may be dead.  A release that leaves a slot free, with nobody in its
 * line, gives a hint to the first of the registry.  Where more slots are free the second gets one
 * and so on, for those before it have hints of these.
 */
#include "world.h"

static bool is_older(const struct world *world, int a, int b)
{
    return world->client[a].ticket < world->client[b].ticket;
}

static int oldest_of(const struct world *world, uint8_t who)
{
    int oldest = CLIENTS;
    for (int c = 0; c < CLIENTS; c++)
        if ((who & 1 << c) && (oldest == CLIENTS || is_older(world, c, oldest)))
            oldest = c;
    return oldest;
}

/* A token that was given back comes first: that is worse. */
int master_first(const struct world *world, int i, int j)
{
    const struct slot *slot = &world->master[i].slot[j];
    for (int c = 0; c < CLIENTS; c++)
        if (slot->ghosts & 1 << c)
            return GIVEN_BACK + c;
    int oldest = oldest_of(world, slot->line);
    return oldest == CLIENTS ? FREE : TOKEN + oldest;
}

static uint8_t registry(const struct world *world, int i, uint8_t *ghosts)
{
    uint8_t who = 0;
    *ghosts = 0;
    for (int j = 0; j < SLOTS; j++) {
        who |= world->master[i].slot[j].line;
        *ghosts |= world->master[i].slot[j].ghosts;
    }
    return who;
}

bool master_is_ahead(const struct world *world, int c, int i, int j)
{
    int first = master_first(world, i, j);
    return first >= GIVEN_BACK || (first != FREE && is_older(world, first - TOKEN, c));
}

bool master_has_slot(const struct rules *rules, const struct world *world, int c)
{
    for (int j = 0; j < rules->slots; j++) {
        int has = 0;
        for (int i = 0; i < up(rules); i++)
            has += world->master[i].slot[j].owner == TOKEN + c;
        if (has >= quorum(rules))
            return true;
    }
    return false;
}

/* The oldest that waits. */
static bool is_passed(const struct rules *rules, const struct world *world, int by)
{
    for (int c = 0; c < rules->clients; c++)
        if (c != by && world->client[c].phase == WAITING && world->client[c].ticket == 1 &&
            !master_has_slot(rules, world, c))
            return true;
    return false;
}

static void give(const struct rules *rules, struct world *world, int owner, int i, int j)
{
    int has = 0;
    world->master[i].slot[j].owner = owner;
    for (int k = 0; k < up(rules); k++)
        has += world->master[k].slot[j].owner == owner;
    if (rules->question == ORDER && owner < GIVEN_BACK && has == quorum(rules) &&
        is_passed(rules, world, owner - TOKEN))
        world->wrong = PASSED;
}

static void hand_over(const struct rules *rules, struct world *world, int i, int j)
{
    struct slot *slot = &world->master[i].slot[j];
    int first = master_first(world, i, j);
    if (slot->owner != FREE || first == FREE)
        return;
    uint8_t bit = 1 << (first - TOKEN) % CLIENTS;
    if (first >= GIVEN_BACK)
        slot->ghosts &= ~bit;
    else
        slot->line &= ~bit;
    give(rules, world, first, i, j);
}

static void say_yes(const struct rules *rules, struct world *world, int c, int i, int j)
{
    if (client_counts(rules, world, i))
        world->master[i].slot[j].told |= 1 << c;
}

static int free_slots(const struct rules *rules, const struct world *world, int i)
{
    int count = 0;
    for (int j = 0; j < rules->slots; j++)
        count += world->master[i].slot[j].owner == FREE;
    return count;
}

static int older_ones(const struct world *world, uint8_t who, int than)
{
    int count = 0;
    for (int c = 0; c < CLIENTS; c++)
        count += (who & 1 << c) && is_older(world, c, than);
    return count;
}

static bool passes_the_registry(const struct rules *rules, const struct world *world, int c, int i)
{
    uint8_t ghosts, who = registry(world, i, &ghosts);
    bool has_ticket = world->client[c].phase == WAITING;
    if (rules->style == AS_WRITTEN || broken(rules, REGISTRY_PASSED))
        return false;
    who &= ~(1 << c);
    return has_ticket ? older_ones(world, who, c) >= free_slots(rules, world, i) : who != 0;
}

void master_try(const struct rules *rules, struct world *world, int c, int i, int j)
{
    struct slot *slot = &world->master[i].slot[j];
    slot->asked &= ~(1 << c);
    hand_over(rules, world, i, j);
    if (slot->owner != FREE || passes_the_registry(rules, world, c, i)) {
        slot->refused |= 1 << c;
        return;
    }
    give(rules, world, TOKEN + c, i, j);
    say_yes(rules, world, c, i, j);
}

void master_stand(const struct rules *rules, struct world *world, int c, int i, int j)
{
    struct slot *slot = &world->master[i].slot[j];
    slot->asked &= ~(1 << c);
    if (slot->owner != TOKEN + c) {
        bool was_there = slot->line & 1 << c;
        slot->line |= 1 << c;
        slot->told &= ~(1 << c);
        if (was_there || broken(rules, ENQUEUED_PASSES) || !passes_the_registry(rules, world, c, i))
            hand_over(rules, world, i, j);
    }
    if (slot->owner == TOKEN + c)
        say_yes(rules, world, c, i, j);
}

static void hint(const struct rules *rules, struct world *world, int i, int j)
{
    struct slot *slot = &world->master[i].slot[j];
    uint8_t ghosts, who = registry(world, i, &ghosts);
    int first = oldest_of(world, who);
    for (int left = free_slots(rules, world, i) - 1; left > 0 && who & (who - 1); left--) {
        who &= ~(1 << first); /* it has a hint of another slot */
        first = oldest_of(world, who);
    }
    if (slot->owner != FREE || ghosts || first == CLIENTS)
        return;
    slot->hinted |= 1 << first;
    if (broken(rules, SLOT_HINT_COUNTS) && !(world->client[first].stands & 1 << j)) {
        world->client[first].tries |= 1 << j;
        slot->told |= 1 << first;
    }
}

void master_release(const struct rules *rules, struct world *world, int c, int i, int j, bool hints)
{
    struct slot *slot = &world->master[i].slot[j];
    slot->giving &= ~(1 << c);
    slot->ghosts &= ~(1 << c);
    if (broken(rules, REBIND_SAME_TOKEN))
        slot->line &= ~(1 << c);
    if (slot->owner == GIVEN_BACK + c ||
        (slot->owner == TOKEN + c && broken(rules, REBIND_SAME_TOKEN)))
        slot->owner = FREE;
    hand_over(rules, world, i, j);
    if (hints)
        hint(rules, world, i, j);
}
