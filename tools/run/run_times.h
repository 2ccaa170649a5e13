/*
 * run_times.h - when `redlock run` ends its command, so that it is gone before the lease ends.
 */
#ifndef REDLOCK_TOOLS_RUN_TIMES_H
#define REDLOCK_TOOLS_RUN_TIMES_H

#include <stdint.h>

#include "guardian.h"
#include "options.h"

/* How long before the lease's end LOST comes. */
int64_t run_margin_ms(const struct options *options);

/* The times of the guardian: after a loss it asks the command to end a moment later than we would,
 * and kills it a moment later, too. */
struct guardian_orders run_orders(const struct options *options);

/* How long the command may live on when the lease is valid for that long. */
int64_t run_grace_ms(const struct options *options, int64_t valid_ms);

#endif
