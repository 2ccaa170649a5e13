/*
 * child.h - the command that `run` runs, in a process group of its own.
 *
 * If we die without ending the command, the kernel does (PR_SET_PDEATHSIG), unless the command has
 * changed its user (setuid). It does not end the command's children.
 */
#ifndef REDLOCK_TOOLS_CHILD_H
#define REDLOCK_TOOLS_CHILD_H

#include <ev.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "alarm.h"
#include "terminal.h"

struct child {
    struct ev_loop *loop;
    pid_t pid; /* its group's id as well */
    struct terminal terminal;

    bool reaped;
    bool killed;      /* SIGKILL was sent to the group */
    bool await_group; /* wait until the whole group has ended */
    int exec_pipe;    /* carries errno if the command could not be executed */
    struct alarm killer;
    int64_t kill_at; /* INT64_MAX: not planned */
    ev_child end_watcher;
    ev_timer group_watcher;

    /* Set by the owner before child_start(). */
    void (*ended)(struct child *child, void *data);
    bool (*may_go_on)(void *data); /* asked before a stopped command is continued */
    void *data;

    /* For ended(): */
    int exit_status; /* as a shell has it: 128 + n when ended by signal n */
    int exec_errno;  /* not 0: the command could not be executed */
};

/* Returns 0 or an errno; then nothing was started. */
int child_start(struct child *child, struct ev_loop *loop, char **command, char **environment);

/* Sends the signal to the command's whole group. */
void child_signal(const struct child *child, int number);

/* Sends SIGKILL to the group at that time (boot_ms()), unless it is planned for earlier. */
void child_kill_at(struct child *child, int64_t at);

/* Sends SIGTERM now and SIGKILL at that time; ended() is called when the whole group is gone.  A
 * second call can only bring SIGKILL forward. */
void child_end(struct child *child, int64_t kill_at);

#endif
