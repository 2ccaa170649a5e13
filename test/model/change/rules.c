/*
 * change-model - every order of events among a few masters, two clients that hold and move a lease,
 * and a tool that ends a list and opens another.  The rules let nobody hold beside another; each is
 * also broken.
 *
 * Here are the questions, with the world that is looked at for each.
 */
#include "world.h"

static const struct rules worlds[QUESTIONS] = {
    [WAITED] = {.masters = 2, .ttl = 2, .word = 2},
    [EMPTIED] = {.masters = 2, .ttl = 2, .word = 2},
    [WIDE] = {.masters = 4, .ttl = 1, .word = 1},
    [RESTARTED] = {.masters = 4, .ttl = 1, .word = 1, .restarts = 1},
};

static const struct change changes[] = {{NO_QUARANTINE, {WITH(restarts, 1)}}};

static struct model model_of(const struct rules *rules)
{
    return (struct model){SEARCHED(rules)};
}

static const struct rules_number numbers[] = {
    NUMBER(masters, 2, MASTERS, " of the second list"),
    NUMBER(ttl, 1, 3, " ticks"),
    NUMBER(word, 1, 3, " ticks"),
    NUMBER(restarts, 0, 2, " of masters"),
};

MODEL_MAIN
