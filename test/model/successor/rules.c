/*
 * successor-model - every order in which commands end a list on a few masters. Clients follow one
 * next list at most, while fewer than 2 Q - N masters have lied or lost an end.
 *
 * Here are the questions, with the world that is looked at for each.
 */
#include "world.h"

static const struct rules worlds[QUESTIONS] = {
    [LED] = {.masters = 4, .commands = 3},
    [LOST] = {.masters = 6, .commands = 2, .losses = 1},
    [LIED] = {.masters = 5, .commands = 2, .losses = 1, .spare = 1},
};

static const struct change changes[] = {{LAST_END_STAYS, {WITH(masters, 3)}}};

static struct model model_of(const struct rules *rules)
{
    return (struct model){SEARCHED(rules)};
}

static const struct rules_number numbers[] = {
    NUMBER(masters, 1, MASTERS, ""),
    NUMBER(spare, 0, 2, " votes, and so one or two masters that lie"),
    NUMBER(commands, 1, COMMANDS, ""),
    NUMBER(losses, 0, 3, " of an end by a master"),
};

MODEL_MAIN
