#include "world.h"

unsigned quorum_of(const struct rules *rules, int list)
{
    bool is_middle = list == 1;
    return (rules->masters - !is_middle) / 2 + 1;
}

static unsigned count_promises(const struct rules *rules, const struct world *world, int c,
                               int ledger)
{
    unsigned count = 0;
    for (int i = 0; i < rules->masters; i++)
        count += world->master[i].link[c].promise[ledger] != 0;
    return count;
}

static bool has_quorum(const struct rules *rules, const struct world *world, int c, int ledger)
{
    unsigned least = quorum_of(rules, world->client[c].list + ledger);
    least -= ledger && broken(rules, MOVED_FEW);
    return count_promises(rules, world, c, ledger) >= least;
}

static void drop_promises(const struct rules *rules, struct world *world, int c)
{
    for (int i = 0; i < rules->masters; i++)
        for (int ledger = 0; ledger < LEDGERS; ledger++)
            world->master[i].link[c].promise[ledger] = 0;
}

void client_start(const struct rules *rules, struct world *world, int c, int list)
{
    world->client[c] = (struct client){.state = ASKS, .list = list};
    drop_promises(rules, world, c);
    for (int i = 0; i < rules->masters; i++)
        world->master[i].link[c].word_for = 0;
}

bool client_may_hold(const struct rules *rules, const struct world *world, int c)
{
    return world->client[c].state == ASKS && has_quorum(rules, world, c, 0);
}

void client_hold(struct world *world, int c)
{
    world->client[c].state = HOLDS;
    for (int other = 0; other < CLIENTS; other++)
        if (world->client[other].state == IS_LATE)
            world->client[other].state = IS_TOO_LATE;
}

static bool has_next_list(const struct world *world, int c)
{
    return world->client[c].list == 0 || (world->client[c].list == 1 && world->open);
}

bool client_may_attach(const struct world *world, int c)
{
    return world->client[c].state != ASKS && has_next_list(world, c);
}

/* It holds by the former list until then, as client_tick() sees to. */
bool client_may_move(const struct rules *rules, const struct world *world, int c)
{
    return client_may_attach(world, c) && has_quorum(rules, world, c, 1);
}

void client_move(const struct rules *rules, struct world *world, int c)
{
    struct client *client = &world->client[c];
    for (int i = 0; i < rules->masters; i++) {
        struct link *link = &world->master[i].link[c];
        bool is_left = has_master(world, client->list, i) &&
                       (!has_master(world, client->list + 1, i) || broken(rules, RELEASED_ON_ALL));
        link->promise[0] = link->promise[1];
        link->promise[1] = 0;
        link->word_for = 0;
        if (is_left)
            master_give_back(world, c, i);
    }
    client->list++;
    world->wrong = client->state == IS_TOO_LATE ? HELD_BETWEEN : FINE;
    client_hold(world, c);
}

void client_release(const struct rules *rules, struct world *world, int c)
{
    world->client[c].state = ASKS;
    drop_promises(rules, world, c);
    for (int i = 0; i < rules->masters; i++)
        master_give_back(world, c, i);
}

bool client_may_take_back(const struct rules *rules, const struct world *world, int c)
{
    bool rests = world->client[c].list == 0 && count_promises(rules, world, c, 0);
    return !rests || broken(rules, TAKEN_BACK_WHILE_HELD);
}

void client_take_back(const struct rules *rules, struct world *world, int c, int i)
{
    struct link *link = &world->master[i].link[c];
    link->said_for = 0;
    if (!broken(rules, TAKEN_BACK_IN_WORDS))
        link->word_for = 0;
}

void client_tick(const struct rules *rules, struct world *world, int c)
{
    bool is_over = world->client[c].state == HOLDS && !has_quorum(rules, world, c, 0);
    if (is_over && broken(rules, MOVED_LATE))
        world->client[c].state = IS_LATE;
    else if (is_over)
        client_start(rules, world, c, world->client[c].list);
}
