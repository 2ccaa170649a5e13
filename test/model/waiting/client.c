/*
 * A waiter is enqueued on the masters with a token, and refreshes its place.  Each answer
 *   queued  it is enqueued: a later push is dated from this request;
 *   yours   it has the name, for a life from the sending of this request;
 *   ahead   the same, but another waiter is ahead.
 * A push comes on a connection of its own.  Its grant is dated from the last request that was
 * answered with "queued", never from its arrival.  It counts only
 *   - if it comes from the same process as that answer and as the main connection (R-A);
 *   - if its clock is above what the master told last (R-B);
 *   - from a master that does not abstain, by what the main connection heard.
 * A push that comes before any answer waits for one: here it stays on its way.
 * A quorum of promises that are not over (R-D) is had.  A minority is given back when
 * somebody ahead was reported, and everything is when no quorum of masters can be reached:
 * then it asks nobody until one can (R-C).  A token that was given back is never asked for again:
 * the waiter goes on with a fresh token and the old ticket (R-E).
 */
#include "world.h"

static bool abstains(const struct master *master, int w)
{
    return master->quarantine && !master->link[w].stale;
}

static int reached(const struct rules *rules, const struct world *world, int w)
{
    int reached = 0;
    for (int i = 0; i < rules->masters; i++)
        reached += !world->master[i].link[w].cut && !abstains(&world->master[i], w);
    return reached;
}

bool client_reaches_quorum(const struct rules *rules, const struct world *world, int w)
{
    return reached(rules, world, w) >= quorum(rules) || rules->question == BACKING;
}

bool client_may_ask(const struct rules *rules, const struct world *world, int w, int i)
{
    const struct master *master = &world->master[i];
    if (world->waiter[w].phase != WAITING || master->link[w].cut || master->link[w].stale)
        return false;
    if (abstains(master, w) && !broken(rules, QUARANTINE_IGNORED))
        return false;
    return client_reaches_quorum(rules, world, w) || broken(rules, MINORITY_KEPT_WHEN_CUT);
}

int client_promises(const struct rules *rules, const struct world *world, int w)
{
    int promises = 0;
    for (int i = 0; i < rules->masters; i++)
        promises += world->master[i].link[w].promise > 0;
    return promises;
}

bool client_has_anything(const struct rules *rules, const struct world *world, int w)
{
    for (int i = 0; i < rules->masters; i++) {
        const struct link *link = &world->master[i].link[w];
        if (link->record || world->master[i].owner == TOKEN + w || link->promise || link->way)
            return true;
    }
    return false;
}

bool client_has_to_yield(const struct rules *rules, const struct world *world, int w)
{
    bool ahead = false;
    if (world->waiter[w].phase != WAITING)
        return false;
    if (!client_reaches_quorum(rules, world, w))
        return client_has_anything(rules, world, w) && !broken(rules, MINORITY_KEPT_WHEN_CUT);
    for (int i = 0; i < rules->masters; i++)
        ahead |= world->master[i].link[w].ahead && world->master[i].link[w].promise;
    return ahead && !broken(rules, NO_YIELD);
}

/* ---- who has it ------------------------------------------------------------------- */

static int who_hold(const struct rules *rules, const struct world *world)
{
    int hold = world->holds > 0;
    for (int w = 0; w < rules->waiters; w++)
        hold += world->waiter[w].phase == HOLDING;
    return hold;
}

static int who_count(const struct rules *rules, const struct world *world, int i)
{
    int count = world->holds > 0;
    for (int w = 0; w < rules->waiters; w++)
        count += world->master[i].link[w].promise > 0;
    return count;
}

void client_acquire(const struct rules *rules, struct world *world, int w)
{
    world->waiter[w].phase = HOLDING;
    if (who_hold(rules, world) > 1)
        world->wrong = TWO_HOLD;
}

/* One master among several cannot tell what the others will give. */
static void weigh(const struct rules *rules, struct world *world, int w, int i)
{
    int enough = quorum(rules) - broken(rules, MINORITY_COUNTS);
    if (rules->question == BACKING && who_count(rules, world, i) > 1)
        world->wrong = TWO_COUNT;
    if (rules->question == BACKING || rules->question == FENCES)
        return;
    if (world->waiter[w].phase == WAITING && client_promises(rules, world, w) >= enough)
        client_acquire(rules, world, w);
}

/* ---- what the masters say ----------------------------------------------------------- */

static void hear_queued(const struct rules *rules, struct link *link)
{
    if (link->clock < link->told)
        return;
    link->told = link->clock;
    link->refreshed = link->left;
    link->backs = false;
    if (!broken(rules, KEPT_THOUGH_QUEUED))
        link->promise = 0;
}

static void hear_yours(struct link *link, bool ahead)
{
    link->told = link->clock;
    link->refreshed = 0;
    link->promise = larger(link->promise, link->left);
    link->ahead = ahead;
}

void client_hear(const struct rules *rules, struct world *world, int w, int i)
{
    struct link *link = &world->master[i].link[w];
    int way = link->way;
    link->way = NOTHING;
    if (broken(rules, ANSWER_DATED_FROM_ARRIVAL))
        link->left = rules->life;
    if (way == VOTE_QUEUED)
        hear_queued(rules, link);
    else if (way == VOTE_REFUSED)
        link->told = link->clock;
    else
        hear_yours(link, way == VOTE_AHEAD);
    weigh(rules, world, w, i);
}

bool client_drops_push(const struct rules *rules, const struct world *world, int w, int i)
{
    const struct link *link = &world->master[i].link[w];
    bool is_anothers = link->push_is_old != link->stale && !broken(rules, PUSH_OF_ANOTHER_PROCESS);
    bool is_old = link->push <= link->told && !broken(rules, OLD_PUSH_COUNTS);
    bool is_wanted = world->waiter[w].phase == WAITING || world->waiter[w].phase == HOLDING;
    return is_anothers || is_old || link->cut || !is_wanted;
}

bool client_takes_push(const struct rules *rules, const struct world *world, int w, int i)
{
    const struct link *link = &world->master[i].link[w];
    if (!link->push || client_drops_push(rules, world, w, i))
        return false;
    if (abstains(&world->master[i], w) && !broken(rules, QUARANTINE_IGNORED))
        return false;
    return link->refreshed || broken(rules, PUSH_DATED_FROM_ARRIVAL);
}

static uint8_t dated_from(const struct rules *rules, const struct link *link)
{
    if (broken(rules, PUSH_DATED_FROM_ARRIVAL))
        return rules->life;
    if (broken(rules, PUSH_DATED_FROM_REQUEST) && link->way)
        return link->left;
    return link->refreshed;
}

void client_hear_push(const struct rules *rules, struct world *world, int w, int i)
{
    struct link *link = &world->master[i].link[w];
    uint8_t left = dated_from(rules, link);
    link->told = link->push;
    link->push = 0;
    link->ahead = false;
    link->promise = larger(link->promise, left);
    weigh(rules, world, w, i);
}

/* ---- what it gives back, and what it loses ------------------------------------------- */

static void give_back_at(struct master *master, int w)
{
    struct link *link = &master->link[w];
    bool is_there = link->record || master->owner == TOKEN + w || link->way;
    link->giving = !link->cut && (link->giving || is_there);
    link->ghost = larger(link->ghost, link->record);
    link->record = 0;
    link->push = 0;
    if (master->owner == TOKEN + w)
        master->owner = GIVEN_BACK + w;
}

static void forget(struct link *link)
{
    link->way = NOTHING;
    link->refreshed = link->promise = link->told = 0;
    link->ahead = link->backs = link->raising = false;
}

void client_give_back(const struct rules *rules, struct world *world, int w, enum phase then)
{
    bool same = then == WAITING && broken(rules, YIELD_SAME_TOKEN);
    world->waiter[w].phase = then;
    for (int i = 0; i < rules->masters; i++) {
        struct link *link = &world->master[i].link[w];
        if (same)
            link->giving = !link->cut;
        else
            give_back_at(&world->master[i], w);
        forget(link);
    }
}

void client_notice(const struct rules *rules, struct link *link)
{
    link->stale = false;
    link->way = NOTHING;
    if (!broken(rules, REFRESH_OF_ANOTHER_PROCESS))
        link->refreshed = 0;
}

void client_cut(struct link *link)
{
    link->cut = true;
    link->way = NOTHING;
    link->refreshed = link->push = 0;
    link->giving = link->raising = link->stale = false;
}

static void tick_at(const struct rules *rules, struct link *link)
{
    pass(&link->refreshed);
    pass(&link->left);
    if (link->promise > 1 || !broken(rules, EXPIRED_COUNTS))
        pass(&link->promise);
    link->backs = link->backs && link->promise;
}

void client_tick(const struct rules *rules, struct world *world)
{
    int enough = quorum(rules) - broken(rules, MINORITY_COUNTS);
    pass(&world->holds);
    for (int w = 0; w < rules->waiters; w++) {
        for (int i = 0; i < rules->masters; i++)
            tick_at(rules, &world->master[i].link[w]);
        if (world->waiter[w].phase == HOLDING && client_promises(rules, world, w) < enough)
            client_give_back(rules, world, w, DONE);
    }
}

/* ---- the ticket ---------------------------------------------------------------------- */

/* The largest clock that a quorum told, of those heard; 0: none yet. */
int client_ticket(const struct rules *rules, const struct world *world, int w, int heard)
{
    int told = 0, most = 0, least = 0;
    for (int i = 0; i < rules->masters; i++) {
        int clock = world->master[i].link[w].told;
        if (!(heard & 1 << i) || !clock)
            continue;
        told++;
        most = clock > most ? clock : most;
        least = !least || clock < least ? clock : least;
    }
    if (told < (broken(rules, TICKET_OF_ONE) ? 1 : quorum(rules)))
        return 0;
    return broken(rules, TICKET_MINIMUM) ? least : most;
}
