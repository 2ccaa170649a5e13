/*
 * A world in a few words.  Facts that no later step looks at are forgotten first, so that fewer
 * worlds differ.  Masters are alike, so they are sorted.
 */
#include "world.h"

#include "../bits.h"

enum { TWO = 2, SAYING = 3, HISTORY = UNSAY };

INLINE void link_fields(const struct rules *rules, struct bits *bits, struct link *link)
{
    field(bits, TWO, &link->connection);
    for (int k = 0; k < MESSAGES; k++) {
        field(bits, SAYING, &link->message[k].what);
        field(bits, TWO, &link->message[k].connection);
        if (rules->ttl)
            field(bits, SAYING, &link->message[k].left);
    }
}

INLINE void view_fields(struct bits *bits, struct view *view)
{
    flag(bits, &view->is_up);
    flag(bits, &view->is_former);
    flag(bits, &view->subscribed);
    flag(bits, &view->is_sub_former);
    field(bits, SAYING, &view->heard);
    flag(bits, &view->is_old);
    flag(bits, &view->fresh);
    flag(bits, &view->answered);
    flag(bits, &view->due);
    field(bits, TWO, &view->asked);
    flag(bits, &view->is_fresh);
    flag(bits, &view->overtaken);
    field(bits, SAYING, &view->answer);
    flag(bits, &view->is_answer_old);
    for (int k = 0; k < PUSHES; k++)
        field(bits, SAYING, &view->push[k]);
    field(bits, TWO, &view->pushes);
}

INLINE void master_fields(const struct rules *rules, struct bits *bits, struct master *master)
{
    field(bits, TWO, &master->name);
    field(bits, SAYING, &master->record);
    if (rules->ttl) {
        field(bits, TWO, &master->name_left);
        field(bits, SAYING, &master->record_left);
    }
    flag(bits, &master->is_old);
    flag(bits, &master->has_expired);
    flag(bits, &master->abstains);
    flag(bits, &master->restarted);
    flag(bits, &master->listens);
    field(bits, HISTORY, &master->history);
    flag(bits, &master->steady);
    for (int term = 0; term < TERMS; term++)
        link_fields(rules, bits, &master->link[term]);
    view_fields(bits, &master->view);
}

INLINE void other_fields(const struct rules *rules, struct bits *bits, struct world *world)
{
    (void)rules;
    for (int term = 0; term < TERMS; term++) {
        field(bits, TWO, &world->leader[term].phase);
        field(bits, TWO, &world->leader[term].number);
        field(bits, SAYING, &world->leader[term].ticks);
    }
    flag(bits, &world->observer.begun);
    field(bits, TWO, &world->observer.state);
    field(bits, SAYING, &world->observer.latest);
    flag(bits, &world->observer.verifying);
    flag(bits, &world->observer.well);
    field(bits, SAYING, &world->highest);
    field(bits, SAYING, &world->late);
    field(bits, TWO, &world->breaks);
    field(bits, TWO, &world->looks);
    field(bits, TWO, &world->restarts);
}

/* ---- what is forgotten ------------------------------------------------------------------ */

static void forget_view(const struct rules *rules, const struct world *world, struct master *master)
{
    struct view *view = &master->view;
    if (!world->observer.verifying)
        view->fresh = view->answered = view->is_fresh = master->steady = false;
    if (view->heard == UNKNOWN)
        view->fresh = false;
    if (rules->question != PROGRESS || !world->observer.begun)
        master->has_expired = false;
    if (!view->asked)
        view->is_fresh = view->overtaken = false;
    else
        view->due = false; /* an answer makes it anew */
    if (view->asked != ANSWERED)
        view->answer = view->is_answer_old = false;
}

/* Nobody says anything there by a name that a former leader has, nor is it freed for anything. */
static void forget_name(const struct rules *rules, struct world *world, int i)
{
    struct master *master = &world->master[i];
    struct link *link = &master->link[0];
    bool is_over = world->leader[0].phase == GONE && !rules->handed && !rules->ttl;
    if (!is_over || (link->message[0].what && link->message[0].what < UNSAY) ||
        link->message[1].what)
        return;
    if (master->name == HELD)
        master->name = FREE;
    if (link->message[0].what == UNSAY && (!master->record || term_of(master->record) != 0))
        *link = (struct link){0};
}

static int count_steady(const struct world *world, uint8_t saying)
{
    int steady = 0;
    for (int i = 0; i < MASTERS; i++)
        steady += world->master[i].steady && world->master[i].record == saying;
    return steady;
}

static void forget_steady(const struct rules *rules, struct world *world)
{
    for (uint8_t saying = NOTHING; saying < UNSAY; saying++)
        if (!saying || saying < world->observer.latest ||
            count_steady(world, saying) < quorum(rules))
            for (int i = 0; i < rules->masters; i++)
                world->master[i].steady &= world->master[i].record != saying;
}

/* A quorum's word at some time stays said.  A saying that may not be reported any more matters no
 * more. */
static void forget_history(const struct rules *rules, struct world *world)
{
    for (uint8_t saying = FIRST; saying < UNSAY; saying++) {
        int said = 0;
        uint8_t bit = 1 << saying;
        for (int i = 0; i < rules->masters; i++)
            said += world->master[i].history >> saying & 1;
        bool matters = saying >= world->observer.latest && saying >= world->highest;
        for (int i = 0; i < rules->masters; i++)
            if (!matters || said >= quorum(rules))
                world->master[i].history =
                    matters ? world->master[i].history | bit : world->master[i].history & ~bit;
    }
}

static void forget(const struct rules *rules, struct world *world)
{
    if (world->observer.latest >= world->highest && world->observer.begun)
        world->highest = NOTHING;
    if (!world->observer.verifying)
        world->observer.well = false;
    for (int i = 0; i < rules->masters; i++)
        forget_view(rules, world, &world->master[i]);
    forget_steady(rules, world);
    for (int i = 0; i < rules->masters; i++)
        forget_name(rules, world, i);
    if (!world->restarts || rules->ttl)
        forget_history(rules, world);
    for (int term = 0; term < TERMS; term++)
        if (world->leader[term].phase > LEADS && !broken(rules, ANNOUNCED_PAST))
            world->leader[term].number = 0;
}

/* ---- words --------------------------------------------------------------------------------- */

PACKING(rules->masters, 2, 1)
