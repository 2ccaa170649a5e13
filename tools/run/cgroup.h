/*
 * cgroup.h - a cgroup of the command's own, whose processes are killed as one, and whoever they
 * belong to.
 *
 * It is had where cgroups are ours to make: the cgroup that we are in was delegated (systemd's
 * Delegate=), or is the root of all that we see.  Elsewhere they are the service manager's.
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
