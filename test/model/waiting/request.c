/*
 * The fate of a refresh or a release at each master.  A prompt one is carried out, answered and
 * heard at once, with the push to a waiter that is given the name; all others count as late.
 *
 * In rounds, all masters are asked in one step, and a release that is not carried out in it
 * is late as well.  Otherwise each master is asked in a step of its own, and releases are on
 * their way for as long as they like.  With fences only the first waiter's requests are late.
 */
#include "world.h"

static bool within_clocks(const struct visit *v, const struct world *next)
{
    for (int i = 0; i < v->rules->masters; i++)
        if (next->master[i].clock > v->rules->clocks)
            return false;
    return true;
}

void take(const struct visit *v, struct step step, const struct world *next)
{
    bool counts = v->rules->question == ORDER || v->rules->question == FENCES;
    step.wrong = next->wrong;
    if (!counts || within_clocks(v, next))
        v->visit(v->visitor, &step, next);
}

bool be_late(struct world *next)
{
    if (!next->late)
        return false;
    next->late -= next->late != ANY_NUMBER;
    return true;
}

static bool is_release(enum act act)
{
    return act == YIELD || act == GIVE_UP || act == RELEASE || act == CARRY_OUT_RELEASE ||
           act == HOLDER_RELEASES || act == CARRY_OUT_HOLDERS_RELEASE;
}

static bool is_holders(enum act act)
{
    return act == HOLDER_RELEASES || act == CARRY_OUT_HOLDERS_RELEASE;
}

/* Whether there is anything to be sent to the master, or to be carried out by it.  All are
 * asked, though the first may have given enough: masters are alike. */
static bool is_wanted(const struct visit *v, const struct step *step, const struct world *world,
                      int i)
{
    const struct link *link = &world->master[i].link[step->waiter];
    if (is_holders(step->act))
        return world->master[i].giving;
    if (is_release(step->act))
        return link->giving;
    if (step->act == CARRY_OUT || step->act == ASK_FIRST)
        return link->way == ASKED;
    return client_may_ask(v->rules, v->now, step->waiter, i);
}

/* Whether the fate is possible; messages that are late by it are then counted. */
static bool is_allowed(const struct visit *v, const struct step *step, struct world *world,
                       enum fates fate)
{
    bool alone = step->master >= 0;
    if (fate == PROMPT)
        return true;
    if (v->rules->question == FENCES && (step->waiter > 0 || is_release(step->act)))
        return false;
    if (is_release(step->act)) {
        bool is_free = fate == REQUEST_LATE && !v->rules->rounds;
        return fate != LOST && fate != ANSWER_LATE && fate != BOTH_LATE &&
               !(alone && fate == REQUEST_LATE) && (is_free || be_late(world));
    }
    if (step->act != EXCHANGE && (fate == REQUEST_LATE || fate == LOST))
        return false;
    if (step->act == ASK_FIRST && fate != PUSH_LATE)
        return false;
    if (fate == LOST && alone)
        return false;
    return be_late(world) && (fate != BOTH_LATE || be_late(world));
}

static int carry_out(const struct visit *v, const struct step *step, struct world *next, int i)
{
    int w = step->waiter;
    if (is_holders(step->act))
        return master_holders_release(v->rules, next, i);
    if (is_release(step->act))
        return master_release(v->rules, next, w, i);
    if (step->act == ASK_FIRST)
        return master_grant(v->rules, next, w, i);
    return master_queue(v->rules, next, w, i);
}

/* Whether that fate is another one than being prompt. */
static bool request(const struct visit *v, struct step *step, struct world *next, int i,
                    enum fates fate)
{
    struct link *link = &next->master[i].link[step->waiter];
    bool push_is_late = fate == PUSH_LATE || fate == BOTH_LATE;
    if (fate == LOST)
        return true;
    if (step->act == EXCHANGE)
        link->left = v->rules->life;
    if (fate == REQUEST_LATE) {
        if (!is_release(step->act))
            link->way = ASKED;
        return true;
    }
    int pushed = step->of[i].pushed = carry_out(v, step, next, i);
    if (fate != ANSWER_LATE && fate != BOTH_LATE && !is_release(step->act))
        client_hear(v->rules, next, step->waiter, i);
    if (!pushed || !client_takes_push(v->rules, next, pushed - 1, i))
        return !push_is_late;
    if (!push_is_late)
        client_hear_push(v->rules, next, pushed - 1, i);
    return true;
}

static void request_from(const struct visit *v, struct step step, const struct world *world, int i)
{
    if (i == v->rules->masters) {
        take(v, step, world);
        return;
    }
    if ((step.master >= 0 && i != step.master) || !is_wanted(v, &step, world, i)) {
        request_from(v, step, world, i + 1);
        return;
    }
    for (enum fates fate = LOST; fate <= PROMPT; fate++) {
        struct world next = *world;
        struct step as = step;
        as.of[i].fate = fate;
        as.honest =
            step.honest && (fate == PROMPT || (is_release(step.act) && fate == REQUEST_LATE));
        if (is_allowed(v, &step, &next, fate) && request(v, &as, &next, i, fate))
            request_from(v, as, &next, i + 1);
    }
}

void request_each(const struct visit *v, struct step step, const struct world *world)
{
    if (step.master < 0 || is_wanted(v, &step, world, step.master))
        request_from(v, step, world, 0);
}
