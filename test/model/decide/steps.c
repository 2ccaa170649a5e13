/*
 * The steps of the world.  A tool may stop or end at any moment, as may the lease of its try.
 */
#include "world.h"

static void take(const struct visit *v, enum act act, int t, int i, const struct world *next)
{
    struct step step = {act, t, i, two_are_followed(v->rules, next) ? TWO_FOLLOWED : FINE};
    v->visit(v->visitor, &step, next);
}

static void lease_steps(const struct visit *v, int t, int i)
{
    struct world next = *v->now;
    if (!v->now->master[i].owner && !v->now->try[t].fence) {
        next.master[i].owner = t + 1;
        take(v, TAKE, t, i, &next);
    }
    next = *v->now;
    if (master_is_of(v->now, i, t)) {
        next.master[i].owner = 0;
        take(v, GIVE_UP, t, i, &next);
    }
}

static void work_steps(const struct visit *v, int t, int i)
{
    const struct try *try = &v->now->try[t];
    bool is_ours = master_is_of(v->now, i, t);
    struct world next = *v->now;
    if (try->fence && !try->writes && (is_ours || broken(v->rules, READ_UNOWNED))) {
        tool_read(v->rules, &next, t, i);
        take(v, READ, t, i, &next);
    }
    next = *v->now;
    if (try->writes && (is_ours || broken(v->rules, WRITTEN_UNOWNED))) {
        master_write(&next, i, t);
        take(v, WRITE, t, i, &next);
    }
}

static void steps_of_try(const struct visit *v, int t)
{
    struct world next = *v->now;
    for (int i = 0; i < v->rules->masters; i++) {
        lease_steps(v, t, i);
        work_steps(v, t, i);
    }
    if (tool_may_win(v->rules, v->now, t)) {
        tool_win(&next, t);
        take(v, WIN, t, 0, &next);
    }
    next = *v->now;
    if (tool_may_decide(v->rules, v->now, t)) {
        tool_decide(v->rules, &next, t);
        take(v, DECIDE, t, 0, &next);
    }
}

void model_steps(const struct visit *v)
{
    for (int t = 0; t < v->rules->tries; t++)
        steps_of_try(v, t);
    for (int i = 0; i < v->rules->masters && v->now->restarts; i++) {
        struct world next = *v->now;
        next.restarts--;
        master_restart(&next, i);
        take(v, RESTART, 0, i, &next);
    }
}

void model_begin(const struct visit *v)
{
    struct world world = {.restarts = v->rules->restarts};
    for (int i = 0; i < v->rules->masters; i++)
        world.master[i].knows = v->rules->question != FOUNDED;
    v->visit(v->visitor, NULL, &world);
}
