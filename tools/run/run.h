/*
 * run.h - the state of one `redlock run`: run.c changes it, run_report.c only reads it.
 */
#ifndef REDLOCK_TOOLS_RUN_H
#define REDLOCK_TOOLS_RUN_H

#include "alarm.h"
#include "child.h"
#include "follow.h"
#include "metrics.h"
#include "nested.h"
#include "notify.h"
#include "once.h"
#include "run_environment.h"
#include "session.h"
#include "stuck.h"
#include "waiting.h"
#include "wanted.h"
#include "wishing.h"

struct run {
    struct session session;
    struct waiting waiting;
    struct wishing wishing;
    struct wanted wanted;
    struct follow follow;
    int64_t asked_at; /* boot_ms(), for the first time */
    struct notify notify;
    struct metrics metrics;
    struct child child;
    struct stuck stuck; /* with a watchdog */
    struct once once;
    struct nested nested;
    bool joins; /* the `run` around us holds the names, and our command needs no more */
    struct alarm max_hold;
    ev_prepare lease_watcher; /* tells the guardian when the lease ends */
    int64_t keep_until;       /* nobody else is to have the names before */
    redlock_lease *lease;
    bool running;   /* the command */
    int stopped_by; /* the signal that came during the wait */
    bool lost;
    bool overdue;      /* held for --max-hold, or given to one who asked */
    bool ending;       /* a signal asked for the end of the command */
    bool cut_off;      /* and the command had not ended */
    bool taken;        /* the lease was found gone; when it went is unknown */
    int64_t lease_end; /* on boot_ms(), once lost, overdue or ended by the guardian */
    int status;
    struct environment environment;
    struct run_release release; /* by the guardian, if we are killed */
};

#endif
