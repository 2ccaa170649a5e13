/*
 * proc.h - what /proc tells.  Nothing is allocated: the guardian calls it after a fork.
 */
#ifndef REDLOCK_TOOLS_PROC_H
#define REDLOCK_TOOLS_PROC_H

#include <stdbool.h>
#include <sys/types.h>

struct proc_facts {
    pid_t parent, group;
    bool runs; /* a thread of it does: it is no zombie */
};

/* Are the pids there those that we know processes by?  Not in a new pid namespace that still has
 * the /proc of another. */
bool proc_is_ours(void);

/* Calls `seen` for each entry of the folder that is a number. */
void proc_each(const char *folder, void (*seen)(void *data, int number), void *data);

/* Closes all descriptors of this process but those. */
void proc_close_all_but(const int *kept, int count);

/* False: there is no such process. */
bool proc_facts(pid_t pid, struct proc_facts *facts);

#endif
