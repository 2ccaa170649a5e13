/*
 * The steps of the model.  Waiters ask, get answers and pushes, yield, give up, hold and release;
 * masters carry out, hand over and restart; waiters are cut off; time passes, by one tick.
 *
 * A message may be on its way for any time.  To keep the number of worlds small, most is not: a
 * refresh is sent, carried out and answered in one step, which also hears its push.  Only `late`
 * messages (requests, answers or pushes) may be on their way.  A waiter that hears it later, or
 * never, goes on from there.  A release is on its way for as long as it likes.  A message is lost
 * if no step delivers it.
 *
 * A step is honest unless it is the world's fault, or its malice: those ask whether a waiter
 * can be kept waiting for ever do without the others.
 */
#include "world.h"

/* ---- steps of a waiter at one master -------------------------------------------------- */

static void ask(const struct visit *v, int w, int i)
{
    request_each(v, (struct step){.act = EXCHANGE, .waiter = w, .master = i, .honest = true},
                 v->now);
}

static void hear(const struct visit *v, int w, int i)
{
    struct world next = *v->now;
    client_hear(v->rules, &next, w, i);
    take(v, (struct step){.act = HEAR, .waiter = w, .master = i, .honest = true}, &next);
}

static void hear_push(const struct visit *v, int w, int i)
{
    struct world next = *v->now;
    if (!client_takes_push(v->rules, v->now, w, i))
        return;
    client_hear_push(v->rules, &next, w, i);
    take(v, (struct step){.act = HEAR_PUSH, .waiter = w, .master = i, .honest = true}, &next);
}

static void notice(const struct visit *v, int w, int i)
{
    struct world next = *v->now;
    client_notice(v->rules, &next.master[i].link[w]);
    take(v, (struct step){.act = NOTICE, .waiter = w, .master = i, .honest = true}, &next);
}

static void carry_out_raise(const struct visit *v, int w, int i)
{
    for (int lost = 0; lost <= 1; lost++) {
        struct world next = *v->now;
        struct link *link = &next.master[i].link[w];
        struct step step = {.act = CARRY_OUT_RAISE, .waiter = w, .master = i};
        step.of[i].fate = lost ? ANSWER_LATE : PROMPT;
        bool stored = master_raise(&next, w, i);
        link->raising = false;
        if (lost && !be_late(&next))
            continue;
        if (!lost && stored)
            link->told = next.master[i].clock;
        if (!lost && !stored)
            link->promise = link->backs = 0;
        take(v, step, &next);
    }
}

static void steps_at(const struct visit *v, int w, int i)
{
    const struct link *link = &v->now->master[i].link[w];
    if (!v->rules->rounds)
        ask(v, w, i);
    if (link->way == ASKED)
        request_each(v, (struct step){.act = CARRY_OUT, .waiter = w, .master = i, .honest = true},
                     v->now);
    if (link->way > ASKED)
        hear(v, w, i);
    hear_push(v, w, i);
    if (link->giving)
        request_each(
            v, (struct step){.act = CARRY_OUT_RELEASE, .waiter = w, .master = i, .honest = true},
            v->now);
    if (link->stale && v->now->waiter[w].phase != DONE)
        notice(v, w, i);
    if (link->raising)
        carry_out_raise(v, w, i);
}

/* ---- the first round: its ticket ------------------------------------------------------- */

static uint8_t who_stand_on_quorum(const struct visit *v)
{
    uint8_t who = 0;
    for (int w = 0; w < v->rules->waiters; w++) {
        int enqueued = 0;
        for (int i = 0; i < v->rules->masters; i++)
            enqueued += v->now->master[i].link[w].record || v->now->master[i].owner == TOKEN + w;
        if (v->now->waiter[w].phase == WAITING && enqueued >= quorum(v->rules))
            who |= 1 << w;
    }
    return who;
}

/* All are asked at once; a request that is carried out later, or never, was on its way. */
static void ask_first(const struct visit *v, int w)
{
    struct world next = *v->now;
    if (w && v->now->waiter[w - 1].phase == NEW)
        return;
    next.waiter[w].phase = WAITING;
    next.waiter[w].after = who_stand_on_quorum(v);
    for (int i = 0; i < v->rules->masters; i++)
        next.master[i].link[w].way = next.master[i].link[w].cut ? NOTHING : ASKED;
    take(v, (struct step){.act = SEND, .waiter = w, .master = -1, .honest = true}, &next);
}

static void take_ticket(const struct visit *v, int w, int heard)
{
    struct world next = *v->now;
    int ticket = client_ticket(v->rules, v->now, w, heard);
    if (!ticket)
        return;
    client_give_back(v->rules, &next, w, WAITING);
    next.waiter[w].ticket = ticket;
    take(v, (struct step){.act = TAKE_TICKET, .waiter = w, .heard = heard, .honest = true}, &next);
}

static void steps_of_first_round(const struct visit *v, int w)
{
    for (int i = 0; i < v->rules->masters; i++) {
        if (v->now->master[i].link[w].way == ASKED)
            request_each(v,
                         (struct step){.act = ASK_FIRST, .waiter = w, .master = i, .honest = true},
                         v->now);
        if (v->now->master[i].link[w].giving)
            request_each(
                v,
                (struct step){.act = CARRY_OUT_RELEASE, .waiter = w, .master = i, .honest = true},
                v->now);
    }
    for (int heard = 1; heard < 1 << v->rules->masters; heard++)
        take_ticket(v, w, heard);
}

/* ---- steps of a waiter ------------------------------------------------------------------ */

/* Waiters have other reasons to release and be enqueued anew on all masters: on one master alone
 * that may be at any time; otherwise each time counts as late. */
static bool yields(const struct visit *v, struct world *next, int w)
{
    if (client_has_to_yield(v->rules, v->now, w))
        return true;
    if (v->rules->question != BACKING && v->rules->question != ORDER)
        return false;
    return client_has_anything(v->rules, v->now, w) && be_late(next);
}

static void give_back(const struct visit *v, int w, enum act act, enum phase then)
{
    struct world next = *v->now;
    if (then == WAITING && !yields(v, &next, w))
        return;
    client_give_back(v->rules, &next, w, then);
    request_each(v, (struct step){.act = act, .waiter = w, .master = -1, .honest = act != GIVE_UP},
                 &next);
}

/* Left out where yielding or holding has the same effect. */
static bool may_give_up(const struct visit *v, int w)
{
    enum phase phase = v->now->waiter[w].phase;
    bool matters = v->rules->question == EXCLUSION || v->rules->question == PROGRESS;
    return phase == STORING || (phase == WAITING && matters);
}

static void cut(const struct visit *v, int w, int i)
{
    struct world next = *v->now;
    if (!next.cuts || next.waiter[w].phase != WAITING || next.master[i].link[w].cut)
        return;
    next.cuts--;
    client_cut(&next.master[i].link[w]);
    take(v, (struct step){.act = CUT, .waiter = w, .master = i}, &next);
}

static void fences_of(const struct visit *v, int w)
{
    struct world next = *v->now;
    if (v->now->waiter[w].phase == WAITING &&
        client_promises(v->rules, v->now, w) >= quorum(v->rules)) {
        fenced_fix(v->rules, &next, w);
        take(v, (struct step){.act = FIX_FENCE, .waiter = w}, &next);
    }
    if (fenced_may_tell(v->rules, v->now, w)) {
        next = *v->now;
        fenced_tell(v->rules, &next, w);
        take(v, (struct step){.act = TELL_FENCE, .waiter = w}, &next);
    }
}

static void steps_of_waiter(const struct visit *v, int w)
{
    const struct waiter *waiter = &v->now->waiter[w];
    if (waiter->phase == NEW) {
        ask_first(v, w);
        return;
    }
    if (waiter->phase == WAITING && !waiter->ticket) {
        steps_of_first_round(v, w);
        return;
    }
    if (v->rules->rounds && waiter->phase == WAITING)
        ask(v, w, -1);
    for (int i = 0; i < v->rules->masters; i++)
        steps_at(v, w, i);
    if (waiter->phase == WAITING)
        give_back(v, w, YIELD, WAITING);
    if (may_give_up(v, w))
        give_back(v, w, GIVE_UP, DONE);
    if (waiter->phase == HOLDING)
        give_back(v, w, RELEASE, DONE);
    for (int i = 0; i < v->rules->masters; i++)
        cut(v, w, i);
    if (v->rules->question == FENCES)
        fences_of(v, w);
}

/* ---- steps of the holder, of masters and of time ------------------------------------------ */

static void holder_releases(const struct visit *v)
{
    struct world next = *v->now;
    next.holds = 0;
    for (int i = 0; i < v->rules->masters; i++)
        next.master[i].giving = true;
    request_each(v, (struct step){.act = HOLDER_RELEASES, .master = -1, .honest = true}, &next);
}

/* For questions without time.  No waiter hears of it. */
static void expire(const struct visit *v)
{
    struct world next = *v->now;
    next.holds = 0;
    for (int i = 0; i < v->rules->masters; i++)
        if (next.master[i].owner == HOLDER)
            next.master[i].owner = FREE;
    take(v, (struct step){.act = HOLDERS_KEY_EXPIRES, .honest = true}, &next);
}

static void restart(const struct visit *v, int i)
{
    for (enum snapshot snapshot = EMPTY; snapshot < SNAPSHOTS; snapshot++) {
        struct world next = *v->now;
        next.restarts--;
        master_restart(v->rules, &next, i, snapshot);
        take(v, (struct step){.act = RESTART, .master = i, .snapshot = snapshot}, &next);
    }
}

/* No honest step is left before time passes. */
static bool is_settled_at(const struct visit *v, int w, int i)
{
    const struct master *master = &v->now->master[i];
    const struct link *link = &master->link[w];
    bool is_fresh = link->record == v->rules->life ||
                    (master->owner == TOKEN + w && master->left >= v->rules->life);
    if (link->giving)
        return false;
    if (v->now->waiter[w].phase != WAITING)
        return true;
    return !link->way && !link->stale && !client_takes_push(v->rules, v->now, w, i) &&
           (is_fresh || !client_may_ask(v->rules, v->now, w, i));
}

static bool is_settled(const struct visit *v)
{
    for (int i = 0; i < v->rules->masters; i++) {
        if (v->now->master[i].giving)
            return false;
        for (int w = 0; w < v->rules->waiters; w++)
            if (!is_settled_at(v, w, i))
                return false;
    }
    for (int w = 0; w < v->rules->waiters; w++)
        if (client_has_to_yield(v->rules, v->now, w))
            return false;
    return true;
}

static void tick(const struct visit *v)
{
    struct world next = *v->now;
    for (int i = 0; i < v->rules->masters; i++)
        master_tick(&next.master[i]);
    client_tick(v->rules, &next);
    take(v, (struct step){.act = TICK, .honest = is_settled(v)}, &next);
}

void model_steps(const struct visit *v)
{
    for (int w = 0; w < v->rules->waiters; w++)
        steps_of_waiter(v, w);
    if (v->now->holds)
        holder_releases(v);
    for (int i = 0; i < v->rules->masters; i++) {
        if (v->now->master[i].giving)
            request_each(
                v, (struct step){.act = CARRY_OUT_HOLDERS_RELEASE, .master = i, .honest = true},
                v->now);
        if (v->now->restarts && !v->now->master[i].restarted)
            restart(v, i);
    }
    if (v->rules->question != ORDER)
        tick(v);
    else if (v->now->holds)
        expire(v);
}

/* ---- to begin with, and in the end ----------------------------------------------------------- */

/* The number of masters on which the holder has the name. */
static void begin_with(const struct visit *v, struct world world, int held)
{
    world.holds = held ? v->rules->ttl : 0;
    for (int i = 0; i < held; i++) {
        world.master[i].owner = HOLDER;
        world.master[i].left = v->rules->ttl;
    }
    v->visit(v->visitor, NULL, &world);
}

static void begin_with_clocks(const struct visit *v, struct world world)
{
    const struct rules *rules = v->rules;
    bool counts = rules->question == ORDER || rules->question == FENCES;
    for (int highest = 0; highest <= (counts ? rules->masters : 0); highest++) {
        for (int i = 0; counts && i < rules->masters; i++)
            world.master[i].clock = 1 + (i >= rules->masters - highest);
        begin_with(v, world, 0);
        if (rules->question != FENCES)
            begin_with(v, world, quorum(rules));
        if (rules->question != FENCES && rules->masters > quorum(rules))
            begin_with(v, world, rules->masters);
    }
}

void model_begin(const struct visit *v)
{
    const struct rules *rules = v->rules;
    struct world world = {.late = rules->late, .restarts = rules->restarts, .cuts = rules->cuts};
    for (int w = 0; w < rules->waiters; w++) {
        world.waiter[w].phase = rules->question == ORDER ? NEW : WAITING;
        world.waiter[w].ticket = rules->question == ORDER ? 0 : 1 + w;
        for (int i = 0; i < rules->down; i++)
            world.master[rules->masters - 1 - i].link[w].cut = true;
    }
    begin_with_clocks(v, world);
}

/* Every waiter that is connected to a quorum has had the name, or no longer wants it. */
bool model_is_goal(const struct rules *rules, const struct world *world)
{
    for (int w = 0; w < rules->waiters; w++) {
        int connected = 0;
        for (int i = 0; i < rules->masters; i++)
            connected += !world->master[i].link[w].cut;
        if (connected >= quorum(rules) && world->waiter[w].phase < HOLDING)
            return false;
    }
    return true;
}
