/*
 * agree.lua, acquire.lua and renew.lua as far as they matter here.  A request is carried out, and
 * its answer heard, when it is sent: a master's ttl begins with the promise then, and not later.
 */
#include "world.h"

void master_say(const struct rules *rules, struct world *world, int c, int i)
{
    struct master *master = &world->master[i];
    struct link *link = &master->link[c];
    if (master->over && !broken(rules, SAID_THOUGH_OVER)) {
        link->word_for = 0;
        return;
    }
    link->said_for = broken(rules, KEPT_FOR_WORDS) ? rules->word : kept_for(rules);
    link->word_for = rules->word;
}

static bool grants(const struct master *master, int c)
{
    return !master->abstains_for && (!master->owner || master->owner == c + 1);
}

void master_ask(const struct rules *rules, struct world *world, int c, int i, int ledger)
{
    struct master *master = &world->master[i];
    struct link *link = &master->link[c];
    bool counts = world->client[c].list + ledger || link->word_for;
    if (!grants(master, c))
        return;
    master->owner = c + 1;
    master->owned_for = rules->ttl;
    if (counts || broken(rules, PROMISED_WITHOUT_WORD))
        link->promise[ledger] = rules->ttl;
}

void master_give_back(struct world *world, int c, int i)
{
    struct master *master = &world->master[i];
    if (master->owner == c + 1)
        master->owner = master->owned_for = 0;
}

/* Connections end, and its promises stand. */
void master_restart(const struct rules *rules, struct world *world, int i)
{
    struct master *master = &world->master[i];
    master->owner = master->owned_for = 0;
    master->over = false;
    master->abstains_for = broken(rules, NO_QUARANTINE) ? 0 : rules->ttl;
    for (int c = 0; c < CLIENTS; c++)
        master->link[c].said_for = master->link[c].word_for = 0;
}

void master_tick(struct world *world, int i)
{
    struct master *master = &world->master[i];
    pass(&master->owned_for);
    if (!master->owned_for)
        master->owner = FREE;
    pass(&master->abstains_for);
    for (int c = 0; c < CLIENTS; c++) {
        struct link *link = &master->link[c];
        pass(&link->said_for);
        pass(&link->word_for);
        for (int ledger = 0; ledger < LEDGERS; ledger++)
            pass(&link->promise[ledger]);
    }
}
