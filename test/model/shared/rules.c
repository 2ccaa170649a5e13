/*
 * shared-model - every order of events among a few masters and clients, tried against the
 * rules of shared and exclusive leases, and against each of them broken.
 *
 * Here are the questions, with the world that is looked at for each.
 */
#include "world.h"

static const struct rules worlds[QUESTIONS] = {
    [BACKING] = {.masters = 1, .clients = 2, .ttl = 2, .late = 2, .changes = 2},
    [CRASH] = {.masters = 1, .clients = 2, .ttl = 2, .restarts = 1, .late = 1, .changes = 2},
    [EXCLUSION] = {.masters = 3, .clients = 2, .ttl = 2, .late = 2, .changes = 2},
    [ORDER] = {.masters = 3, .clients = 3, .ttl = 1, .late = 3, .clocks = 6},
    [PROGRESS] = {.masters = 3, .clients = 3, .ttl = 1, .late = 2, .changes = 2},
};

static const struct change changes[] = {
    {EXPIRED_READER_COUNTS, {WITH(clients, 3), WITH(shorter, 1), WITH(changes, 0)}},
    {READERS_OWN_TTL, {WITH(clients, 3), WITH(shorter, 1)}},
    {MARKER_DELETED, {WITH(clients, 3)}},
    {JOINED_IN_QUARANTINE, {WITH(clients, 3)}},
    {ROUNDS_MIXED, {WITH(changes, 3)}},
    {NO_YIELD, {WITH(masters, 2)}},
};

static struct model model_of(const struct rules *rules)
{
    return MODEL(rules, rules->question == PROGRESS);
}

static const struct rules_number numbers[] = {
    NUMBER(masters, 1, MASTERS, ""),
    NUMBER(clients, 1, CLIENTS, ""),
    NUMBER(ttl, 1, 3, " ticks; order and progress have no time"),
    NUMBER(shorter, 0, 2, ": the second client's ttl is as much shorter"),
    NUMBER(restarts, 0, MASTERS, " masters restart (not with a queue)"),
    NUMBER(late, 0, ANY_NUMBER, " messages are late or lost, 7: any number"),
    NUMBER(changes, 0, 6, " downgrades and upgrades"),
    NUMBER(clocks, 2, HIGHEST_CLOCK - 1, ": no logical clock goes further (order)"),
};

MODEL_MAIN
