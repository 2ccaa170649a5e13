/*
 * option_times.h - the ttl that is asked for, and whether --max-ttl lets it be.
 */
#ifndef REDLOCK_TOOLS_OPTION_TIMES_H
#define REDLOCK_TOOLS_OPTION_TIMES_H

#include "misuse.h"

/* --max-ttl, or the library's default. */
int64_t option_longest_ttl(const struct options *options);
void option_default_ttl(struct options *options);
int option_check_times(const struct options *options);

#endif
