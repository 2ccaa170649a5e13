/*
 * undo-model - every order in which tools end lists on a few masters, and take ends back. While C
 * is used no client has a quorum's words for A.
 *
 * Here are the questions, with the world that is looked at for each.
 */
#include "world.h"

static const struct rules worlds[QUESTIONS] = {
    [ADDED] = {.both = 3, .later = 1},
    [REMOVED] = {.both = 3, .former = 1},
    [LIED] = {.both = 4, .later = 1, .spare = 1},
};

static const struct change changes[] = {{MIDDLE_TAKEN_BACK, {WITH(both, 1)}},
                                        {ANY_END_OF_A, {WITH(others, 1)}}};

static struct model model_of(const struct rules *rules)
{
    return (struct model){SEARCHED(rules)};
}

static const struct rules_number numbers[] = {
    NUMBER(both, 0, 6, " masters of A and B"),
    NUMBER(former, 0, 2, " of A alone"),
    NUMBER(later, 0, 2, " of B alone"),
    NUMBER(spare, 0, 2, " votes, and so one or two masters that lie"),
    NUMBER(others, 0, 1, " tool that leads to another list, from A or B"),
};

MODEL_MAIN
