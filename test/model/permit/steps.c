/*
 * The steps of the world.  All masters are asked in one step; as many of the requests and releases
 * as `late` allows are on their way for as long as they like, or for ever.  A push is heard in a
 * step of its own, at any time or never; a refresh tells the same.  A hint may be lost.
 *
 * A step is honest unless it is the world's fault, or its malice.  A step is idle if nobody gets,
 * gives up or loses anything by it that he had a quorum of.
 */
#include <string.h>

#include "world.h"

static bool may_do_more(const struct visit *v, int c)
{
    for (int from = 0; from < v->rules->slots; from++)
        for (int to = 0; to < v->rules->slots; to++)
            if (from != to && client_may_move(v->rules, v->now, c, from, to))
                return true;
    return false;
}

/* A release arrives sooner than anybody refreshes, and so is a hint followed. */
static bool is_under_way(const struct visit *v)
{
    for (int j = 0; j < v->rules->slots; j++)
        for (int i = 0; i < up(v->rules); i++)
            if (v->rules->question == ORDER && v->now->master[i].slot[j].giving)
                return true;
    return false;
}

static bool is_hinted(const struct visit *v, int c)
{
    if (v->rules->question != ORDER || v->now->client[c].ticket != 1)
        return false;
    for (int j = 0; j < v->rules->slots; j++)
        for (int i = 0; i < up(v->rules); i++)
            if ((v->now->master[i].slot[j].hinted & 1 << c) && !(v->now->client[c].stands & 1 << j))
                return true;
    return v->now->client[c].tries;
}

/* Whether the oldest has nothing left to do: it stands where it wants to, on a quorum. */
static bool is_settled(const struct visit *v, int c)
{
    const struct client *client = &v->now->client[c];
    for (int j = 0; j < v->rules->slots; j++) {
        int there = 0;
        for (int i = 0; i < up(v->rules); i++)
            there += v->now->master[i].slot[j].line >> c & 1;
        if ((client->stands & 1 << j) && there < quorum(v->rules))
            return false;
    }
    return client->ticket == 1 && !is_under_way(v) && !is_hinted(v, c) && !may_do_more(v, c);
}

static void take(const struct visit *v, struct step step, const struct world *world)
{
    struct world next = *world;
    client_settle(v->rules, &next);
    for (int c = 0; c < v->rules->clients && next.wrong == PASSED; c++)
        if (v->now->client[c].ticket == 1 &&
            (next.client[c].phase == HOLDING || master_has_slot(v->rules, &next, c) ||
             (!is_settled(v, c) && (step.act != FOLLOW || step.client != c))))
            next.wrong = FINE; /* it gets another in this step, or what it can do is to come */
    client_judge(v->rules, &next);
    step.wrong = next.wrong;
    v->visit(v->visitor, &step, &next);
}

static struct step step_of(enum act act, int c, int i, int j)
{
    bool idle = act == REFRESH || act == MOVE || act == FOLLOW || act == END_TRY || act == YIELD ||
                act == CARRY_OUT || act == CARRY_OUT_RELEASE || act == HEAR;
    return (struct step){
        .act = act, .client = c, .master = i, .slot = j, .honest = true, .idle = idle};
}

/* ---- requests to all masters ------------------------------------------------------------ */

static int late_ones(int late)
{
    return (late & 1) + (late >> 1 & 1) + (late >> 2 & 1);
}

static void carry_out(const struct visit *v, struct world *world, int c, int i, int j)
{
    if (world->client[c].stands & 1 << j)
        master_stand(v->rules, world, c, i, j);
    else
        master_try(v->rules, world, c, i, j);
}

static void ask(const struct visit *v, struct step step, struct world *next, int slots)
{
    for (int j = 0; j < v->rules->slots; j++)
        for (int i = 0; i < up(v->rules) && (slots & 1 << j); i++)
            if (step.late & 1 << i)
                next->master[i].slot[j].asked |= 1 << step.client;
            else
                carry_out(v, next, step.client, i, j);
}

static void pay(const struct visit *v, struct step step, struct world *next)
{
    for (int j = 0; j < v->rules->slots; j++)
        for (int i = 0; i < up(v->rules); i++)
            if ((next->master[i].slot[j].giving & 1 << step.client) && !(step.late & 1 << i))
                master_release(v->rules, next, step.client, i, j, true);
}

/* Releases what it must give back, and then asks for the slots. */
static void round_of(const struct visit *v, struct step step, const struct world *world, int slots)
{
    for (step.late = 0; step.late < 1 << up(v->rules); step.late++) {
        struct world next = *world;
        struct step as = step;
        if (late_ones(step.late) > next.late)
            continue;
        next.late -= late_ones(step.late);
        as.honest = step.honest && !step.late;
        pay(v, as, &next);
        ask(v, as, &next, slots);
        take(v, as, &next);
    }
}

/* ---- steps of a client --------------------------------------------------------------------- */

static void try_first(const struct visit *v, int c, int j)
{
    struct world next = *v->now;
    next.client[c].phase = TRYING;
    next.client[c].tries = 1 << j;
    round_of(v, step_of(TRY, c, -1, j), &next, 1 << j);
}

/* Which line is suggested does not matter: it may be any. */
static void stand(const struct visit *v, int c, int tried)
{
    for (int j = 0; j < v->rules->slots; j++) {
        struct world next = *v->now;
        client_give_back(v->rules, &next, c, tried, false);
        next.client[c].phase = WAITING;
        next.client[c].tries = 0;
        next.client[c].stands = 1 << j;
        client_queue_up(v->rules, &next, c);
        round_of(v, step_of(STAND, c, -1, j), &next, 1 << j);
    }
}

static void refresh(const struct visit *v, int c)
{
    for (int x = 0; x < v->rules->clients; x++)
        if (x != c && is_hinted(v, x))
            return;
    if (is_under_way(v))
        return;
    struct world next = *v->now;
    struct client *client = &next.client[c];
    round_of(v, step_of(REFRESH, c, -1, 0), &next, client->stands);
}

static void move(const struct visit *v, int c, int from, int to)
{
    struct world next = *v->now;
    struct client *client = &next.client[c];
    if (!client_may_move(v->rules, v->now, c, from, to))
        return;
    if (v->rules->style != BOTH || broken(v->rules, ONE_PLACE)) {
        client_give_back(v->rules, &next, c, from, true);
        client->stands &= ~(1 << from);
        client->left |= v->rules->style == AS_WRITTEN ? 0 : 1 << from;
    }
    client->stands |= 1 << to;
    if (broken(v->rules, REBIND_NEW_TICKET)) {
        client_leave_order(v->rules, &next, c);
        client_queue_up(v->rules, &next, c);
    }
    round_of(v, step_of(MOVE, c, from, to), &next, 1 << to);
}

static bool takes_hint(const struct visit *v, struct world *next, int c, int j)
{
    const struct client *client = &next->client[c];
    bool is_hinted = false;
    for (int i = 0; i < up(v->rules); i++) {
        is_hinted |= next->master[i].slot[j].hinted >> c & 1;
        next->master[i].slot[j].hinted &= ~(1 << c);
    }
    return is_hinted && !client->tries && !(client->stands & 1 << j);
}

static void leave_lines(const struct visit *v, struct world *next, int c)
{
    for (int k = 0; k < v->rules->slots; k++)
        client_give_back(v->rules, next, c, k, true);
    next->client[c].stands = 0;
}

/* As written, by a try; else by a place with the old ticket. */
static void follow(const struct visit *v, int c, int j)
{
    struct world next = *v->now;
    struct client *client = &next.client[c];
    bool tries = v->rules->style == AS_WRITTEN || broken(v->rules, HINT_TRIES);
    bool leaves = !tries && v->rules->style != BOTH;
    if (!takes_hint(v, &next, c, j) || (leaves && client_has_anything(v->rules, v->now, c)))
        return;
    if (leaves || broken(v->rules, HINT_LEAVES_EARLY))
        leave_lines(v, &next, c);
    if (tries)
        client->tries = 1 << j;
    else
        client->stands |= 1 << j;
    round_of(v, step_of(FOLLOW, c, -1, j), &next, 1 << j);
}

static void end_try(const struct visit *v, int c, int j)
{
    struct world next = *v->now;
    if (!client_has_failed(v->rules, v->now, c, j))
        return;
    client_give_back(v->rules, &next, c, j, false);
    next.client[c].tries = 0;
    round_of(v, step_of(END_TRY, c, -1, j), &next, 0);
}

static void yield_place(const struct visit *v, int c, int j)
{
    struct world next = *v->now;
    if (!client_has_to_yield(v->rules, v->now, c, j))
        return;
    client_give_back(v->rules, &next, c, j, true);
    round_of(v, step_of(YIELD, c, -1, j), &next, 1 << j);
}

static void release(const struct visit *v, int c)
{
    struct world next = *v->now;
    int j = next.client[c].holds;
    client_give_back(v->rules, &next, c, j, false);
    next.client[c] = (struct client){.phase = DONE};
    round_of(v, step_of(RELEASE, c, -1, j), &next, 0);
}

static void crash(const struct visit *v, int c)
{
    struct world next = *v->now;
    struct step step = step_of(CRASH, c, -1, 0);
    next.crashes--;
    for (int j = 0; j < v->rules->slots; j++) {
        client_give_back(v->rules, &next, c, j, false);
        for (int i = 0; i < up(v->rules); i++)
            next.master[i].slot[j].giving &= ~(1 << c);
    }
    client_leave_order(v->rules, &next, c);
    next.client[c] = (struct client){.phase = DEAD};
    step.honest = false;
    take(v, step, &next);
}

/* Its keys and places expire: nobody hears of it. */
static void expire(const struct visit *v, int c)
{
    struct world next = *v->now;
    for (int i = 0; i < up(v->rules); i++)
        for (int j = 0; j < v->rules->slots; j++) {
            struct slot *slot = &next.master[i].slot[j];
            slot->ghosts &= ~(1 << c);
            if (slot->owner == GIVEN_BACK + c)
                slot->owner = FREE;
        }
    take(v, step_of(EXPIRE, c, -1, 0), &next);
}

static void steps_at(const struct visit *v, int c, int i, int j)
{
    const struct slot *slot = &v->now->master[i].slot[j];
    struct world next = *v->now;
    bool wants = (v->now->client[c].stands | v->now->client[c].tries) & 1 << j;
    if (slot->asked & 1 << c) {
        carry_out(v, &next, c, i, j);
        take(v, step_of(CARRY_OUT, c, i, j), &next);
    }
    if (slot->giving & 1 << c) {
        next = *v->now;
        master_release(v->rules, &next, c, i, j, true);
        take(v, step_of(CARRY_OUT_RELEASE, c, i, j), &next);
        if (next.late) {
            next = *v->now;
            next.late--;
            master_release(v->rules, &next, c, i, j, false);
            struct step step = step_of(CARRY_OUT_RELEASE, c, i, j);
            step.late = 1 << i;
            step.honest = false;
            take(v, step, &next);
        }
    }
    if (slot->owner == TOKEN + c && wants && !(slot->told & 1 << c) &&
        client_counts(v->rules, v->now, i)) {
        next = *v->now;
        next.master[i].slot[j].told |= 1 << c;
        take(v, step_of(HEAR, c, i, j), &next);
    }
}

static void steps_of_waiter(const struct visit *v, int c)
{
    refresh(v, c);
    for (int j = 0; j < v->rules->slots; j++) {
        follow(v, c, j);
        end_try(v, c, j);
        yield_place(v, c, j);
        for (int to = 0; to < v->rules->slots; to++)
            if (to != j)
                move(v, c, j, to);
    }
}

static void come_again(const struct visit *v, int c)
{
    struct world next = *v->now;
    for (int i = 0; i < up(v->rules); i++)
        for (int j = 0; j < v->rules->slots; j++)
            if (next.master[i].slot[j].giving & 1 << c)
                return;
    next.client[c].phase = NEW;
    take(v, step_of(COME_AGAIN, c, -1, 0), &next);
}

static void steps_of_client(const struct visit *v, int c)
{
    enum phase phase = v->now->client[c].phase;
    for (int j = 0; j < v->rules->slots; j++) {
        if (phase == NEW)
            try_first(v, c, j);
        if (phase == TRYING && client_has_failed(v->rules, v->now, c, j))
            stand(v, c, j);
        for (int i = 0; i < up(v->rules); i++)
            steps_at(v, c, i, j);
    }
    if (phase == WAITING)
        steps_of_waiter(v, c);
    if (phase == HOLDING)
        release(v, c);
    if (phase == DONE && v->rules->question == ORDER)
        come_again(v, c);
    if (phase == DEAD)
        expire(v, c);
    if (phase > NEW && phase < DONE && v->now->crashes)
        crash(v, c);
}

/* ---- steps of masters ------------------------------------------------------------------------ */

static void restart(const struct visit *v, int i)
{
    struct world next = *v->now;
    struct step step = step_of(RESTART, 0, i, 0);
    step.honest = false;
    next.restarts--;
    next.master[i].restarted = next.master[i].abstains = true;
    for (int j = 0; j < v->rules->slots; j++) {
        struct slot *slot = &next.master[i].slot[j];
        *slot = (struct slot){.told = slot->told};
    }
    take(v, step, &next);
}

/* The former process's promises are over by then. */
static void end_quarantine(const struct visit *v, int i)
{
    struct world next = *v->now;
    next.master[i].abstains = false;
    for (int j = 0; j < v->rules->slots; j++)
        for (int c = 0; c < v->rules->clients; c++)
            if (next.master[i].slot[j].owner != TOKEN + c)
                next.master[i].slot[j].told &= ~(1 << c);
    for (int c = 0; c < v->rules->clients; c++) {
        struct client *client = &next.client[c];
        if (client->phase != HOLDING ||
            client_told(v->rules, &next, c, client->holds) >= quorum(v->rules))
            continue;
        client_give_back(v->rules, &next, c, client->holds, false);
        *client = (struct client){.phase = DONE};
    }
    take(v, step_of(END_QUARANTINE, 0, i, 0), &next);
}

void model_steps(const struct visit *v)
{
    for (int c = 0; c < v->rules->clients; c++)
        steps_of_client(v, c);
    for (int i = 0; i < up(v->rules); i++) {
        if (v->now->restarts && !v->now->master[i].restarted)
            restart(v, i);
        if (v->now->master[i].abstains)
            end_quarantine(v, i);
    }
}

/* ---- to begin with, and in the end -------------------------------------------------------------
 */

/* Somebody who is no client has the first slots, and never releases them. */
static void hold_for_ever(const struct rules *rules, struct world *world, int slots)
{
    for (int i = 0; i < up(rules) && rules->clients < CLIENTS; i++)
        for (int j = 0; j < slots; j++)
            world->master[i].slot[j].owner = STRANGER;
}

void model_begin(const struct visit *v)
{
    const struct rules *rules = v->rules;
    struct world world = {
        .late = rules->late, .restarts = rules->restarts, .crashes = rules->crashes};
    v->visit(v->visitor, NULL, &world);
    hold_for_ever(rules, &world, 1);
    v->visit(v->visitor, NULL, &world);
    if (rules->question != REST)
        return;
    hold_for_ever(rules, &world, rules->slots);
    v->visit(v->visitor, NULL, &world);
}

/* Everybody has had a permit or is dead, and all of it has come back. */
bool model_is_goal(const struct rules *rules, const struct world *world)
{
    for (int c = 0; c < rules->clients; c++)
        if (world->client[c].phase < DONE)
            return false;
    for (int i = 0; i < up(rules); i++)
        for (int j = 0; j < rules->slots; j++) {
            const struct slot *slot = &world->master[i].slot[j];
            if ((slot->owner != FREE && slot->owner != STRANGER) || slot->ghosts || slot->line)
                return false;
        }
    return true;
}
