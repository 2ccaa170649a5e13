/*
 * campaign.h - the options of a campaign, as they are checked on a loop and for threads that wait.
 */
#ifndef REDLOCK_RECIPES_CAMPAIGN_H
#define REDLOCK_RECIPES_CAMPAIGN_H

#include "redlock/recipes.h"

/* Fills `options` from those given, which may be NULL, and `terms` for a lease of one term; follows
 * no pointer of the options.  On failure `why` has the reason. */
redlock_code campaign_read(const redlock_campaign_options *given, redlock_campaign_options *options,
                           redlock_lease_options *terms, char *why, size_t why_size);

#endif
