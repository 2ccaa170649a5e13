/*
 * decide-model - every order of events among a few masters and tools that ask for another list. The
 * rules let clients follow one list at most; each is also broken.
 *
 * Here are the questions, with the world that is looked at for each.
 */
#include "world.h"

static const struct rules worlds[QUESTIONS] = {
    [DECIDED] = {.masters = 3, .tries = 3},
    [FORGOTTEN] = {.masters = 3, .tries = 3, .restarts = 1},
    [FOUNDED] = {.masters = 3, .tries = 3, .restarts = 1},
};

static const struct change changes[] = {{FOLLOWED_ANY_FENCE, {WITH(tries, 4)}}};

static struct model model_of(const struct rules *rules)
{
    return (struct model){SEARCHED(rules)};
}

static const struct rules_number numbers[] = {
    NUMBER(masters, 1, MASTERS, ""),
    NUMBER(tries, 1, TRIES, " of tools"),
    NUMBER(restarts, 0, 2, " of masters"),
};

MODEL_MAIN
