/*
 * A client tries a slot with one token, or stands in its line with another; it never has two on
 * one slot.  An answer to a token counts for its own slot alone, and a quorum of it is the permit:
 * then all else is given back.  A hint, or what a refresh tells of other slots, is no vote.
 *
 * The first of a line learns by its refresh of a slot that is free with nobody in line (on a
 * quorum), or whose first is younger.  A hint tells the oldest of a free slot.  With `both` it
 * stands there as well, with a token for that slot and its old ticket, and keeps its place. With
 * `once` it leaves its old line, and never goes back because of a younger one to a slot that it has
 * left; not while it has anything.  As first written, it leaves its line too, goes back whenever
 * somebody younger is first there, follows a hint by a try, and does not learn of free slots.
 */
#include "world.h"

bool client_counts(const struct rules *rules, const struct world *world, int i)
{
    return !world->master[i].abstains || broken(rules, QUARANTINE_IGNORED);
}

int client_told(const struct rules *rules, const struct world *world, int c, int j)
{
    int told = 0;
    for (int i = 0; i < up(rules); i++) {
        uint8_t who = world->master[i].slot[j].told;
        for (int k = 0; k < rules->slots && broken(rules, ANOTHER_SLOT_COUNTS); k++)
            who |= world->master[i].slot[k].told;
        told += who >> c & 1;
    }
    return told;
}

/* A waiter goes on with a fresh token; the former one is there until its release comes. */
void client_give_back(const struct rules *rules, struct world *world, int c, int j, bool moves)
{
    bool same = moves && broken(rules, REBIND_SAME_TOKEN);
    for (int i = 0; i < up(rules); i++) {
        struct slot *slot = &world->master[i].slot[j];
        uint8_t bit = 1 << c;
        if ((slot->line & bit) || slot->owner == TOKEN + c)
            slot->giving |= bit;
        if (!same && slot->owner == TOKEN + c)
            slot->owner = GIVEN_BACK + c;
        if (!same && (slot->line & bit)) {
            slot->line &= ~bit;
            slot->ghosts |= bit;
        }
        slot->asked &= ~bit;
        slot->told &= ~bit;
        slot->refused &= ~bit;
    }
}

/* ---- the order of those who wait ----------------------------------------------------- */

void client_leave_order(const struct rules *rules, struct world *world, int c)
{
    uint8_t ticket = world->client[c].ticket;
    for (int x = 0; x < rules->clients; x++)
        if (ticket && world->client[x].ticket > ticket)
            world->client[x].ticket--;
    world->client[c].ticket = 0;
}

void client_queue_up(const struct rules *rules, struct world *world, int c)
{
    uint8_t last = 0;
    for (int x = 0; x < rules->clients; x++)
        last = world->client[x].ticket > last ? world->client[x].ticket : last;
    world->client[c].ticket = last + 1;
}

/* ---- answers, and what follows ------------------------------------------------------- */

static void acquire(const struct rules *rules, struct world *world, int c, int j)
{
    struct client *client = &world->client[c];
    for (int k = 0; k < rules->slots; k++) {
        bool is_kept = k != j && (client->stands & 1 << k) && broken(rules, OLD_PLACE_KEPT);
        if (k != j && !is_kept && !broken(rules, KEEPS_BOTH))
            client_give_back(rules, world, c, k, false);
        for (int i = 0; i < up(rules); i++)
            world->master[i].slot[k].hinted &= ~(1 << c);
    }
    client_leave_order(rules, world, c);
    *client = (struct client){.phase = HOLDING, .holds = j};
    for (int i = 0; i < up(rules); i++)
        for (int k = 0; k < rules->slots; k++)
            world->master[i].slot[k].refused &= ~(1 << c);
}

void client_settle(const struct rules *rules, struct world *world)
{
    int enough = quorum(rules) - broken(rules, MINORITY_COUNTS);
    for (int c = 0; c < rules->clients; c++)
        for (int j = 0; j < rules->slots; j++) {
            struct client *client = &world->client[c];
            bool asks = client->phase == TRYING || client->phase == WAITING;
            if (asks && ((client->stands | client->tries) & 1 << j) &&
                client_told(rules, world, c, j) >= enough)
                acquire(rules, world, c, j);
        }
}

bool client_has_failed(const struct rules *rules, const struct world *world, int c, int j)
{
    int refused = 0, asked = 0;
    for (int i = 0; i < up(rules); i++) {
        refused += world->master[i].slot[j].refused >> c & 1;
        asked += world->master[i].slot[j].asked >> c & 1;
    }
    return (world->client[c].tries & 1 << j) && (asked || refused);
}

bool client_has_to_yield(const struct rules *rules, const struct world *world, int c, int j)
{
    if (world->client[c].phase != WAITING || broken(rules, NO_YIELD))
        return false;
    for (int i = 0; i < up(rules); i++)
        if ((world->master[i].slot[j].told & 1 << c) && master_is_ahead(world, c, i, j))
            return true;
    return false;
}

/* ---- to another slot ------------------------------------------------------------------- */

bool client_has_anything(const struct rules *rules, const struct world *world, int c)
{
    for (int j = 0; j < rules->slots; j++)
        for (int i = 0; i < up(rules); i++)
            if (world->master[i].slot[j].told & 1 << c)
                return true;
    return false;
}

static bool is_free(const struct world *world, int c, int i, int from, int to)
{
    const struct slot *slot = world->master[i].slot;
    return master_first(world, i, from) == TOKEN + c && slot[to].owner == FREE &&
           master_first(world, i, to) == FREE;
}

static bool has_younger_first(const struct world *world, int c, int i, int from, int to)
{
    int first = master_first(world, i, to);
    return master_first(world, i, from) == TOKEN + c && first != FREE && first < GIVEN_BACK &&
           world->client[first - TOKEN].ticket > world->client[c].ticket;
}

bool client_may_move(const struct rules *rules, const struct world *world, int c, int from, int to)
{
    const struct client *client = &world->client[c];
    bool may_go_back = rules->style == AS_WRITTEN || broken(rules, REBIND_BACK);
    int free = 0, younger = 0;
    if (client->phase != WAITING || client->tries || (client->stands & 1 << to) ||
        !(client->stands & 1 << from))
        return false;
    if (rules->style != BOTH && client_has_anything(rules, world, c) &&
        !broken(rules, REBIND_WHILE_GRANTED))
        return false;
    for (int i = 0; i < up(rules); i++) {
        free += is_free(world, c, i, from, to);
        younger += has_younger_first(world, c, i, from, to);
    }
    if (rules->style == AS_WRITTEN || broken(rules, FREE_NOT_TOLD))
        free = 0;
    if (free >= (broken(rules, FREE_ON_ONE) ? 1 : quorum(rules)))
        return true;
    return younger && (may_go_back || !(client->left & 1 << to));
}

/* ---- what must not be -------------------------------------------------------------------- */

void client_judge(const struct rules *rules, struct world *world)
{
    int holders[SLOTS] = {0}, all = 0;
    for (int c = 0; c < rules->clients; c++) {
        if (world->client[c].phase != HOLDING)
            continue;
        holders[world->client[c].holds]++;
        all++;
        int has = 0;
        for (int j = 0; j < rules->slots; j++)
            has += client_told(rules, world, c, j) >= quorum(rules);
        if (has > 1 && !broken(rules, ANOTHER_SLOT_COUNTS))
            world->wrong = TWO_SLOTS;
    }
    for (int j = 0; j < rules->slots; j++)
        if (holders[j] > 1)
            world->wrong = TWO_HOLD;
    if (all > rules->slots)
        world->wrong = TOO_MANY;
}
