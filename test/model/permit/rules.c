/*
 * permit-model - every order of events among a few masters, slots and clients.  The rules by which
 * clients get from one slot's line to another are tried, and each of them broken.
 *
 * Here are the questions, with the world that is looked at for each.
 */
#include "world.h"

static const struct rules worlds[QUESTIONS] = {
    [EXCLUSION] = {.masters = 3, .slots = 2, .clients = 3, .style = BOTH, .late = 1, .restarts = 1},
    [PROGRESS] = {.masters = 3, .slots = 2, .clients = 3, .down = 1, .style = BOTH, .late = 2},
    [REST] = {.masters = 3, .slots = 2, .clients = 3, .down = 1, .style = BOTH, .late = 2},
    [ORDER] = {.masters = 3, .slots = 2, .clients = 3, .style = BOTH},
};

static const struct change changes[] = {
    {QUARANTINE_IGNORED, {WITH(clients, 2)}},
    {KEEPS_BOTH, {WITH(clients, 2)}},
    {REBIND_SAME_TOKEN, {WITH(late, 3), WITH(restarts, 0)}},
    {REBIND_BACK, {WITH(style, ONCE)}},
    {FREE_ON_ONE, {WITH(style, ONCE), WITH(down, 0), WITH(late, 1), WITH(restarts, 1)}},
    {REBIND_WHILE_GRANTED, {WITH(style, ONCE), WITH(down, 0), WITH(late, 1), WITH(restarts, 1)}},
    {REBIND_NEW_TICKET, {WITH(style, ONCE), WITH(down, 0), WITH(late, 1), WITH(restarts, 1)}},
};

static struct model model_of(const struct rules *rules)
{
    struct model model = MODEL(rules, rules->question == PROGRESS);
    model.idle_at = offsetof(struct step, idle);
    model.looks_for_rest = rules->question == REST;
    return model;
}

static const struct rules_number numbers[] = {
    NUMBER(masters, 1, MASTERS, ""),
    NUMBER(slots, 1, SLOTS, ""),
    NUMBER(clients, 1, CLIENTS, ""),
    NUMBER(down, 0, 1, " masters that nobody reaches"),
    NUMBER(style, AS_WRITTEN, BOTH,
           ": 0: moves as first written, 1: to each slot once, 2: keeps the old place"),
    NUMBER(late, 0, 6, " messages are late or lost"),
    NUMBER(restarts, 0, MASTERS, " masters restart without data"),
    NUMBER(crashes, 0, CLIENTS, " clients die"),
};

MODEL_MAIN
