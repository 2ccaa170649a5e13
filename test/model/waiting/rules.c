/*
 * waiting-model - every order of events among a few masters, waiters and a holder, tried
 * against the rules of waiting and handing over, and against each of them broken.
 *
 * Here are the questions, with the world that is looked at for each.
 */
#include "world.h"

static const struct rules worlds[QUESTIONS] = {
    [BACKING] =
        {.masters = 1, .waiters = 2, .life = 2, .ttl = 2, .restarts = 1, .late = ANY_NUMBER},
    [EXCLUSION] =
        {.masters = 3, .waiters = 2, .life = 2, .ttl = 2, .restarts = 1, .late = 2, .rounds = true},
    [PROGRESS] = {.masters = 3, .waiters = 3, .life = 2, .ttl = 2, .cuts = 2, .rounds = true},
    [ORDER] =
        {.masters = 3, .waiters = 2, .life = 1, .ttl = 1, .late = 1, .clocks = 6, .rounds = true},
    [FENCES] =
        {.masters = 3, .waiters = 2, .life = 2, .ttl = 2, .late = 3, .clocks = 5, .rounds = true},
};

/* A waiter that keeps a minority blocks others where the rest is no quorum. */
static const struct change changes[] = {
    {NO_YIELD, {WITH(waiters, 2), WITH(down, 1), WITH(cuts, 0), WITH(rounds, 0)}},
    {MINORITY_KEPT_WHEN_CUT, {WITH(waiters, 2), WITH(down, 1), WITH(cuts, 1)}},
};

static struct model model_of(const struct rules *rules)
{
    return MODEL(rules, rules->question == PROGRESS);
}

static const struct rules_number numbers[] = {
    NUMBER(masters, 1, MASTERS, ""),
    NUMBER(waiters, 1, WAITERS, ""),
    NUMBER(life, 1, 3, " ticks that a place, and a grant to it, lasts"),
    NUMBER(ttl, 1, 7, " ticks, of the holder and of a quarantine"),
    NUMBER(restarts, 0, MASTERS, " masters restart"),
    NUMBER(late, 0, ANY_NUMBER, " messages are late or lost, 7: any number"),
    NUMBER(cuts, 0, 6, " links of waiters to masters are cut"),
    NUMBER(down, 0, MASTERS, " masters that nobody reaches"),
    NUMBER(rounds, 0, 1, ": 1: all masters are asked in one step, 0: one after the other"),
    NUMBER(clocks, 2, HIGHEST_CLOCK - 1, ": no logical clock goes further (order, fences)"),
};

MODEL_MAIN
