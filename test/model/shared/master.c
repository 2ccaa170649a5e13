/*
 * A master carries out a request by the rules R2 to R9.
 *
 * Waiters are enqueued, each with a ticket.  A name that is free goes to the first, and so
 * does one that readers have, if the first is a reader; after a reader, the next is looked
 * at.  That is done by each release, refresh, first try and conversion.
 *
 * A restart takes all data, or what has changed since a snapshot.  The master then abstains:
 * it renews, converts and releases what it has.
 */
#include "world.h"

static bool wants_alone(const struct world *world, int owner)
{
    return world->client[(owner - TOKEN) % CLIENTS].wants_alone;
}

/* Of two with the same ticket the later one is first, which is worse. */
static bool is_before(const struct world *world, int a, int b)
{
    const struct client *client = world->client;
    if (client[a].ticket != client[b].ticket)
        return client[a].ticket < client[b].ticket;
    return a > b;
}

static bool is_skipped(const struct rules *rules, const struct world *world, int i, int c)
{
    return broken(rules, WRITER_SKIPPED) && world->client[c].wants_alone &&
           world->master[i].data.name != FREE;
}

/* As an owner.  Of two tokens of one client the one given back is first: that is worse. */
static int first_in_queue(const struct rules *rules, const struct world *world, int i)
{
    const struct master *master = &world->master[i];
    int first = CLIENTS;
    for (int c = 0; c < rules->clients; c++)
        if ((master->queue | master->ghosts) & 1 << c && !is_skipped(rules, world, i, c) &&
            (first == CLIENTS || is_before(world, c, first)))
            first = c;
    if (first == CLIENTS)
        return FREE;
    return (master->ghosts & 1 << first ? GIVEN_BACK : TOKEN) + first;
}

static void judge_turn(const struct rules *rules, struct world *world, int i, int c, bool alone)
{
    for (int x = 0; x < rules->clients; x++)
        if (x != c && world->master[i].queue & 1 << x && world->client[c].after & 1 << x &&
            (alone || world->client[x].wants_alone))
            world->wrong = OVERTAKEN;
}

static void hand_over(const struct rules *rules, struct world *world, int i)
{
    struct master *master = &world->master[i];
    for (;;) {
        int first = first_in_queue(rules, world, i);
        if (first == FREE || !data_can_have(rules, &master->data, wants_alone(world, first)))
            return;
        data_give(rules, &master->data, first, wants_alone(world, first));
        master->clock++;
        if (first >= GIVEN_BACK) {
            master->ghosts &= ~bit_of(first);
            continue;
        }
        master->queue &= ~bit_of(first);
        judge_turn(rules, world, i, first - TOKEN, wants_alone(world, first));
    }
}

enum vote master_take(const struct rules *rules, struct world *world, int c, int i, bool alone)
{
    struct master *master = &world->master[i];
    if (master->quarantine && !broken(rules, TAKEN_IN_QUARANTINE))
        return REFUSED;
    hand_over(rules, world, i);
    bool is_waited_for = (master->queue | master->ghosts) && !broken(rules, BARGING);
    if (is_waited_for || !data_can_have(rules, &master->data, alone)) {
        master->clock++;
        return REFUSED;
    }
    data_give(rules, &master->data, TOKEN + c, alone);
    judge_turn(rules, world, i, c, alone);
    return YOURS;
}

static enum vote heal(const struct rules *rules, struct master *master, int owner, bool alone)
{
    struct data *data = &master->data;
    bool is_free = data->name == FREE;
    bool over = broken(rules, HEALS_OVER) && (alone || data->name != MARK);
    if (!data_can_have(rules, data, alone) && !over)
        return REFUSED;
    if (master->quarantine && !broken(rules, is_free ? HEALED_IN_QUARANTINE : JOINED_IN_QUARANTINE))
        return ABSENT;
    data_give(rules, data, owner, alone);
    return YOURS;
}

enum vote master_renew(const struct rules *rules, struct world *world, int c, int i, bool alone,
                       bool converts)
{
    struct master *master = &world->master[i];
    struct data *data = &master->data;
    int owner = TOKEN + c;
    bool is_readers = !alone && data_is_reader(rules, data, owner);
    if (data->name != owner && !is_readers)
        return heal(rules, master, owner, alone);
    if (data->name == owner && !alone && (converts || broken(rules, RENEWAL_CONVERTS))) {
        data_give(rules, data, owner, false);
        hand_over(rules, world, i);
        return YOURS;
    }
    data_prolong(rules, data, owner);
    return data->name == owner && !alone ? ALONE : YOURS;
}

static bool may_upgrade(const struct rules *rules, const struct master *master, int owner)
{
    const struct data *data = &master->data;
    if (data->name == owner)
        return !master->quarantine || broken(rules, TOKEN_UPGRADED_IN_QUARANTINE);
    if (!data_is_reader(rules, data, owner))
        return false;
    if (master->quarantine && !broken(rules, UPGRADED_IN_QUARANTINE))
        return false;
    return data_is_only_reader(data, owner) || broken(rules, UPGRADED_BESIDE);
}

enum vote master_upgrade(const struct rules *rules, struct world *world, int c, int i)
{
    struct master *master = &world->master[i];
    if (!may_upgrade(rules, master, TOKEN + c))
        return REFUSED;
    data_give(rules, &master->data, TOKEN + c, true);
    return YOURS;
}

enum vote master_queue(const struct rules *rules, struct world *world, int c, int i)
{
    struct master *master = &world->master[i];
    int first = first_in_queue(rules, world, i);
    if (data_has(rules, &master->data, TOKEN + c)) {
        bool is_behind = first != FREE && is_before(world, (first - TOKEN) % CLIENTS, c);
        return is_behind ? AHEAD : YOURS;
    }
    master->queue |= 1 << c;
    if (rules->question == ORDER)
        master->clock = larger(master->clock, world->client[c].ticket);
    hand_over(rules, world, i);
    return data_has(rules, &master->data, TOKEN + c) ? YOURS : QUEUED;
}

/* Of a token that was given back.  The last one of a client that is done is not renamed. */
void master_release(const struct rules *rules, struct world *world, int c, int i)
{
    struct master *master = &world->master[i];
    struct link *link = &master->link[c];
    bool is_done = world->client[c].phase == DONE;
    link->giving = false;
    master->ghosts &= ~(1 << c);
    data_take_back(rules, &master->data, GIVEN_BACK + c, world->client[c].wants_alone);
    if (is_done) {
        for (int k = FLIGHTS; k-- > 0;)
            client_forget_message(link, k);
        master->queue &= ~(1 << c);
        data_take_back(rules, &master->data, TOKEN + c, world->client[c].alone);
    }
    hand_over(rules, world, i);
}

void master_restart(const struct rules *rules, struct world *world, int i, bool is_empty)
{
    struct master *master = &world->master[i];
    master->data = is_empty ? (struct data){0} : master->saved;
    master->saved = (struct data){0};
    master->has_saved = false;
    master->restarted = true;
    master->quarantine = rules->ttl - broken(rules, QUARANTINE_SHORT);
    for (int c = 0; c < rules->clients; c++) {
        struct link *link = &master->link[c];
        for (int k = FLIGHTS; k-- > 0;)
            if (link->flight[k].stage != ANSWERED)
                client_forget_message(link, k);
        link->stale = true;
    }
}

void master_tick(const struct rules *rules, struct master *master)
{
    data_tick(rules, &master->data);
    data_tick(rules, &master->saved);
    pass(&master->quarantine);
}
