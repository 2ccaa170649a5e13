/*
 * agree-model - every order of events among a few masters, and clients whose lists may not be in
 * use at once.  It tries the rules by which these find out, and each of them broken.
 *
 * Here are the questions, with the world that is looked at for each.
 */
#include "world.h"

static const struct rules worlds[QUESTIONS] = {
    [TOGETHER] = {.masters = 3, .firsts = 1, .seconds = 1, .named = 1},
    [SLEEPER] = {.masters = 1, .firsts = 2, .seconds = 1, .word = 2, .lease = 2, .named = 1},
    [LEAVING] = {.masters = 2, .firsts = 2, .seconds = 1, .closes = 1, .named = 1},
    [LIARS] = {.masters = 4, .firsts = 1, .seconds = 1, .liars = 1, .named = 1},
    [STAYS] = {.masters = 3, .firsts = 1, .seconds = 1, .restarts = 1, .named = 1},
    [APART] = {.masters = 4, .firsts = 1, .seconds = 1, .liars = 1},
    [RENAMED] = {.seconds = 1, .restarts = 1, .ticks = 3},
    [REPLACED] = {.seconds = 2, .ticks = 3},
    [LISTS] = {0},
};

static const struct change changes[] = {
    {UNNAMED, {WITH(named, 0)}},           {HALF_IS_ENOUGH, {WITH(masters, 2)}},
    {TAKES_UNHEARD, {WITH(masters, 2)}},   {SOME_SAID_AGAIN, {WITH(masters, 2)}},
    {LIARS_UNCOUNTED, {WITH(masters, 5)}}, {THREE_IN_COMMON, {WITH(masters, 3)}},
    {TWO_SERVERS, {WITH(restarts, 0)}},    {TWO_RESTART, {WITH(restarts, 2)}},
};

static struct model model_of(const struct rules *rules)
{
    return (struct model){SEARCHED(rules)};
}

static const struct rules_number numbers[] = {
    NUMBER(masters, 1, MASTERS, " that both lists have"),
    NUMBER(firsts, 1, CLIENTS - 1, " clients of list A"),
    NUMBER(seconds, 1, CLIENTS - 1, " clients of list B (together at most three)"),
    NUMBER(liars, 0, 1, " of these masters lie"),
    NUMBER(word, 0, 3, " ticks, for which a word counts; 0: no time"),
    NUMBER(lease, 1, 3, " ticks"),
    NUMBER(restarts, 0, 2, " times a master restarts; of renamed, the server"),
    NUMBER(ticks, 1, LAST_TICK, " ticks in all, of renamed and replaced"),
    NUMBER(named, 0, 1, ": each list names the masters as the other does"),
    NUMBER(closes, 0, 1, ": clients close"),
};

MODEL_MAIN
