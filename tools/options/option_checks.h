/*
 * option_checks.h - whether all that was given goes together, and whether anything is missing.
 */
#ifndef REDLOCK_TOOLS_OPTION_CHECKS_H
#define REDLOCK_TOOLS_OPTION_CHECKS_H

#include "misuse.h"

int option_checks(const struct options *options);

#endif
