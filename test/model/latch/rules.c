/*
 * latch-model - every order of events among a few masters, and clients that make a latch, arrive at
 * it and read it.  The rules of latches are tried, and each of them broken.
 *
 * Here are the questions, with the world that is looked at for each.
 */
#include "world.h"

static const struct rules worlds[QUESTIONS] = {
    [OPENING] = {.masters = 3,
                 .of = 1,
                 .arrivers = 1,
                 .readers = 1,
                 .late = 1,
                 .restarts = 1,
                 .quarantine = 2},
    [COUNTING] = {.masters = 3, .of = 2, .arrivers = 2, .readers = 1, .quarantine = 2},
    [GONE] = {.masters = 3, .of = 1, .readers = 2, .restarts = 2, .quarantine = 2},
    [CREATION] = {.masters = 3, .of = 1, .creators = 2, .late = 1, .restarts = 1, .quarantine = 3},
    [STRAY] = {.masters = 3, .of = 1, .arrivers = 1, .readers = 1, .restarts = 1, .quarantine = 2},
    [PROGRESS] =
        {.masters = 3, .of = 1, .arrivers = 1, .readers = 1, .restarts = 1, .quarantine = 2},
    [SPARE] = {.masters = 5,
               .spare = 1,
               .liars = 1,
               .of = 1,
               .arrivers = 1,
               .readers = 1,
               .quarantine = 2},
    [FULL] = {.masters = 4,
              .spare = 1,
              .down = 1,
              .of = 1,
              .arrivers = 3,
              .readers = 1,
              .quarantine = 2},
    [CLEARING] = {.masters = 3, .of = 1, .creators = 3, .late = 1, .quarantine = 1},
    [BESIDE] = {.masters = 3, .of = 2, .creators = 2, .arrivers = 1, .readers = 1, .quarantine = 1},
};

/* The smallest world in which it goes wrong. */
static const struct change changes[] = {
    {QUARANTINED_COUNTS, {WITH(late, 0)}},
    {ACKS_FOR_EVER, {WITH(late, 0)}},
    {MENDED_FROM_FEWER, {WITH(late, 0)}},
    {MENDED_IN_QUARANTINE, {WITH(late, 0)}},
    {READS_NOT_AGAIN, {WITH(late, 0)}},
    {MENDED_UNOPENED, {WITH(late, 0)}},
    {CLEARS_SOON, {WITH(late, 0), WITH(quarantine, 2)}},
    {CREATE_UNNAMED, {WITH(creators, 1)}},
    {DROPPED_ANYHOW, {WITH(creators, 1), WITH(restarts, 0)}},
};

static bool has_goal(const struct rules *rules)
{
    return rules->question == PROGRESS || rules->question == FULL;
}

static struct model model_of(const struct rules *rules)
{
    return MODEL(rules, has_goal(rules));
}

static const struct rules_number numbers[] = {
    NUMBER(masters, 1, MASTERS, ""),
    NUMBER(spare, 0, 1, " masters that may be wrong"),
    NUMBER(liars, 0, 1, " that says what it likes"),
    NUMBER(down, 0, 1, " that nobody reaches"),
    NUMBER(of, 1, 3, " arrivals open it"),
    NUMBER(creators, 0, CREATORS, " (with 0 the latch is there)"),
    NUMBER(arrivers, 0, ARRIVERS, ""),
    NUMBER(readers, 0, 3, "; 4 clients altogether"),
    NUMBER(any, 0, 1, ": 1: those who arrive and read do not know the id"),
    NUMBER(late, 0, 6, " requests are late, or their answers lost"),
    NUMBER(restarts, 0, 3, " masters restart"),
    NUMBER(quarantine, 1, 4, " ticks"),
};

MODEL_MAIN
