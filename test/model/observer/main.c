/*
 * observer-model - every order of events among a few masters, two terms of leaders and an
 * observer, tried against the rules by which leaders announce and observers are told, and
 * against each of them broken.
 */
#include "world.h"

static struct model model_of(const void *of)
{
    const struct rules *rules = of;
    struct model model = MODEL(observed, rules, OBSERVED_WORDS);
    model.honest_at = offsetof(struct step, honest);
    if (rules->question == PROGRESS)
        model.is_goal = observed_is_goal;
    return model;
}

static const struct rules_number numbers[] = {
    {"--masters", offsetof(struct rules, masters), 1, MASTERS, ""},
    {"--values", offsetof(struct rules, values), 1, VALUES, " are announced in each term"},
    {"--ends", offsetof(struct rules, ends), 1, TERMS, " terms end"},
    {"--handed", offsetof(struct rules, handed), 0, 1,
     ": 1: the second term has the first one's token, 0: another"},
    {"--kills", offsetof(struct rules, kills), 0, 1,
     ": 1: a former connection is ended before a new one is used, 0: it is not"},
    {"--subscribed", offsetof(struct rules, subscribed), 0, 1,
     ": 1: pushes are heard from the start"},
    {"--late", offsetof(struct rules, late), 0, 6, " messages are late"},
    {"--breaks", offsetof(struct rules, breaks), 0, 3, " connections of the observer end"},
    {"--looks", offsetof(struct rules, looks), 0, 3, " questions that nothing has called for"},
    {"--restarts", offsetof(struct rules, restarts), 0, MASTERS, " masters restart"},
};

MODEL_MAIN
