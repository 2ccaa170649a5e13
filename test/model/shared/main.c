/*
 * shared-model - every order of events among a few masters and clients, tried against the
 * rules of shared and exclusive leases, and against each of them broken.
 */
#include "../questions.h"
#include "story.h"
#include "world.h"

static struct model model_of(const void *of)
{
    const struct rules *rules = of;
    struct model model = MODEL(shared, rules, shared_words(rules));
    model.honest_at = offsetof(struct step, honest);
    if (rules->question == PROGRESS)
        model.is_goal = shared_is_goal;
    return model;
}

static const struct rules_number numbers[] = {
    {"--masters", offsetof(struct rules, masters), 1, MASTERS, ""},
    {"--clients", offsetof(struct rules, clients), 1, CLIENTS, ""},
    {"--ttl", offsetof(struct rules, ttl), 1, 3, " ticks; order and progress have no time"},
    {"--shorter", offsetof(struct rules, shorter), 0, 2,
     ": the second client's ttl is as much shorter"},
    {"--restarts", offsetof(struct rules, restarts), 0, MASTERS,
     " masters restart (not with a queue)"},
    {"--late", offsetof(struct rules, late), 0, ANY_NUMBER,
     " messages are late or lost, 7: any number"},
    {"--changes", offsetof(struct rules, changes), 0, 6, " downgrades and upgrades"},
    {"--clocks", offsetof(struct rules, clocks), 2, HIGHEST_CLOCK - 1,
     ": no logical clock goes further (order)"},
};

MODEL_MAIN
