/*
 * The numbers, by brute force.  Of two lists some masters are common.  Liars among them may have
 * told other run_ids to clients of one list than to those of the other, and so look like two
 * servers.  Lists that may meet must not be refused.
 */
#include "world.h"

static int spare_of_both(const struct numbers *n)
{
    return least(n->spare_a, n->spare_b);
}

static int quorums(const struct numbers *n)
{
    return quorum_of(n->a, n->spare_a) + quorum_of(n->b, n->spare_b);
}

/* SPARE R8: two quorums share more than the spare votes, by as many masters as there are. */
static bool may_meet(const struct numbers *n)
{
    return quorums(n) >= n->a + n->b - n->common + 1 + spare_of_both(n);
}

/* As the client of list A reckons it. */
static bool is_unsafe(const struct rules *rules, const struct numbers *n)
{
    int spare = broken(rules, SPARE_OF_ONE) ? n->spare_a : spare_of_both(n);
    int lies = broken(rules, LIES_UNCOUNTED) ? 0 : n->spare_a;
    int together = n->a + n->b - (n->common - n->lied) - lies;
    return quorums(n) < most(together, most(n->a, n->b)) + 1 + spare;
}

static enum wrong judged(const struct rules *rules, const struct numbers *n)
{
    return is_unsafe(rules, n) && may_meet(n) ? IS_REFUSED : FINE;
}

void lists_steps(const struct visit *v)
{
    struct world next = *v->now;
    struct step step = {.act = JUDGE, .wrong = judged(v->rules, &v->now->numbers)};
    v->visit(v->visitor, &step, &next);
}

static void begin_with(const struct visit *v, const struct numbers *numbers)
{
    struct world world = {.numbers = *numbers};
    struct numbers *n = &world.numbers;
    for (n->common = 1; n->common <= least(n->a, n->b); n->common++)
        for (n->lied = 0; n->lied <= least(spare_of_both(n), n->common); n->lied++)
            v->visit(v->visitor, NULL, &world);
}

static bool is_list(int masters, int spare)
{
    return quorum_of(masters, spare) <= masters - (spare > 0);
}

void lists_begin(const struct visit *v)
{
    struct numbers n = {0};
    for (n.a = 1; n.a <= LONGEST_LIST; n.a++)
        for (n.b = 1; n.b <= LONGEST_LIST; n.b++)
            for (n.spare_a = 0; n.spare_a <= MOST_SPARE; n.spare_a++)
                for (n.spare_b = 0; n.spare_b <= MOST_SPARE; n.spare_b++)
                    if (is_list(n.a, n.spare_a) && is_list(n.b, n.spare_b))
                        begin_with(v, &n);
}
