/*
 * option_watchdog.h - a --watchdog that cannot keep what it is for is refused, before a lock is
 * asked for.
 */
#ifndef REDLOCK_TOOLS_OPTION_WATCHDOG_H
#define REDLOCK_TOOLS_OPTION_WATCHDOG_H

#include "misuse.h"

/* The ttl is known. */
int option_check_watchdog(const struct options *options);

#endif
