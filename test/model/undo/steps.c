/*
 * Tools may have decided a request long ago.  So any of them reaches any master at any moment.
 */
#include "world.h"

/* ---- quorums -------------------------------------------------------------------------------- */

static int masters_of(const struct rules *rules)
{
    return rules->both + rules->former + rules->later;
}

static int spare_of(const struct rules *rules)
{
    return broken(rules, LIES_UNCOUNTED) ? 0 : rules->spare;
}

static int quorum_of(const struct rules *rules, int masters)
{
    return (masters + spare_of(rules)) / 2 + 1;
}

static int masters_of_a(const struct rules *rules)
{
    return rules->both + rules->former;
}

static int quorum_of_a(const struct rules *rules)
{
    return quorum_of(rules, masters_of_a(rules));
}

static int enough_of_a(const struct rules *rules)
{
    int each = masters_of_a(rules) - quorum_of_a(rules) + 1 + spare_of(rules);
    return broken(rules, BOTH_BY_ONE_LESS) ? each - 1 : each;
}

static int enough_of_b(const struct rules *rules)
{
    int masters = rules->both + rules->later, quorum = quorum_of(rules, masters);
    return broken(rules, ENOUGH_OF_HALF) ? masters - quorum + 1 : quorum;
}

/* ---- the tool ------------------------------------------------------------------------------ */

/* B first: the master keeps the end of A from then on. */
static bool has_told_both(const struct rules *rules, const struct master *master)
{
    return broken(rules, LOOKED_BACK_BEFORE) ? master->told_a && master->told_b
                                             : master->told_a_after_b;
}

static bool counts_for_a(const struct rules *rules, const struct master *master)
{
    return broken(rules, LOOKED_BACK_APART) ? master->told_a : has_told_both(rules, master);
}

static bool may_use_c(const struct rules *rules, const struct world *world)
{
    int of_a = 0, of_b = 0;
    for (int i = 0; i < masters_of(rules); i++) {
        of_a += counts_for_a(rules, &world->master[i]);
        of_b += world->master[i].told_b;
    }
    return of_b >= enough_of_b(rules) &&
           (broken(rules, NO_LOOK_BACK) || of_a >= enough_of_a(rules));
}

static bool looks_back(const struct rules *rules, const struct world *world)
{
    int of_b = 0;
    for (int i = 0; i < masters_of(rules); i++)
        of_b += world->master[i].told_b;
    return of_b >= enough_of_b(rules) || broken(rules, LOOKED_BACK_BEFORE);
}

/* ---- masters -------------------------------------------------------------------------------- */

static bool are_both_used(const struct rules *rules, const struct world *world)
{
    int sayers = 0;
    for (int i = 0; i < masters_of(rules); i++)
        sayers += world->master[i].says_a;
    return world->c_is_used && sayers >= quorum_of_a(rules);
}

static void take(const struct visit *v, struct step step, const struct world *next)
{
    step.wrong = are_both_used(v->rules, next) ? BOTH_USED : FINE;
    v->visit(v->visitor, &step, next);
}

static void end_on(const struct rules *rules, uint8_t *end, int list)
{
    if (!*end || broken(rules, LAST_END_STAYS))
        *end = list;
}

/* The tool hears the answer, if the request is its own. */
static void end_a(const struct visit *v, int i, int list)
{
    struct world next = *v->now;
    struct master *master = &next.master[i];
    end_on(v->rules, &master->next_of_a, list);
    if ((master->next_of_a == LIST_B || broken(v->rules, ANY_END_OF_A)) &&
        (!master->says_a || broken(v->rules, SAID_UNHEEDED)) && looks_back(v->rules, &next)) {
        master->told_a = true;
        master->told_a_after_b |= master->told_b;
    }
    take(v, (struct step){END_A, i, list, list == LIST_B, FINE}, &next);
}

static void end_b(const struct visit *v, int i, int list)
{
    struct world next = *v->now;
    struct master *master = &next.master[i];
    end_on(v->rules, &master->next_of_b, list);
    if (master->next_of_b == LIST_C || broken(v->rules, ANY_END_OF_B))
        master->told_b = true;
    take(v, (struct step){END_B, i, list, list != LIST_D, FINE}, &next);
}

static bool is_kept(const struct rules *rules, const struct master *master)
{
    if (broken(rules, CHAIN_TAKEN_BACK) || master->next_of_a != LIST_B || !master->next_of_b)
        return false;
    return master->next_of_b != LIST_A || broken(rules, UNDO_REFUSED);
}

static void take_back_a(const struct visit *v, int i)
{
    struct world next = *v->now;
    if (!next.master[i].next_of_a || is_kept(v->rules, &next.master[i]))
        return;
    next.master[i].next_of_a = 0;
    take(v, (struct step){TAKE_BACK_A, i, 0, true, FINE}, &next);
}

static void take_back_b(const struct visit *v, int i)
{
    struct world next = *v->now;
    uint8_t *end = &next.master[i].next_of_b;
    if (!*end || (*end == LIST_C && !broken(v->rules, MIDDLE_TAKEN_BACK)))
        return;
    *end = 0;
    take(v, (struct step){TAKE_BACK_B, i, 0, false, FINE}, &next);
}

static void say_a(const struct visit *v, int i, bool says)
{
    struct world next = *v->now;
    if (next.master[i].says_a == says || (says && next.master[i].next_of_a))
        return;
    next.master[i].says_a = says;
    take(v, (struct step){says ? SAY_A : UNSAY_A, i, 0, !says, FINE}, &next);
}

static void steps_of_a(const struct visit *v, int i)
{
    end_a(v, i, LIST_B);
    if (v->rules->others)
        end_a(v, i, LIST_D);
    take_back_a(v, i);
    say_a(v, i, true);
    say_a(v, i, false);
}

static void steps_of_b(const struct visit *v, int i)
{
    end_b(v, i, LIST_C);
    end_b(v, i, LIST_A);
    if (v->rules->others)
        end_b(v, i, LIST_D);
    take_back_b(v, i);
}

void model_steps(const struct visit *v)
{
    struct world next = *v->now;
    for (int i = 0; i < masters_of(v->rules); i++) {
        if (v->now->master[i].in_a && !v->now->master[i].lies)
            steps_of_a(v, i);
        if (v->now->master[i].in_b && !v->now->master[i].lies)
            steps_of_b(v, i);
    }
    next.c_is_used |= may_use_c(v->rules, &next);
    if (next.c_is_used != v->now->c_is_used)
        take(v, (struct step){USE_C, 0, 0, true, FINE}, &next);
}

/* ---- the beginning, and the end ------------------------------------------------------------- */

/* One that lies has told all, and gives its word to all. */
static void begin_with(const struct visit *v, int liar)
{
    struct world world = {.c_is_used = false};
    for (int i = 0; i < masters_of(v->rules); i++) {
        struct master *master = &world.master[i];
        master->in_a = i < masters_of_a(v->rules);
        master->in_b = i < v->rules->both || !master->in_a;
        master->lies = i >= liar && i < liar + v->rules->spare;
        master->told_a = master->says_a = master->lies && master->in_a;
        master->told_b = master->lies && master->in_b;
        master->told_a_after_b = master->told_a && master->told_b;
    }
    v->visit(v->visitor, NULL, &world);
}

void model_begin(const struct visit *v)
{
    for (int liar = 0; liar + v->rules->spare <= masters_of(v->rules); liar++)
        begin_with(v, liar);
}

/* Those that have ended B for C keep the end of A, and they cannot become enough. Then only tools
 * that take both ends of B back lead on. */
static bool is_split(const struct rules *rules, const struct world *world)
{
    int for_a = 0, for_c = 0;
    for (int i = 0; i < masters_of(rules); i++) {
        for_a += world->master[i].next_of_b == LIST_A;
        for_c += world->master[i].next_of_b == LIST_C;
    }
    return for_c && rules->both + rules->later - for_a < enough_of_b(rules);
}

/* A or C can be used. */
bool model_is_goal(const struct rules *rules, const struct world *world)
{
    int free = 0;
    for (int i = 0; i < masters_of(rules); i++)
        free += world->master[i].in_a && !world->master[i].next_of_a;
    return world->c_is_used || free >= quorum_of_a(rules) || is_split(rules, world);
}
