/*
 * fence-model - every order of events among a few masters and a few attempts, tried against the
 * fence rule and against the rule broken in one place.
 *
 * Here are the questions, with the world that is looked at for each.
 */
#include "world.h"

static const struct rules worlds[QUESTIONS] = {
    [FREE] = {.masters = 3, .attempts = 2, .restarts = 1},
    [LEASED] = {.masters = 3, .attempts = 2, .restarts = 1},
    [FREE_LIAR] = {.masters = 4, .spare = 1, .attempts = 2, .restarts = 1},
    [LEASED_LIAR] = {.masters = 4, .spare = 1, .attempts = 2, .restarts = 1},
};

static const struct change changes[] = {
    {QUORUM_WITHOUT_SPARE, {WITH(masters, 5)}},
};

static struct model model_of(const struct rules *rules)
{
    return (struct model){SEARCHED(rules)};
}

static const struct rules_number numbers[] = {
    NUMBER(masters, 3, MASTERS, ""),
    NUMBER(spare, 0, 2, " votes, and as many masters that lie"),
    NUMBER(attempts, 1, MOST_ATTEMPTS, ""),
    NUMBER(restarts, 0, 3, " masters lose their data"),
};

MODEL_MAIN
