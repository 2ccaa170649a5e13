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

/* The master's number is another one: what was noted before is refused. */
static void note_change(const struct rules *rules, struct master *master)
{
    master->seen = false;
    master->pending &= broken(rules, UNCOMPARED);
}

static void end_on(const struct rules *rules, struct master *master, uint8_t *end, int list)
{
    if (*end && !broken(rules, LAST_END_STAYS))
        return;
    if (*end != list)
        note_change(rules, master);
    *end = list;
}

/* The tool hears the answer, if the request is its own. */
static void end_a(const struct visit *v, int i, int list)
{
    struct world next = *v->now;
    struct master *master = &next.master[i];
    end_on(v->rules, master, &master->next_of_a, list);
    if ((master->next_of_a == LIST_B || broken(v->rules, ANY_END_OF_A)) &&
        (!master->says_a || broken(v->rules, SAID_UNHEEDED)) && looks_back(v->rules, &next)) {
        master->told_a = true;
        master->told_a_after_b |= master->told_b;
    }
    take(v, (struct step){END_A, i, list, FINE}, &next);
}

static void end_b(const struct visit *v, int i, int list)
{
    struct world next = *v->now;
    struct master *master = &next.master[i];
    end_on(v->rules, master, &master->next_of_b, list);
    if (master->next_of_b == LIST_C || broken(v->rules, ANY_END_OF_B))
        master->told_b = true;
    take(v, (struct step){END_B, i, list, FINE}, &next);
}

/* A request about the end for B has the number that the master has now.  One about the end for D
 * comes from an undo that has looked at D alone. */
static void take_back_a(const struct visit *v, int i)
{
    struct world next = *v->now;
    struct master *master = &next.master[i];
    if (!master->next_of_a || (master->next_of_a == LIST_B && !master->pending))
        return;
    master->next_of_a = 0;
    note_change(v->rules, master);
    take(v, (struct step){TAKE_BACK_A, i, 0, FINE}, &next);
}

static void take_back_b(const struct visit *v, int i)
{
    struct world next = *v->now;
    uint8_t *end = &next.master[i].next_of_b;
    if (!*end || (*end == LIST_C && !broken(v->rules, MIDDLE_TAKEN_BACK)))
        return;
    *end = 0;
    note_change(v->rules, &next.master[i]);
    take(v, (struct step){TAKE_BACK_B, i, 0, FINE}, &next);
}

static void say_a(const struct visit *v, int i, bool says)
{
    struct world next = *v->now;
    if (next.master[i].says_a == says || (says && next.master[i].next_of_a))
        return;
    next.master[i].says_a = says;
    take(v, (struct step){says ? SAY_A : UNSAY_A, i, 0, FINE}, &next);
}

/* ---- the undo, or a change that goes back to A ----------------------------------------------- */

static bool has_seen_any(const struct visit *v)
{
    bool any = false;
    for (int i = 0; i < masters_of(v->rules); i++)
        any |= v->now->master[i].seen;
    return any;
}

static bool has_heard_any(const struct visit *v)
{
    bool any = false;
    for (int i = 0; i < masters_of(v->rules); i++)
        any |= v->now->master[i].heard && !v->now->master[i].lies;
    return any;
}

static void look_at_a(const struct visit *v, int i)
{
    struct world next = *v->now;
    if (next.master[i].next_of_a != LIST_B || next.master[i].seen)
        return;
    if (has_heard_any(v) && !broken(v->rules, B_LOOKED_AT_FIRST))
        return;
    next.master[i].seen = true;
    take(v, (struct step){LOOK_A, i, 0, FINE}, &next);
}

static void look_at_b(const struct visit *v, int i)
{
    struct world next = *v->now;
    struct master *master = &next.master[i];
    if (master->heard || has_seen_any(v) == broken(v->rules, B_LOOKED_AT_FIRST))
        return;
    master->heard = master->next_of_b && master->next_of_b != LIST_A ? HEARD_TAKEN : HEARD_FREE;
    take(v, (struct step){LOOK_B, i, 0, FINE}, &next);
}

static bool has_decided(const struct rules *rules, const struct world *world)
{
    int free = 0, taken = 0, masters = rules->both + rules->later;
    for (int i = 0; i < masters_of(rules); i++) {
        free += world->master[i].heard == HEARD_FREE;
        taken += world->master[i].heard == HEARD_TAKEN;
    }
    return broken(rules, FREE_UNCOUNTED) ||
           (free > masters - quorum_of(rules, masters) + spare_of(rules) &&
            taken <= spare_of(rules));
}

/* A master of A alone cannot tell that B is over, and so is none of those that keep A over. */
static bool is_asked(const struct rules *rules, const struct master *master)
{
    return master->heard == HEARD_FREE || !master->in_b ||
           broken(rules, master->heard ? SENT_TO_TAKEN : SENT_TO_UNHEARD);
}

/* It forgets the looks.  Its requests stay under way. */
static void look_anew(const struct visit *v, bool sends)
{
    struct world next = *v->now;
    for (int i = 0; i < masters_of(v->rules); i++) {
        struct master *master = &next.master[i];
        master->pending |= sends && master->seen && is_asked(v->rules, master);
        master->seen = false;
        master->heard = master->lies && master->in_b ? HEARD_FREE : UNHEARD;
    }
    take(v, (struct step){sends ? SEND : ANEW, 0, 0, FINE}, &next);
}

static void steps_of_undo(const struct visit *v)
{
    if (has_seen_any(v) || has_heard_any(v))
        look_anew(v, false);
    if (has_seen_any(v) && has_decided(v->rules, v->now))
        look_anew(v, true);
}

static void steps_of_a(const struct visit *v, int i)
{
    end_a(v, i, LIST_B);
    if (v->rules->others)
        end_a(v, i, LIST_D);
    look_at_a(v, i);
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
    look_at_b(v, i);
    take_back_b(v, i);
}

/* The tool need not wait: it would hear no less later. */
static bool use_c(const struct visit *v)
{
    struct world next = *v->now;
    if (next.c_is_used || !may_use_c(v->rules, &next))
        return false;
    next.c_is_used = true;
    take(v, (struct step){USE_C, 0, 0, FINE}, &next);
    return true;
}

void model_steps(const struct visit *v)
{
    if (use_c(v))
        return;
    for (int i = 0; i < masters_of(v->rules); i++) {
        if (v->now->master[i].in_a && !v->now->master[i].lies)
            steps_of_a(v, i);
        if (v->now->master[i].in_b && !v->now->master[i].lies)
            steps_of_b(v, i);
    }
    steps_of_undo(v);
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
        master->heard = master->told_b ? HEARD_FREE : UNHEARD;
    }
    v->visit(v->visitor, NULL, &world);
}

void model_begin(const struct visit *v)
{
    for (int liar = 0; liar + v->rules->spare <= masters_of(v->rules); liar++)
        begin_with(v, liar);
}
