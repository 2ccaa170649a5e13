/*
 * option_table.h - the options of the command line, one row for each: its name, which commands take
 * it, what its value is, and where that goes.
 */
#ifndef REDLOCK_TOOLS_OPTION_TABLE_H
#define REDLOCK_TOOLS_OPTION_TABLE_H

#include <getopt.h>
#include <stddef.h>
#include <stdint.h>

/* In struct options a flag is a bool, a text a const char *, and all that is counted an int64_t. */
enum option_kind {
    OPTION_FLAG,
    OPTION_TEXT,
    OPTION_SPAN, /* of time */
    OPTION_SPAN_ABOVE_0,
    OPTION_SPAN_OR_FOREVER,
    OPTION_NUMBER,
    /* each of its own kind: option_values.c, and options.c for the last two */
    OPTION_SECONDS_OR_SPAN,
    OPTION_NONBLOCK,
    OPTION_SPARE,
    OPTION_SHARED,
    OPTION_PERMITS,
    OPTION_VALUE,
    OPTION_METRICS_FILE,
    OPTION_VERSION,
    OPTION_HELP
};

struct option_row {
    const char *name;
    unsigned commands; /* that take it: bits of commands.h */
    enum option_kind kind;
    size_t at;           /* in struct options */
    int64_t least, most; /* of a number */
    char letter;         /* 0: none */
};

/* The arguments of getopt_long(). */
struct option_words {
    const struct option *names;
    const char *letters;
};

struct option_words option_words(void);

/* By what getopt_long() returned or left in optopt; NULL: no option of ours. */
const struct option_row *option_row(int id);

#endif
