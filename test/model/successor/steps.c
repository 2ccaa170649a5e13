/*
 * A command reaches any master at any moment, and may stop after any of them.
 */
#include "world.h"

/* ---- clients --------------------------------------------------------------------------------- */

static int least_tellers(const struct rules *rules)
{
    int spare = broken(rules, LIES_UNCOUNTED) ? 0 : rules->spare;
    int least = (rules->masters + spare) / 2 + 1;
    return broken(rules, FOLLOWED_BY_HALF) ? rules->masters - least + 1 : least;
}

/* Words of several times count together. */
static bool is_followed(const struct rules *rules, const struct world *world, uint8_t list)
{
    uint8_t alike = broken(rules, FOLLOWED_UNLIKE) ? 0xff : list;
    int tellers = 0;
    bool is_told = false;
    for (int i = 0; i < rules->masters; i++) {
        tellers += (world->master[i].told & alike) != 0;
        is_told |= (world->master[i].told & list) != 0;
    }
    return is_told && tellers >= least_tellers(rules);
}

static bool are_two_followed(const struct rules *rules, const struct world *world)
{
    int followed = 0;
    for (int c = 0; c < rules->commands; c++)
        followed += is_followed(rules, world, 1U << c);
    return followed > 1;
}

/* ---- masters --------------------------------------------------------------------------------- */

static void take(const struct visit *v, struct step step, const struct world *next)
{
    step.wrong = are_two_followed(v->rules, next) ? TWO_FOLLOWED : FINE;
    v->visit(v->visitor, &step, next);
}

static void end_on(const struct visit *v, int command, int i)
{
    struct world next = *v->now;
    struct master *master = &next.master[i];
    if (!master->end || broken(v->rules, LAST_END_STAYS))
        master->end = 1U << command;
    master->told |= master->end;
    take(v, (struct step){END, command, i, FINE}, &next);
}

static void lose_on(const struct visit *v, int i)
{
    struct world next = *v->now;
    next.losses--;
    next.master[i].end = 0;
    take(v, (struct step){LOSE, 0, i, FINE}, &next);
}

void model_steps(const struct visit *v)
{
    for (int i = 0; i < v->rules->masters; i++) {
        for (int c = 0; c < v->rules->commands; c++)
            end_on(v, c, i);
        if (v->now->losses && v->now->master[i].end)
            lose_on(v, i);
    }
}

void model_begin(const struct visit *v)
{
    struct world world = {.losses = v->rules->losses + broken(v->rules, LOSSES_UNCOUNTED)};
    for (int i = 0; i < v->rules->spare; i++)
        world.master[i].told = (1U << v->rules->commands) - 1;
    v->visit(v->visitor, NULL, &world);
}
