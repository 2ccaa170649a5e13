/*
 * A world in a few words.  Facts that no later step looks at are forgotten first, so that fewer
 * worlds differ.  Masters are alike, so they are sorted.
 */
#include "world.h"

#include "../bits.h"

/* ---- what is forgotten ---------------------------------------------------------------- */

/* How many different ones are below. */
static uint8_t rank(const uint8_t clocks[3], int of)
{
    uint8_t below = 0;
    for (int k = 0; k < 3; k++) {
        bool is_another = true;
        for (int j = 0; j < k; j++)
            is_another = is_another && clocks[j] != clocks[k];
        below += is_another && clocks[k] < clocks[of];
    }
    return below;
}

/* A push that is no newer than the last word might as well be as old; so might one that the answer
 * on its way is no older than.  An answer that is no older than the last word might as well be
 * newer. */
static uint8_t push_as_good_as(const struct link *link, uint8_t told, uint8_t clock)
{
    if (!link->push || link->push <= link->told)
        return told;
    if (link->way > ASKED && link->push <= link->clock)
        return clock;
    return 2 * link->push + 1;
}

/* Where neither tickets nor fences are made of clocks, only their order on a link matters. */
static void rank_clocks(struct link *link)
{
    bool answered = link->way > ASKED;
    uint8_t clocks[3] = {2 * link->told, answered ? 2 * link->clock + 1 : 2 * link->told};
    clocks[2] = push_as_good_as(link, clocks[0], clocks[1]);
    uint8_t told = rank(clocks, 0), clock = rank(clocks, 1), push = rank(clocks, 2);
    uint8_t shift = link->push && push == 0; /* 0 is no push */
    link->told = told + shift;
    link->clock = answered ? clock + shift : 0;
    link->push = link->push ? push + shift : 0;
}

static bool counts(const struct rules *rules)
{
    return rules->question == ORDER || rules->question == FENCES;
}

static void forget_at(const struct rules *rules, struct world *world, int w, int i)
{
    struct link *link = &world->master[i].link[w];
    const struct waiter *waiter = &world->waiter[w];
    bool asks_first = waiter->phase == WAITING && !waiter->ticket;
    if (waiter->phase == HOLDING || waiter->phase == DONE) {
        uint8_t promise = waiter->phase == HOLDING ? link->promise : 0;
        link->way = link->push = link->refreshed = link->told = 0;
        link->ahead = link->stale = link->backs = link->raising = false;
        link->promise = promise;
    }
    bool may_count_anew = broken(rules, YIELD_SAME_TOKEN);
    if (link->push && client_drops_push(rules, world, w, i) && !may_count_anew)
        link->push = 0;
    if (link->way > ASKED && !link->left && !broken(rules, ANSWER_DATED_FROM_ARRIVAL))
        link->way = NOTHING;
    if (!link->way)
        link->left = 0;
    if (link->way <= ASKED)
        link->clock = 0;
    if (!link->push)
        link->push_is_old = false;
    if (!link->promise || counts(rules) || rules->question == BACKING)
        link->ahead = rules->question == FENCES && link->promise && link->ahead;
    if (!link->record)
        link->place = 0;
    if (!counts(rules))
        rank_clocks(link);
    else if (!link->promise && !link->push && !link->way && !asks_first)
        link->told = 0;
}

static void forget(const struct rules *rules, struct world *world)
{
    for (int w = 0; w < rules->waiters; w++) {
        for (int x = 0; x < rules->waiters; x++)
            if (world->waiter[x].phase >= HOLDING || world->waiter[w].phase >= HOLDING)
                world->waiter[w].after &= ~(1 << x);
        if (world->waiter[w].phase != STORING)
            world->waiter[w].fence = 0;
        for (int i = 0; i < rules->masters; i++)
            forget_at(rules, world, w, i);
    }
    for (int i = 0; i < rules->masters; i++) {
        struct master *master = &world->master[i];
        if (master->owner == FREE)
            master->left = 0;
        if (!world->restarts)
            master->restarted = false;
    }
}

/* ---- bits ------------------------------------------------------------------------------ */

enum { LIFE = 2, TIME = 3, RANK = 2, CLOCK = 4 };

INLINE void link_fields(const struct rules *rules, struct bits *bits, struct link *link)
{
    unsigned clock = counts(rules) ? CLOCK : RANK;
    field(bits, LIFE, &link->record);
    field(bits, LIFE, &link->ghost);
    field(bits, LIFE, &link->left);
    field(bits, LIFE, &link->refreshed);
    field(bits, LIFE, &link->promise);
    field(bits, TIME, &link->way);
    field(bits, clock, &link->clock);
    field(bits, clock, &link->push);
    field(bits, clock, &link->told);
    flag(bits, &link->push_is_old);
    flag(bits, &link->giving);
    flag(bits, &link->ahead);
    flag(bits, &link->stale);
    flag(bits, &link->cut);
    if (rules->question == FENCES) {
        flag(bits, &link->raising);
        flag(bits, &link->backs);
    }
    if (broken(rules, ARRIVAL_ORDER))
        field(bits, LIFE, &link->place);
}

/* Where only the order of clocks was kept, a master's own is above those that it told. */
static void find_clock(const struct rules *rules, struct master *master)
{
    for (int w = 0; w < rules->waiters && !counts(rules); w++) {
        const struct link *link = &master->link[w];
        master->clock = larger(master->clock, larger(link->told, larger(link->clock, link->push)));
    }
}

INLINE void master_fields(const struct rules *rules, struct bits *bits, struct master *master)
{
    field(bits, TIME, &master->owner);
    field(bits, TIME, &master->left);
    field(bits, TIME, &master->quarantine);
    if (counts(rules))
        field(bits, CLOCK, &master->clock);
    flag(bits, &master->restarted);
    flag(bits, &master->giving);
    for (int w = 0; w < rules->waiters; w++)
        link_fields(rules, bits, &master->link[w]);
    if (bits->reads)
        find_clock(rules, master);
}

INLINE void other_fields(const struct rules *rules, struct bits *bits, struct world *world)
{
    for (int w = 0; w < rules->waiters; w++) {
        struct waiter *waiter = &world->waiter[w];
        field(bits, TIME, &waiter->phase);
        field(bits, CLOCK, &waiter->ticket);
        field(bits, WAITERS, &waiter->after);
        field(bits, CLOCK, &waiter->fence);
    }
    field(bits, TIME, &world->holds);
    field(bits, TIME, &world->late);
    field(bits, TIME, &world->restarts);
    field(bits, TIME, &world->cuts);
    field(bits, CLOCK, &world->top);
}

/* ---- words ------------------------------------------------------------------------------- */

static unsigned words_of_master(const struct rules *rules)
{
    struct bits bits = {0};
    master_fields(rules, &bits, &(struct master){0});
    return (bits.at + WORD - 1) / WORD;
}

PACKING(rules->masters, words_of_master(rules), 1)
