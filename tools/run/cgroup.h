/*
 * cgroup.h - a cgroup for the command, whose processes are killed as one, whatever their user.
 *
 * There is one only where we may make cgroups: ours was delegated (Delegate= of systemd), or is the
 * root of all that we see.  Elsewhere cgroups belong to the service manager.
 */
#ifndef REDLOCK_TOOLS_CGROUP_H
#define REDLOCK_TOOLS_CGROUP_H

#include <limits.h>

struct cgroup {
    int folder; /* -1: there is none */
    char path[PATH_MAX];
};

void cgroup_make(struct cgroup *cgroup);

/* Kills all that are in it, with those that they fork meanwhile. */
void cgroup_kill(const struct cgroup *cgroup);

/* Once no process is in it. */
void cgroup_remove(struct cgroup *cgroup);

#endif
