/*
 * child.h - the command that `run` runs, in a process group of its own, under a guardian
 * (guardian.h).
 *
 * We end the command, and the guardian ends what else there is of its tree; it does both should we
 * be stopped or killed.  If the guardian is killed the kernel kills the command
 * (PR_SET_PDEATHSIG), and we kill the rest.
 */
#ifndef REDLOCK_TOOLS_CHILD_H
#define REDLOCK_TOOLS_CHILD_H

#include <ev.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "alarm.h"
#include "cgroup.h"
#include "guardian.h"
#include "terminal.h"

struct child {
    struct ev_loop *loop;
    pid_t pid; /* its group's id as well */
    pid_t guardian;
    struct guardian_board *board;
    struct cgroup cgroup;
    struct terminal terminal;

    bool ended;      /* the command; exit_status is known */
    bool await_all;  /* it is being ended */
    bool has_others; /* children of ours that were there before the command */
    int socket;      /* to the guardian */
    int exec_pipe;   /* carries errno if the command could not be executed */
    struct alarm killer;
    int64_t kill_at; /* INT64_MAX: not planned */
    ev_io news_watcher;
    ev_timer news_timer;     /* they are read then */
    ev_child orphan_watcher; /* once the guardian is gone */
    ev_timer orphans_watcher;

    /* Set by the owner before child_start(). */
    struct guardian_orders orders;
    void (*ended_all)(struct child *child, void *data);
    bool (*may_go_on)(void *data); /* asked before a stopped command is continued */
    void *data;

    /* For ended_all(): */
    int exit_status;  /* as a shell has it: 128 + n when ended by signal n */
    int exec_errno;   /* not 0: the command could not be executed */
    bool killed;      /* the command got SIGKILL */
    bool asked_rest;  /* what it had left behind got SIGTERM */
    bool killed_rest; /* and SIGKILL */
    bool acted;       /* the guardian ended it, as nobody had prolonged the lease */
    bool unguarded;   /* the guardian was killed */
    bool stays_armed; /* the watchdog cannot be stopped */
    int on_lost;      /* the pid of that command, or -errno; 0: not started */
    bool on_lost_ended;
    int on_lost_status; /* as of waitpid() */
    unsigned left;      /* number of processes of other users, which could not be ended */
    pid_t one_left;
    int64_t gone_at;   /* boot_ms() */
    int64_t lease_end; /* as told last */
};

/* `lease_end` is of boot_ms().  Returns 0 or an errno; then nothing was started.  ETIME: there was
 * no time left for it. */
int child_start(struct child *child, struct ev_loop *loop, char **command, char **environment,
                int64_t lease_end);

/* The lease ends then.  Call it often: otherwise the guardian ends the command. */
void child_lease_ends(struct child *child, int64_t lease_end);

/* The lease was found gone: the watchdog is not fed any more. */
void child_lease_is_gone(struct child *child);

/* Sends the signal to the command's whole group. */
void child_signal(struct child *child, int number);

/* Sends SIGKILL to all at that time (boot_ms()), unless it is planned for earlier. */
void child_kill_at(struct child *child, int64_t at);

/* Sends SIGTERM now and SIGKILL at that time; ended_all() is called when all are gone.  A second
 * call can only bring SIGKILL forward. */
void child_end(struct child *child, int64_t kill_at);

#endif
