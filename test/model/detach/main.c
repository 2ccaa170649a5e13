/*
 * detach-model - every order of events among a few masters, a holder that detaches and an heir that
 * gives the token back, tried against the rules by which nothing heals it then, and against each of
 * them broken.
 */
#include "world.h"

static struct model model_of(const void *of)
{
    const struct rules *rules = of;
    return MODEL(detach, rules, MASTERS + 1);
}

static const struct rules_number numbers[] = {
    {"--masters", offsetof(struct rules, masters), 1, MASTERS, ""},
    {"--renewals", offsetof(struct rules, renewals), 1, RENEWALS,
     " of the holder that a master may still carry out at once"},
    {"--ttl", offsetof(struct rules, ttl), 1, 4, " ticks: the holder's, and the longest"},
};

MODEL_MAIN
