/*
 * All steps but those of leaders.  A question is answered in one step, or its answer comes later.
 * A push comes at once, or later, in order.  An answer and a push may overtake each other, for they
 * come on two connections.  Each of these that is late is counted; only pushes behind one that is
 * late are not.
 *
 * A step is honest unless it is the world's fault, or a leader's wish.
 */
#include "world.h"

struct step step_of(enum act act, int term, int i)
{
    return (struct step){.act = act, .term = term, .master = i, .honest = true};
}

void take(const struct visit *v, struct step step, const struct world *next)
{
    step.wrong = next->wrong;
    v->visit(v->visitor, &step, next);
}

void take_pushed(const struct visit *v, struct step step, const struct world *next, int i)
{
    const struct master *master = &next->master[i];
    const struct view *view = &master->view;
    if (!master->listens || !view->subscribed || view->is_sub_former) {
        take(v, step, next);
        return;
    }
    struct world later = *next;
    if (!view->pushes) {
        struct world world = *next;
        observer_push(v->rules, &world, i, master->record);
        take(v, step, &world);
        if (!later.late)
            return;
        later.late--;
        step.honest = false;
    }
    struct view *to = &later.master[i].view;
    if (to->pushes == PUSHES)
        return;
    to->push[to->pushes++] = master->record;
    step.is_late = true;
    take(v, step, &later);
}

/* ---- masters ---------------------------------------------------------------------------- */

/* The observers do not hear of it. */
static void expire(const struct visit *v, int i)
{
    struct world next = *v->now;
    const struct master *master = &next.master[i];
    struct step step = step_of(EXPIRE, 0, i);
    if (!master->record || master->is_old)
        return;
    bool is_led = next.leader[term_of(master->record)].phase == LEADS;
    step.honest = false;
    if (is_led && !next.late)
        return;
    next.late -= is_led;
    master_change(&next, i, NOTHING, 0);
    next.master[i].has_expired = true;
    take(v, step, &next);
}

static void restart_with(const struct visit *v, int i, uint8_t record, uint8_t name)
{
    struct world next = *v->now;
    struct step step = step_of(RESTART, 0, i);
    step.honest = false;
    step.what = record;
    next.restarts--;
    master_restart(&next, i, record, name);
    take(v, step, &next);
}

/* Its data is lost, or as it was at any time before.  That it has lost the name, or has it for a
 * former owner, matters to progress alone: an owner need not say anything. */
static void restart(const struct visit *v, int i)
{
    const struct master *master = &v->now->master[i];
    if (!v->now->restarts || master->restarted)
        return;
    for (uint8_t record = NOTHING; record < UNSAY; record++) {
        if (record != NOTHING && !(master->history & 1 << record))
            continue;
        restart_with(v, i, record, master->name);
        if (v->rules->question == PROGRESS && master->name != FREE)
            restart_with(v, i, record, FREE);
    }
}

/* All that was said or held before is over then, and so is the observer's knowledge of it.  No
 * answer takes longer than the skew of the clocks, by which a quarantine lasts longer. */
static void end_quarantine(const struct visit *v, int i)
{
    struct world next = *v->now;
    struct master *master = &next.master[i];
    struct view *view = &master->view;
    if (!master->abstains || (view->asked == ANSWERED && view->is_answer_old))
        return;
    if (master->name != FREE && next.leader[master->name - HELD].phase != LEADS &&
        !v->rules->handed)
        master->name = FREE;
    if (master->is_old)
        master_change(&next, i, NOTHING, 0);
    master->abstains = false;
    if (view->is_old)
        observer_expire(v->rules, &next, i);
    observer_work(v->rules, &next);
    take(v, step_of(END_QUARANTINE, 0, i), &next);
}

static void steps_of_master(const struct visit *v, int i)
{
    if (!v->rules->ttl)
        expire(v, i);
    restart(v, i);
    end_quarantine(v, i);
}

/* ---- the observer -------------------------------------------------------------------------- */

static void begin(const struct visit *v)
{
    struct world next = *v->now;
    observer_begin(v->rules, &next);
    take(v, step_of(BEGIN, 0, -1), &next);
}

static void answer(const struct visit *v, int i)
{
    struct world next = *v->now;
    struct view *view = &next.master[i].view;
    if (view->asked != ASKED || view->is_former)
        return;
    next.master[i].listens = true;
    view->answer = next.master[i].record;
    view->is_answer_old = next.master[i].is_old;
    view->asked = ANSWERED;
    if (next.late) {
        struct world later = next;
        struct step step = step_of(ANSWER_LATE, 0, i);
        step.honest = false;
        later.late--;
        take(v, step, &later);
    }
    observer_hear(v->rules, &next, i);
    take(v, step_of(ANSWER, 0, i), &next);
}

static void hear(const struct visit *v, int i)
{
    struct world next = *v->now;
    if (next.master[i].view.asked != ANSWERED)
        return;
    observer_hear(v->rules, &next, i);
    take(v, step_of(HEAR, 0, i), &next);
}

static void hear_push(const struct visit *v, int i)
{
    struct world next = *v->now;
    struct view *view = &next.master[i].view;
    uint8_t said = view->push[0];
    if (!view->pushes--)
        return;
    for (int k = 1; k < PUSHES; k++)
        view->push[k - 1] = view->push[k];
    view->push[PUSHES - 1] = NOTHING;
    observer_push(v->rules, &next, i, said);
    take(v, step_of(HEAR_PUSH, 0, i), &next);
}

/* While the master says so: it has said so again since. */
static void forget(const struct visit *v, int i)
{
    struct world next = *v->now;
    const struct master *master = &next.master[i];
    struct step step = step_of(FORGET, 0, i);
    bool is_said = master->view.heard == master->record;
    step.honest = master->has_expired;
    if (master->view.heard == NOTHING || master->view.heard == UNKNOWN ||
        broken(v->rules, EXPIRED_KEPT) || (is_said && !next.looks))
        return;
    next.looks -= is_said;
    observer_expire(v->rules, &next, i);
    take(v, step, &next);
}

static void look(const struct visit *v, int i)
{
    struct world next = *v->now;
    struct step step = step_of(LOOK, 0, i);
    if (!next.looks || next.master[i].view.asked || !next.master[i].view.is_up)
        return;
    next.looks--;
    step.honest = false;
    next.master[i].view.due = true;
    observer_work(v->rules, &next);
    take(v, step, &next);
}

/* ---- its connections ------------------------------------------------------------------------- */

static void come_up(const struct visit *v, struct world *next, int i)
{
    struct view *view = &next->master[i].view;
    view->is_up = true;
    view->is_former = false;
    observer_work(v->rules, next);
    take(v, step_of(COME_UP, 0, i), next);
}

static void drop(const struct visit *v, int i)
{
    struct world next = *v->now;
    struct step step = step_of(DROP, 0, i);
    step.honest = false;
    next.breaks--;
    observer_down(v->rules, &next, i);
    take(v, step, &next);
}

/* That a process is gone is noticed at any time; for how long it is down is left to `breaks`. */
static void steps_of_main(const struct visit *v, int i)
{
    struct world next = *v->now;
    const struct view *view = &next.master[i].view;
    if (view->is_up && v->now->breaks)
        drop(v, i);
    if (view->is_up && !view->is_former)
        return;
    if (view->is_up)
        observer_down(v->rules, &next, i);
    come_up(v, &next, i);
}

static void end_subscription(struct view *view)
{
    view->subscribed = view->is_sub_former = false;
    for (int k = 0; k < PUSHES; k++)
        view->push[k] = NOTHING;
    view->pushes = 0;
}

static void unsubscribe(const struct visit *v, int i)
{
    struct world next = *v->now;
    struct step step = step_of(UNSUBSCRIBE, 0, i);
    step.honest = false;
    next.breaks--;
    end_subscription(&next.master[i].view);
    take(v, step, &next);
}

static void steps_of_subscription(const struct visit *v, int i)
{
    struct world next = *v->now;
    struct view *view = &next.master[i].view;
    if (view->subscribed && v->now->breaks)
        unsubscribe(v, i);
    if (!view->is_up || (view->subscribed && !view->is_sub_former))
        return;
    end_subscription(view);
    view->subscribed = true;
    observer_subscribed(v->rules, &next, i);
    take(v, step_of(SUBSCRIBE, 0, i), &next);
}

static void steps_of_observer(const struct visit *v, int i)
{
    answer(v, i);
    hear(v, i);
    hear_push(v, i);
    forget(v, i);
    look(v, i);
    steps_of_main(v, i);
    steps_of_subscription(v, i);
}

/* ---- time --------------------------------------------------------------------------------------
 */

/* The validity of a lease ends with its ticks.  Its key here may outlive that by a ttl, for a
 * renewal that was not answered; and what comes last is said for as long again. */
static void pass_tick(const struct rules *rules, struct world *world, int term)
{
    struct leader *leader = &world->leader[term];
    uint8_t most = 2 * rules->ttl + 1;
    if (leader->phase == LEADS && --leader->ticks == 0)
        leader->phase = LOST;
    else if (leader->phase == LOST || leader->phase == GONE)
        leader->ticks += leader->ticks < most;
    uint8_t record = world->master[0].record;
    if (record && term_of(record) == term && leader->phase != LEADS && leader->ticks == most)
        world->wrong = STAYS;
}

static void tick(const struct visit *v)
{
    struct world next = *v->now;
    master_tick(&next.master[0]);
    for (int term = 0; term < TERMS; term++)
        pass_tick(v->rules, &next, term);
    take(v, step_of(TICK, 0, -1), &next);
}

/* ---- what a model has to do
 * ------------------------------------------------------------------------ */

void model_steps(const struct visit *v)
{
    steps_of_leaders(v);
    for (int i = 0; i < v->rules->masters; i++) {
        steps_of_master(v, i);
        if (v->now->observer.begun)
            steps_of_observer(v, i);
    }
    if (v->rules->ttl)
        tick(v);
    else if (!v->now->observer.begun)
        begin(v);
}

/* The first one leads, on all masters; and again where one master is somebody else's. */
void model_begin(const struct visit *v)
{
    const struct rules *rules = v->rules;
    struct world world = {.late = rules->late,
                          .breaks = rules->breaks,
                          .looks = rules->looks,
                          .restarts = rules->restarts,
                          .leader[0] = {.phase = LEADS, .ticks = rules->ttl}};
    for (int i = 0; i < rules->masters; i++)
        world.master[i] =
            (struct master){.name = HELD, .name_left = rules->ttl, .view.heard = UNKNOWN};
    v->visit(v->visitor, NULL, &world);
    if (rules->question != PROGRESS)
        return;
    world.master[0].name = FREE;
    v->visit(v->visitor, NULL, &world);
}

/* The observer hears what stands. */
bool model_is_goal(const struct rules *rules, const struct world *world)
{
    const struct observer *observer = &world->observer;
    for (uint8_t saying = FIRST; saying < UNSAY; saying++) {
        int says = 0;
        for (int i = 0; i < rules->masters; i++)
            says += world->master[i].record == saying && !world->master[i].abstains;
        if (says >= quorum(rules))
            return observer->state == SAID && observer->latest == saying;
    }
    return observer->state == NOBODY;
}
