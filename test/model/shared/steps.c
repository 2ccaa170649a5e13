/*
 * The steps of the world.  Clients ask, hear, change the mode, give up and release; connections
 * end; masters carry out, are saved and restart; time passes, by one tick.  Of one master alone
 * nobody can say when a quorum is reached, or missed: it may be at any time.
 *
 * A step is honest unless it is the world's fault, or its malice.
 */
#include "world.h"

static struct step step_of(enum act act, int c, int i)
{
    return (struct step){.act = act, .client = c, .master = i, .honest = true};
}

static void ask(const struct visit *v, int c, enum kind kind)
{
    struct step step = step_of(ASK, c, -1);
    step.kind = kind;
    request_round(v, step, v->now);
}

/* ---- connections -------------------------------------------------------------------------- */

static void reconnect(const struct visit *v, int c, int i)
{
    struct world next = *v->now;
    struct link *link = &next.master[i].link[c];
    bool matters = false;
    for (int k = 0; k < FLIGHTS; k++)
        matters |= link->flight[k].kind && link->flight[k].stage != DEAD;
    if (!matters || link->stale || has_queue(v->rules))
        return;
    client_reconnect(link);
    struct step step = step_of(RECONNECT, c, i);
    step.honest = false;
    take(v, step, &next);
}

static void notice(const struct visit *v, int c, int i)
{
    struct world next = *v->now;
    client_notice(&next.master[i].link[c]);
    take(v, step_of(NOTICE, c, i), &next);
}

/* Behind the requests of its connection, and instead of those of former ones: these
 * connections are ended first. */
static void carry_out_release(const struct visit *v, int c, int i)
{
    struct world next = *v->now;
    struct link *link = &next.master[i].link[c];
    for (int k = 0; k < FLIGHTS; k++)
        if (link->flight[k].kind && link->flight[k].stage == SENT && !has_queue(v->rules))
            return;
    master_release(v->rules, &next, c, i);
    take(v, step_of(CARRY_OUT_RELEASE, c, i), &next);
}

static void steps_at(const struct visit *v, int c, int i)
{
    const struct link *link = &v->now->master[i].link[c];
    request_carry_out(v, c, i);
    request_hear(v, c, i);
    reconnect(v, c, i);
    if (link->stale)
        notice(v, c, i);
    if (link->giving)
        carry_out_release(v, c, i);
}

/* ---- the first round: its ticket ------------------------------------------------------------ */

static uint8_t who_stand_on_quorum(const struct visit *v)
{
    uint8_t who = 0;
    for (int c = 0; c < v->rules->clients; c++) {
        int stands = 0;
        for (int i = 0; i < v->rules->masters; i++) {
            const struct master *master = &v->now->master[i];
            bool has = data_has(v->rules, &master->data, TOKEN + c);
            stands += (master->queue & 1 << c) || has;
        }
        if (v->now->client[c].phase == WAITING && stands >= quorum(v->rules))
            who |= 1 << c;
    }
    return who;
}

static void ask_first(const struct visit *v, int c)
{
    struct world next = *v->now;
    struct step step = step_of(ASK, c, -1);
    step.kind = TAKE;
    next.client[c].phase = TRYING;
    next.client[c].after = who_stand_on_quorum(v);
    request_round(v, step, &next);
}

static void take_ticket(const struct visit *v, int c, int heard)
{
    struct world next = *v->now;
    int ticket = client_ticket(v->rules, v->now, c, heard);
    if (!ticket)
        return;
    client_give_back(v->rules, &next, c, WAITING);
    next.client[c].ticket = ticket;
    struct step step = step_of(TAKE_TICKET, c, -1);
    step.heard = heard;
    request_round(v, step, &next);
}

/* ---- steps of a client ------------------------------------------------------------------------
 */

static void give_back(const struct visit *v, int c, enum act act, enum phase then)
{
    struct world next = *v->now;
    struct step step = step_of(act, c, -1);
    step.honest = act != GIVE_UP;
    client_give_back(v->rules, &next, c, then);
    request_round(v, step, &next);
}

static void change(const struct visit *v, int c, enum act act)
{
    struct world next = *v->now;
    if (act == DOWNGRADE || act == BEGIN_UPGRADE) {
        if (!next.changes)
            return;
        next.changes--;
    }
    if (act == DOWNGRADE)
        client_downgrade(v->rules, &next, c);
    else if (act == BEGIN_UPGRADE)
        client_begin_upgrade(v->rules, &next, c);
    else
        client_end_upgrade(v->rules, &next, c, act == END_UPGRADE);
    take(v, step_of(act, c, -1), &next);
}

static void steps_of_holder(const struct visit *v, int c)
{
    const struct client *client = &v->now->client[c];
    ask(v, c, RENEW);
    if (client->phase == UPGRADING) {
        ask(v, c, UPGRADE);
        change(v, c, FAIL_UPGRADE);
        if (is_of_one(v->rules))
            change(v, c, END_UPGRADE);
    } else {
        change(v, c, client->alone ? DOWNGRADE : BEGIN_UPGRADE);
    }
    give_back(v, c, LEAVE, DONE);
}

static void acquire(const struct visit *v, int c)
{
    struct world next = *v->now;
    next.client[c].phase = HOLDING;
    take(v, step_of(ACQUIRE, c, -1), &next);
}

static void steps_of_waiter(const struct visit *v, int c)
{
    if (client_has_to_yield(v->rules, v->now, c))
        give_back(v, c, YIELD, WAITING);
    else
        ask(v, c, QUEUE);
    if (v->rules->question == PROGRESS)
        give_back(v, c, GIVE_UP, DONE);
}

static void steps_of_trying(const struct visit *v, int c)
{
    if (is_of_one(v->rules))
        acquire(v, c);
    if (!has_queue(v->rules))
        give_back(v, c, GIVE_UP, DONE);
    for (int heard = 1; has_queue(v->rules) && heard < 1 << v->rules->masters; heard++)
        take_ticket(v, c, heard);
}

/* Where there is an order, the clients begin one after the other: those that are alike are
 * told apart by that alone. */
static void steps_of_client(const struct visit *v, int c)
{
    enum phase phase = v->now->client[c].phase;
    if (phase == NEW && (v->rules->question != ORDER || !c || v->now->client[c - 1].phase))
        ask_first(v, c);
    if (phase == TRYING)
        steps_of_trying(v, c);
    if (phase == WAITING)
        steps_of_waiter(v, c);
    if (phase == HOLDING || phase == UPGRADING)
        steps_of_holder(v, c);
    for (int i = 0; i < v->rules->masters; i++)
        steps_at(v, c, i);
}

/* ---- steps of masters and of time
 * ----------------------------------------------------------------- */

static void save(const struct visit *v, int i)
{
    struct world next = *v->now;
    for (int j = 0; j < v->rules->masters; j++)
        if (next.master[j].has_saved)
            return;
    next.master[i].saved = next.master[i].data;
    next.master[i].has_saved = true;
    take(v, step_of(SAVE, 0, i), &next);
}

static void restart(const struct visit *v, int i, bool is_empty)
{
    struct world next = *v->now;
    struct step step = step_of(RESTART, 0, i);
    step.is_empty = is_empty;
    step.honest = false;
    next.restarts--;
    master_restart(v->rules, &next, i, is_empty);
    take(v, step, &next);
}

static void steps_of_master(const struct visit *v, int i)
{
    const struct master *master = &v->now->master[i];
    if (!v->now->restarts || master->restarted)
        return;
    save(v, i);
    restart(v, i, true);
    if (master->has_saved)
        restart(v, i, false);
}

static void tick(const struct visit *v)
{
    struct world next = *v->now;
    for (int i = 0; i < v->rules->masters; i++)
        master_tick(v->rules, &next.master[i]);
    client_tick(v->rules, &next);
    take(v, step_of(TICK, 0, -1), &next);
}

void model_steps(const struct visit *v)
{
    for (int c = 0; c < v->rules->clients; c++)
        steps_of_client(v, c);
    for (int i = 0; i < v->rules->masters; i++)
        steps_of_master(v, i);
    if (!has_queue(v->rules))
        tick(v);
}

/* ---- to begin with, and in the end
 * ----------------------------------------------------------------- */

/* With tickets as if there had been a first round, where their order is not asked for. */
void model_begin(const struct visit *v)
{
    const struct rules *rules = v->rules;
    for (int modes = 0; modes < 1 << rules->clients; modes++) {
        struct world world = {
            .late = rules->late, .restarts = rules->restarts, .changes = rules->changes};
        for (int c = 0; c < rules->clients; c++) {
            struct client *client = &world.client[c];
            client->phase = rules->question == PROGRESS ? WAITING : NEW;
            client->ticket = rules->question == PROGRESS ? 1 + c : 0;
            client->wants_alone = client->alone = modes >> c & 1;
        }
        for (int i = 0; i < rules->masters; i++)
            world.master[i].clock = rules->question == ORDER;
        v->visit(v->visitor, NULL, &world);
    }
}

/* Everybody has had the name, or no longer wants it, and all of it has come back. */
bool model_is_goal(const struct rules *rules, const struct world *world)
{
    for (int c = 0; c < rules->clients; c++)
        if (world->client[c].phase != DONE)
            return false;
    for (int i = 0; i < rules->masters; i++)
        if (world->master[i].data.name != FREE)
            return false;
    return true;
}
