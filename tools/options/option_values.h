/*
 * option_values.h - reads what is given for one option, or for the variable in its place.
 */
#ifndef REDLOCK_TOOLS_OPTION_VALUES_H
#define REDLOCK_TOOLS_OPTION_VALUES_H

#include "misuse.h"
#include "option_table.h"

/* GO_ON, or the exit status after an error message.  `text` is NULL without a value. */
int option_take(struct options *options, const struct option_row *row, const char *text);

#endif
