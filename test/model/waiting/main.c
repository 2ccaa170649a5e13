/*
 * waiting-model - every order of events among a few masters, waiters and a holder, tried
 * against the rules of waiting and handing over, and against each of them broken.
 */
#include "../questions.h"
#include "story.h"
#include "world.h"

static struct model model_of(const void *of)
{
    const struct rules *rules = of;
    struct model model = MODEL(waiting, rules, waiting_words(rules));
    model.honest_at = offsetof(struct step, honest);
    if (rules->question == PROGRESS)
        model.is_goal = waiting_is_goal;
    return model;
}

static const struct rules_number numbers[] = {
    {"--masters", offsetof(struct rules, masters), 1, MASTERS, ""},
    {"--waiters", offsetof(struct rules, waiters), 1, WAITERS, ""},
    {"--life", offsetof(struct rules, life), 1, 3, " ticks that a place, and a grant to it, lasts"},
    {"--ttl", offsetof(struct rules, ttl), 1, 7, " ticks, of the holder and of a quarantine"},
    {"--restarts", offsetof(struct rules, restarts), 0, MASTERS, " masters restart"},
    {"--late", offsetof(struct rules, late), 0, ANY_NUMBER,
     " messages are late or lost, 7: any number"},
    {"--cuts", offsetof(struct rules, cuts), 0, 6, " links of waiters to masters are cut"},
    {"--down", offsetof(struct rules, down), 0, MASTERS, " masters that nobody reaches"},
    {"--rounds", offsetof(struct rules, rounds), 0, 1,
     ": 1: all masters are asked in one step, 0: one after the other"},
    {"--clocks", offsetof(struct rules, clocks), 2, HIGHEST_CLOCK - 1,
     ": no logical clock goes further (order, fences)"},
};

MODEL_MAIN
