/*
 * tree.h - signals to all that descends from a process, whatever group or session it is in.
 *
 * An orphan stays in the tree where an ancestor is a subreaper.  Nothing is allocated: the guardian
 * calls it after a fork.
 */
#ifndef REDLOCK_TOOLS_TREE_H
#define REDLOCK_TOOLS_TREE_H

#include <sys/types.h>

/* The outcome of a signal to several processes. */
struct signalled {
    unsigned reached;
    unsigned refused; /* they belong to another user */
    pid_t one_refused;
};

/* The children that this process has now, and theirs, are in no tree. */
void tree_leave_out_children(pid_t parent);

/* SIGTERM, and then SIGCONT, to the descendants of `root`, not to itself and not to those groups
 * (0: none).  A process that is forked meanwhile is not asked: it may clean up for a handler. */
struct signalled tree_ask(pid_t root, pid_t but_group, pid_t nor_group);

/* SIGKILL to the descendants of `root`.  It may miss a process forked meanwhile: call it again. */
struct signalled tree_kill(pid_t root);

/* A signal to a group. */
struct signalled group_signal(pid_t group, int number);

#endif
