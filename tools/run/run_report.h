/*
 * run_report.h - what `redlock run` tells its user: as text, or one JSON document per line.
 */
#ifndef REDLOCK_TOOLS_RUN_REPORT_H
#define REDLOCK_TOOLS_RUN_REPORT_H

#include "run.h"

/* Always as JSON, as text only if asked to be verbose. */
void report_if_verbose(const struct run *run, const redlock_event *event);

/* The lease was lost; SIGKILL comes after `grace` ms. */
void report_lost(const struct run *run, const redlock_event *event, int64_t grace);

/* Why a command is ended that has its lease. */
struct early_end {
    const char *event; /* for programs */
    redlock_code code;
    const char *text;
};

/* The lease is valid for `valid_ms` more. */
void report_early_end(const struct run *run, const struct early_end *why, int64_t valid_ms,
                      int64_t grace);

/* The command has ended. */
void report_end(const struct run *run);

/* It cannot be used, and the command was not started. */
void report_no_watchdog(const struct run *run, const char *why);

void report_not_executed(const struct run *run, const char *command, int error);

#endif
