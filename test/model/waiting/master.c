/*
 * A master has for the name at most one owner, a queue of waiters, each with a ticket and a life,
 * and a clock.  Enqueuing moves the clock up to the ticket.  A free name goes to the first live
 * waiter, for the rest of its life: the clock moves on by one, and the waiter is told by a push.
 * That is looked at by each release and each refresh; a name whose key has run out is free until
 * then.
 *
 * A restart takes all data, nothing, or the owner's key only: then the owner is enqueued again, as
 * before.  All clocks are above those before the restart.  The master goes on handing over; only it
 * tells its clients, when they connect, that it abstains.
 */
#include "world.h"

/* Of two with the same ticket the later one is first, which is worse. */
static bool is_before(const struct rules *rules, const struct world *world, int i, int a, int b)
{
    const struct link *link = world->master[i].link;
    if (broken(rules, ARRIVAL_ORDER))
        return link[a].place < link[b].place;
    if (world->waiter[a].ticket != world->waiter[b].ticket)
        return world->waiter[a].ticket < world->waiter[b].ticket;
    return a > b;
}

/* As an owner.  Of two tokens of one waiter the one given back is first: that is worse. */
static int first_waiter(const struct rules *rules, const struct world *world, int i)
{
    const struct link *link = world->master[i].link;
    int first = WAITERS;
    for (int w = 0; w < rules->waiters; w++)
        if ((link[w].record || link[w].ghost) &&
            (first == WAITERS || is_before(rules, world, i, w, first)))
            first = w;
    if (first == WAITERS)
        return FREE;
    return (link[first].ghost ? GIVEN_BACK : TOKEN) + first;
}

static bool overtakes(const struct rules *rules, const struct world *world, int w, int i)
{
    for (int x = 0; x < rules->waiters; x++)
        if (world->master[i].link[x].record && (world->waiter[w].after & 1 << x))
            return true;
    return false;
}

static int hand_over(const struct rules *rules, struct world *world, int i)
{
    struct master *master = &world->master[i];
    int first = first_waiter(rules, world, i);
    bool is_taken = master->owner != FREE && !broken(rules, HANDED_OVER_THOUGH_TAKEN);
    if (is_taken || first == FREE)
        return 0;
    struct link *link = &master->link[(first - TOKEN) % WAITERS];
    master->owner = first;
    master->left = first >= GIVEN_BACK ? link->ghost : link->record;
    master->left -= broken(rules, HANDED_OVER_SHORTER) && master->left > 1;
    master->clock++;
    if (first >= GIVEN_BACK) {
        link->ghost = 0;
        return 0;
    }
    link->record = 0;
    link->push = master->clock;
    link->push_is_old = false;
    if (overtakes(rules, world, first - TOKEN, i))
        world->wrong = OVERTAKEN;
    return 1 + first - TOKEN;
}

static void answer(struct link *link, enum way way, uint8_t clock)
{
    link->way = way;
    link->clock = clock;
}

static bool somebody_is_ahead(const struct rules *rules, const struct world *world, int w, int i)
{
    int first = first_waiter(rules, world, i);
    return first != FREE && is_before(rules, world, i, (first - TOKEN) % WAITERS, w);
}

static void enqueue(const struct rules *rules, struct world *world, int w, int i)
{
    struct master *master = &world->master[i];
    struct link *link = &master->link[w];
    if (!link->record && broken(rules, ARRIVAL_ORDER))
        for (int x = 0; x < rules->waiters; x++)
            if (x != w && master->link[x].record)
                link->place = larger(link->place, master->link[x].place + 1);
    link->record = rules->life;
    if (!broken(rules, ENQUEUING_MOVES_NO_CLOCK) && rules->question == ORDER)
        master->clock = larger(master->clock, world->waiter[w].ticket);
}

int master_queue(const struct rules *rules, struct world *world, int w, int i)
{
    struct master *master = &world->master[i];
    struct link *link = &master->link[w];
    if (master->owner == TOKEN + w) {
        master->left = larger(master->left, rules->life);
        answer(link, somebody_is_ahead(rules, world, w, i) ? VOTE_AHEAD : VOTE_YOURS,
               master->clock);
        return 0;
    }
    enqueue(rules, world, w, i);
    int pushed = hand_over(rules, world, i);
    answer(link, master->owner == TOKEN + w ? VOTE_YOURS : VOTE_QUEUED, master->clock);
    return pushed;
}

int master_grant(const struct rules *rules, struct world *world, int w, int i)
{
    struct master *master = &world->master[i];
    struct link *link = &master->link[w];
    int pushed = broken(rules, BARGING) ? 0 : hand_over(rules, world, i);
    bool is_waited_for = first_waiter(rules, world, i) != FREE && !broken(rules, BARGING);
    if (is_waited_for || master->owner != FREE) {
        answer(link, VOTE_REFUSED, ++master->clock);
        return pushed;
    }
    master->owner = TOKEN + w;
    master->left = rules->life;
    answer(link, VOTE_YOURS, 0);
    if (overtakes(rules, world, w, i))
        world->wrong = OVERTAKEN;
    return 0;
}

/* For a token that was given back, or the one in use if that is the same. */
int master_release(const struct rules *rules, struct world *world, int w, int i)
{
    struct master *master = &world->master[i];
    struct link *link = &master->link[w];
    bool same = broken(rules, YIELD_SAME_TOKEN);
    link->giving = false;
    link->ghost = 0;
    if (same)
        link->record = 0;
    if (master->owner == GIVEN_BACK + w || (same && master->owner == TOKEN + w))
        master->owner = FREE;
    return hand_over(rules, world, i);
}

int master_holders_release(const struct rules *rules, struct world *world, int i)
{
    world->master[i].giving = false;
    if (world->master[i].owner == HOLDER)
        world->master[i].owner = FREE;
    return hand_over(rules, world, i);
}

bool master_raise(struct world *world, int w, int i)
{
    struct master *master = &world->master[i];
    if (master->owner != TOKEN + w)
        return false;
    master->clock = larger(master->clock, world->waiter[w].fence);
    return true;
}

static void forget_key(struct master *master)
{
    struct link *link = &master->link[(master->owner + WAITERS - TOKEN) % WAITERS];
    if (master->owner >= GIVEN_BACK)
        link->ghost = larger(link->ghost, master->left);
    else if (master->owner >= TOKEN)
        link->record = larger(link->record, master->left);
    master->owner = FREE;
}

void master_restart(const struct rules *rules, struct world *world, int i, enum snapshot snapshot)
{
    struct master *master = &world->master[i];
    if (snapshot != SAME)
        forget_key(master);
    for (int w = 0; w < rules->waiters; w++) {
        struct link *link = &master->link[w];
        if (snapshot == EMPTY)
            link->record = link->ghost = 0;
        if (link->way == ASKED)
            link->way = NOTHING;
        link->raising = false;
        link->push_is_old = link->push;
        link->stale = true;
        world->waiter[w].after = 0;
    }
    master->clock++;
    master->restarted = true;
    master->quarantine = rules->ttl - broken(rules, QUARANTINE_SHORT);
}

void master_tick(struct master *master)
{
    pass(&master->left);
    pass(&master->quarantine);
    if (!master->left)
        master->owner = FREE;
    for (int w = 0; w < WAITERS; w++) {
        pass(&master->link[w].record);
        pass(&master->link[w].ghost);
    }
}
