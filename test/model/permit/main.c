/*
 * permit-model - every order of events among a few masters, slots and clients, tried against
 * the rules by which clients get from one slot's line to another, and against each of them broken.
 */
#include "world.h"

static struct model model_of(const void *of)
{
    const struct rules *rules = of;
    struct model model = MODEL(permit, rules, 2 * MASTERS + 2);
    model.honest_at = offsetof(struct step, honest);
    model.idle_at = offsetof(struct step, idle);
    if (rules->question == PROGRESS)
        model.is_goal = permit_is_goal;
    model.looks_for_rest = rules->question == REST;
    return model;
}

static const struct rules_number numbers[] = {
    {"--masters", offsetof(struct rules, masters), 1, MASTERS, ""},
    {"--slots", offsetof(struct rules, slots), 1, SLOTS, ""},
    {"--clients", offsetof(struct rules, clients), 1, CLIENTS, ""},
    {"--down", offsetof(struct rules, down), 0, 1, " masters that nobody reaches"},
    {"--style", offsetof(struct rules, style), AS_WRITTEN, BOTH,
     ": 0: moves as first written, 1: to each slot once, 2: keeps the old place"},
    {"--late", offsetof(struct rules, late), 0, 6, " messages are late or lost"},
    {"--restarts", offsetof(struct rules, restarts), 0, MASTERS, " masters restart without data"},
    {"--crashes", offsetof(struct rules, crashes), 0, CLIENTS, " clients die"},
};

MODEL_MAIN
