/*
 * on_lost.h - the command of --on-lost, which the guardian starts when the lock is lost, or when
 * nobody can prolong it any more.
 *
 * It belongs to the tree of the command that is being ended, and has no more time than that.
 * Nothing is allocated: the guardian calls it after a fork.
 */
#ifndef REDLOCK_TOOLS_ON_LOST_H
#define REDLOCK_TOOLS_ON_LOST_H

#include <stdbool.h>
#include <sys/types.h>

#include "cgroup.h"

struct on_lost {
    const char *command; /* for the shell; NULL: there is none */
    char **environment;
    bool started; /* or it was tried */
    pid_t pid;    /* its group's id as well; 0: it does not run */
};

/* With all signals blocked.  Returns its pid, or -errno. */
int on_lost_start(struct on_lost *on_lost, const struct cgroup *cgroup);

void on_lost_kill(const struct on_lost *on_lost);

#endif
