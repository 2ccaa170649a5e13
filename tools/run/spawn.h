/*
 * spawn.h - a new process, which becomes the command.
 */
#ifndef REDLOCK_TOOLS_SPAWN_H
#define REDLOCK_TOOLS_SPAWN_H

#include <stdbool.h>
#include <sys/types.h>

#include "cgroup.h"
#include "terminal.h"

struct spawn {
    char **command, **environment;
    const struct terminal *terminal;
    const struct cgroup *cgroup;
    int exec_pipe;      /* gets the errno if the command cannot be executed; close-on-exec */
    bool reads_nothing; /* its stdin is empty */
};

/* Called with all signals blocked.  Returns its pid, which is its group's as well, or -1 with
 * errno. It dies with the caller, unless it changes its user (setuid). */
pid_t spawn(const struct spawn *how);

/* Our handlers go, and SIGPIPE and SIGTTOU are no longer ignored; the command ignores what our
 * caller ignored. */
void spawn_restore_signals(void);

#endif
