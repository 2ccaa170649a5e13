/*
 * detach-model - every order of events among a few masters, a holder that detaches and an heir that
 * gives the token back.  The rules let nothing heal it then; each is also broken.
 *
 * Here are the questions, with the world that is looked at for each.
 */
#include "world.h"

static const struct rules worlds[QUESTIONS] = {
    [GIVEN] = {.masters = 3, .renewals = 1, .ttl = 3},
    [TAKEN] = {.masters = 3, .renewals = 1, .ttl = 1},
    [AGAIN] = {.masters = 3, .renewals = 1, .ttl = 1},
};

/* None needs another world. */
static const struct change changes[] = {{NONE, {{0, 0}}}};

static struct model model_of(const struct rules *rules)
{
    return (struct model){SEARCHED(rules)};
}

static const struct rules_number numbers[] = {
    NUMBER(masters, 1, MASTERS, ""),
    NUMBER(renewals, 1, RENEWALS, " of the holder that a master may still carry out at once"),
    NUMBER(ttl, 1, 4, " ticks: the holder's, and the longest"),
};

MODEL_MAIN
