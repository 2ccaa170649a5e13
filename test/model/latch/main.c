/*
 * latch-model - every order of events among a few masters, and clients that make a latch, arrive
 * at it and read it, tried against the rules of latches and against each of them broken.
 */
#include "world.h"

static bool has_goal(const struct rules *rules)
{
    return rules->question == PROGRESS || rules->question == FULL;
}

static struct model model_of(const void *of)
{
    const struct rules *rules = of;
    struct model model = MODEL(latch, rules, 2 * rules->masters + 2);
    model.honest_at = offsetof(struct step, honest);
    if (has_goal(rules))
        model.is_goal = latch_is_goal;
    return model;
}

static const struct rules_number numbers[] = {
    {"--masters", offsetof(struct rules, masters), 1, MASTERS, ""},
    {"--spare", offsetof(struct rules, spare), 0, 1, " masters that may be wrong"},
    {"--liars", offsetof(struct rules, liars), 0, 1, " that says what it likes"},
    {"--down", offsetof(struct rules, down), 0, 1, " that nobody reaches"},
    {"--of", offsetof(struct rules, of), 1, 3, " arrivals open it"},
    {"--creators", offsetof(struct rules, creators), 0, CREATORS, " (with 0 the latch is there)"},
    {"--arrivers", offsetof(struct rules, arrivers), 0, ARRIVERS, ""},
    {"--readers", offsetof(struct rules, readers), 0, 3, "; 4 clients altogether"},
    {"--any", offsetof(struct rules, any), 0, 1,
     ": 1: those who arrive and read do not know the id"},
    {"--late", offsetof(struct rules, late), 0, 6, " requests are late, or their answers lost"},
    {"--restarts", offsetof(struct rules, restarts), 0, 3, " masters restart"},
    {"--quarantine", offsetof(struct rules, quarantine), 1, 4, " ticks"},
};

MODEL_MAIN
