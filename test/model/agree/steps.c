/*
 * The steps of the world.  A hello is carried out when it is sent: a later one is kept for longer.
 * Its answer may be under way for any time.  A client may stop at any moment: the others, and the
 * ticks, go on.  A client that may take a lease takes it, as if a quorum granted it: the two
 * lists need not share any master that would refuse.
 */
#include "world.h"

static bool is_held_by(const struct rules *rules, const struct world *world, enum list list)
{
    for (int c = 0; c < clients(rules); c++)
        if (world->client[c].held && list_of(rules, c) == list)
            return true;
    return false;
}

/* In stays the first list was first on all masters. */
static bool is_refused_wrongly(const struct rules *rules, const struct world *world)
{
    bool is_apart = rules->question == APART;
    for (int c = 0; c < clients(rules) && (is_apart || rules->question == STAYS); c++)
        if ((is_apart || list_of(rules, c) == LIST_A) && client_is_refused(rules, world, c))
            return true;
    return false;
}

static bool takes_leases(const struct rules *rules)
{
    return rules->question != STAYS && rules->question != APART;
}

static enum wrong judged(const struct rules *rules, const struct world *world)
{
    if (is_held_by(rules, world, LIST_A) && is_held_by(rules, world, LIST_B))
        return TWO_HOLD;
    return is_refused_wrongly(rules, world) ? IS_REFUSED : FINE;
}

static void take(const struct visit *v, enum act act, int c, int i, const struct world *next)
{
    struct step step = {act, c, i, judged(v->rules, next)};
    v->visit(v->visitor, &step, next);
}

/* ---- a client and a master ------------------------------------------------------------------ */

static void answer(const struct rules *rules, struct world *world, int c, int i, enum answer answer)
{
    struct link *link = &world->master[i].link[c];
    link->answer = answer;
    link->answer_left = rules->word + 1;
}

static void say(const struct visit *v, int c, int i)
{
    struct world next = *v->now;
    answer(v->rules, &next, c, i, master_say(v->rules, &next, c, i));
    take(v, SAY, c, i, &next);
    if (!master_may_misplace(v->rules, v->now, c, i))
        return;
    next.master[i].first = list_of(v->rules, c);
    answer(v->rules, &next, c, i, OURS_FIRST);
    take(v, SAY, c, i, &next);
}

static void steps_at(const struct visit *v, int c, int i)
{
    struct world next = *v->now;
    const struct master *master = &v->now->master[i];
    if (v->now->client[c].phase == CLOSED) {
        if (!master->keeps[c])
            return;
        master_unsay(v->rules, &next, c, i);
        take(v, UNSAY, c, i, &next);
    } else if (master->link[c].answer) {
        client_hear(&next, c, i);
        take(v, HEAR, c, i, &next);
    } else {
        say(v, c, i);
    }
}

/* ---- a client, a master, time --------------------------------------------------------------- */

static void become(const struct visit *v, enum act act, int c, struct client client)
{
    struct world next = *v->now;
    next.client[c] = client;
    take(v, act, c, 0, &next);
}

/* Without time a lease lasts until it is released. */
static void steps_of_client(const struct visit *v, int c)
{
    const struct client *client = &v->now->client[c];
    uint8_t lasts = v->rules->word ? v->rules->lease : 1;
    if (takes_leases(v->rules) && client_may_take(v->rules, v->now, c))
        become(v, TAKE, c, (struct client){client->phase, lasts});
    if (client->held && !v->rules->word)
        become(v, RELEASE, c, (struct client){client->phase, 0});
    if (client_may_close(v->rules, v->now, c))
        become(v, CLOSE, c, (struct client){CLOSED, client->held});
}

static void restart(const struct visit *v, int i)
{
    struct world next = *v->now;
    next.restarts--;
    next.master[i] = (struct master){0};
    take(v, RESTART, 0, i, &next);
}

static void tick(const struct visit *v)
{
    struct world next = *v->now;
    for (int i = 0; i < honest(v->rules); i++)
        master_tick(v->rules, &next, i);
    for (int c = 0; c < clients(v->rules); c++)
        pass(&next.client[c].held);
    take(v, TICK, 0, 0, &next);
}

static void order_steps(const struct visit *v)
{
    for (int c = 0; c < clients(v->rules); c++) {
        for (int i = 0; i < honest(v->rules); i++)
            steps_at(v, c, i);
        steps_of_client(v, c);
    }
    for (int i = 0; i < honest(v->rules) && v->now->restarts; i++)
        restart(v, i);
    if (v->rules->word)
        tick(v);
}

void model_steps(const struct visit *v)
{
    if (v->rules->question == LISTS)
        lists_steps(v);
    else if (is_about_entries(v->rules))
        entries_steps(v);
    else
        order_steps(v);
}

/* ---- to begin with ---------------------------------------------------------------------------
 */

/* Nobody has said anything.  Of stays, list A was said everywhere, and its client has heard that or
 * has just begun. */
static void order_begin(const struct visit *v)
{
    struct world world = {.restarts = v->rules->restarts};
    for (int i = 0; i < honest(v->rules) && v->rules->question == STAYS; i++)
        answer(v->rules, &world, 0, i, master_say(v->rules, &world, 0, i));
    v->visit(v->visitor, NULL, &world);
    for (int i = 0; i < honest(v->rules) && v->rules->question == STAYS; i++)
        client_hear(&world, 0, i);
    v->visit(v->visitor, NULL, &world);
}

void model_begin(const struct visit *v)
{
    if (v->rules->question == LISTS)
        lists_begin(v);
    else if (is_about_entries(v->rules))
        entries_begin(v);
    else
        order_begin(v);
}
