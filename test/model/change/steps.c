/*
 * The steps of the world.  A client, or the tool, may stop at any moment: the others, and the
 * ticks, go on.
 */
#include "world.h"

static void take(const struct visit *v, enum act act, int c, int i, const struct world *next)
{
    bool two = next->client[0].state == HOLDS && next->client[1].state == HOLDS;
    struct step step = {act, c, i, two ? TWO_HOLD : next->wrong};
    v->visit(v->visitor, &step, next);
}

static bool may_start(const struct world *world, int list)
{
    return list < 2 || world->open;
}

static void starts(const struct visit *v, int c)
{
    for (int list = 0; list < LISTS; list++) {
        struct world next = *v->now;
        if (!may_start(v->now, list))
            continue;
        client_start(v->rules, &next, c, list);
        take(v, START, c, list, &next);
    }
}

static void steps_at(const struct visit *v, int c, int i)
{
    struct world next = *v->now;
    int list = v->now->client[c].list;
    if (list == 0 && has_master(v->now, 0, i)) {
        master_say(v->rules, &next, c, i);
        take(v, SAY, c, i, &next);
    }
    next = *v->now;
    if (has_master(v->now, list, i)) {
        master_ask(v->rules, &next, c, i, 0);
        take(v, ASK, c, i, &next);
    }
    next = *v->now;
    if (client_may_attach(v->now, c) && has_master(v->now, list + 1, i)) {
        master_ask(v->rules, &next, c, i, 1);
        take(v, ATTACH, c, i, &next);
    }
    next = *v->now;
    if (v->now->master[i].link[c].said_for && client_may_take_back(v->rules, v->now, c)) {
        client_take_back(v->rules, &next, c, i);
        take(v, TAKE_BACK, c, i, &next);
    }
}

static void steps_of_client(const struct visit *v, int c)
{
    struct world next = *v->now;
    starts(v, c);
    for (int i = 0; i < v->rules->masters; i++)
        steps_at(v, c, i);
    if (client_may_hold(v->rules, v->now, c)) {
        client_hold(&next, c);
        take(v, HOLD, c, 0, &next);
    }
    next = *v->now;
    if (client_may_move(v->rules, v->now, c)) {
        client_move(v->rules, &next, c);
        take(v, MOVE, c, 0, &next);
    }
    next = *v->now;
    client_release(v->rules, &next, c);
    take(v, RELEASE, c, 0, &next);
}

static void steps_of_tool(const struct visit *v)
{
    struct world next = *v->now;
    for (int i = 0; i < v->rules->masters; i++) {
        next = *v->now;
        if (has_master(v->now, 0, i) && !v->now->master[i].over) {
            tool_end(v->rules, &next, i);
            take(v, END, 0, i, &next);
        }
    }
    next = *v->now;
    if (!v->now->open && tool_may_open(v->rules, v->now)) {
        next.open = true;
        take(v, OPEN, 0, 0, &next);
    }
}

static void steps_of_masters(const struct visit *v)
{
    struct world next = *v->now;
    for (int i = 0; i < v->rules->masters && v->now->restarts; i++) {
        next = *v->now;
        next.restarts--;
        master_restart(v->rules, &next, i);
        tool_notice_restart(v->rules, &next);
        take(v, RESTART, 0, i, &next);
    }
    next = *v->now;
    for (int i = 0; i < v->rules->masters; i++)
        master_tick(&next, i);
    for (int c = 0; c < CLIENTS; c++)
        client_tick(v->rules, &next, c);
    next.wait -= next.wait > 1;
    take(v, TICK, 0, 0, &next);
}

void model_steps(const struct visit *v)
{
    for (int c = 0; c < CLIENTS; c++)
        steps_of_client(v, c);
    steps_of_tool(v);
    steps_of_masters(v);
}

void model_begin(const struct visit *v)
{
    struct world world = {.restarts = v->rules->restarts};
    int last = v->rules->masters - 1;
    for (int i = 0; i <= last; i++)
        world.master[i].lists = (i < last) | 2 | (i > 0) << 2;
    v->visit(v->visitor, NULL, &world);
}
