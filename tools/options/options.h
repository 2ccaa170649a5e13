/*
 * options.h - what the command line asks for, else the environment, else the file of settings.
 */
#ifndef REDLOCK_TOOLS_OPTIONS_H
#define REDLOCK_TOOLS_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "redlock.h"
#include "settings.h"

enum origin { ORIGIN_DEFAULT, ORIGIN_FILE, ORIGIN_ENVIRONMENT, ORIGIN_OPTION };

struct options {
    const struct command *commands; /* all of them */
    const struct command *command;  /* NULL: none was named */

    /* every command */
    const char *nodes, *nodes_file;                 /* one of the two */
    int64_t max_ttl_ms;                             /* 0: the library's default */
    int spare;                                      /* -1: not given */
    int64_t request_timeout_ms, connect_timeout_ms; /* 0: the library's default */
    const char *text[SETTINGS];                     /* those of TEXT_SETTINGS; NULL: likewise */
    bool json, quiet, verbose;
    const char *config;       /* the path of the file; NULL: there is none */
    struct settings settings; /* the file */
    enum origin origin[SETTINGS];

    /* some commands */
    int64_t parties, generation; /* 0 parties: not given */
    int64_t wait_ms;             /* -1: not given; only where that is not the same as 0 */
    int64_t ttl_ms, kill_after_ms, max_hold_ms, at_least_ms;
    int64_t margin_ms, patience_ms;          /* -1: not given */
    int64_t arrivals, life_ms;               /* 0: not given */
    const char *action;                      /* of a latch, or of the list of masters */
    const char *id, *arrival;                /* of a latch; NULL: not given */
    const char *key;                         /* of `once` */
    int64_t conflict_exit, unavailable_exit; /* 0: the usual status */
    const char *token;
    const char *to;              /* the list of masters that is to come; NULL: none */
    const char *value;           /* to announce; NULL: the label */
    const char *on_lost;         /* for the shell; NULL: nothing */
    const char *wish;            /* said to the holder; NULL: nothing */
    const char *on_wanted;       /* for the shell; NULL: nothing */
    const char *holder;          /* the holder whose lock `break` breaks */
    const char *metrics_file;    /* NULL: none */
    const char *watchdog;        /* the path of the device; NULL: none */
    int64_t watchdog_timeout_ms; /* 0: not given */
    bool adopt, fence, again, watch, leave_children, foreign, yes, plan, undo, check, all;
    bool reentrant, yields;
    bool shared;      /* all names */
    unsigned permits; /* 0: the names themselves */

    redlock_name *names;
    size_t names_count;
    const char **shared_names; /* those of --shared=NAME, which are among the names too */
    size_t shared_names_count;
    char **program; /* what `run` runs, with its arguments */
};

/* The commands end with one that has no name, and the general help.
 * Returns -1 when there is a command to perform, else the exit status, after help or an error. */
int options_parse(struct options *options, const struct command *commands, int argc, char **argv);
/* All that a client of the library is opened with, but for callbacks. */
redlock_options options_of_client(const struct options *options);
/* Its clients say their lists to one another; NULL: this one says none. */
const char *options_fleet(const struct options *options);
/* Of the settings of TLS those that an option gives: the library reads the others itself. */
void options_of_tls(const struct options *options, redlock_options *settings);
void options_free(struct options *options);

#endif
