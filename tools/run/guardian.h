/*
 * guardian.h - a second, tiny process between `run` and its command.  It ends the command and all
 * its descendants when the lease is about to end without a renewal, or when `run` is gone.
 *
 *   redlock run ── guardian ── command ── ...
 *
 * It is the command's parent, and the subreaper of orphans below it: it reaches daemons too.  It
 * has a process group of its own, and blocks all signals.  It holds a socket to `run`, and the
 * output of --on-lost, the watchdog if there is one, and no other descriptor; it needs no master
 * and no memory.  If `run` is gone before the command has ended, the guardian releases the lease
 * then, so that nobody waits for the ttl.
 *
 * It feeds the watchdog, so that a machine that stands still is reset before the lease ends.
 */
#ifndef REDLOCK_TOOLS_GUARDIAN_H
#define REDLOCK_TOOLS_GUARDIAN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "run_release.h"
#include "spawn.h"
#include "tree.h"
#include "watchdog.h"

/* In memory that `run` and the guardian share.  Times are of boot_ms().  A byte over the socket
 * says that something is new; the end of the socket, that the other one is gone. */
struct guardian_board {
    /* `run` writes: */
    _Atomic int64_t lease_end; /* never later than the truth */
    _Atomic int64_t kill_at;   /* INT64_MAX: not planned */
    _Atomic bool asked;        /* it has sent SIGTERM to the command's group */
    _Atomic bool taken;        /* the lease was found gone: another may have it by now */

    /* The guardian writes: */
    _Atomic int command; /* its pid, or -errno; -ETIME: the lease was about to end */
    _Atomic int stopped_by;
    _Atomic bool acted;       /* nobody had prolonged the lease: it ended the command */
    _Atomic bool killed;      /* the command got SIGKILL from it */
    _Atomic bool asked_rest;  /* what the command had left behind got SIGTERM */
    _Atomic bool killed_rest; /* and SIGKILL */
    _Atomic int wait_status;
    _Atomic bool ended;         /* the command: wait_status says how */
    _Atomic int on_lost;        /* that command's pid, or -errno; 0: not started */
    _Atomic int on_lost_status; /* as of waitpid() */
    _Atomic bool on_lost_ended;
    _Atomic int64_t gone_at;
    _Atomic unsigned left; /* processes that could not be signalled */
    _Atomic int one_left;
    _Atomic bool stays_armed; /* the watchdog cannot be stopped */
    _Atomic bool gone;        /* all that could be ended has ended; the guardian ends */
};

struct guardian_orders {
    int64_t ask_before_ms;             /* time from SIGTERM to the lease's end */
    int64_t slack_ms;                  /* time from SIGKILL to the lease's end */
    int64_t kill_after_ms;             /* longest time from SIGTERM to SIGKILL */
    bool leave_children;               /* only the command's own group is guarded */
    const char *on_lost;               /* for the shell, beside the first SIGTERM; NULL: nothing */
    const struct run_release *release; /* when all have ended, and `run` is gone */
    struct watchdog watchdog;
};

struct guardian_board *guardian_board_make(int64_t lease_end); /* NULL: errno */
void guardian_board_free(struct guardian_board *board);

/* Starts it, and it starts the command.  `run` is its end of the socket, which the caller closes.
 * Returns its pid, or -1 with errno. */
pid_t guardian_start(const struct guardian_orders *orders, struct guardian_board *board,
                     const struct spawn *how, int run);

#endif
