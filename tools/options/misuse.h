/*
 * misuse.h - what is wrong with the command line, told so that it can be mended.
 */
#ifndef REDLOCK_TOOLS_MISUSE_H
#define REDLOCK_TOOLS_MISUSE_H

#include "options.h"

/* A function that reads or checks a part of the command line returns this, or the exit status. */
#define GO_ON (-1)

/* The sentence ends with a hint at the help that knows more.  Returns the exit status. */
int misuse(const struct options *options, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
