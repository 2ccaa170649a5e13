/*
 * campaign.h - many runs: ranges of seeds, seeds until one fails, and a failing run made
 * smaller.
 */
#ifndef SIM_CAMPAIGN_H
#define SIM_CAMPAIGN_H

#include "world.h"

struct campaign {
    struct options options;
    uint64_t first, last;
    const char *profile; /* as it was asked for */
    const char *mutant;  /* the one that this program is, or NULL */
    bool beyond_is_well; /* violations are what we look for */
};

/* Each returns the exit status of the program. */
int campaign_seeds(const struct campaign *campaign);
int campaign_one(const struct campaign *campaign);
int campaign_catch(const struct campaign *campaign);

#endif
