#include "on_lost.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>

#include "spawn.h"

int on_lost_start(struct on_lost *on_lost, const struct cgroup *cgroup)
{
    static const struct terminal none = {.fd = -1};
    char *shell[] = {"/bin/sh", "-c", (char *)on_lost->command, NULL};
    struct spawn how = {.command = shell,
                        .environment = on_lost->environment,
                        .terminal = &none,
                        .cgroup = cgroup,
                        .exec_pipe = -1};
    pid_t pid = spawn(&how);
    on_lost->started = true;
    on_lost->pid = pid > 0 ? pid : 0;
    return pid > 0 ? pid : -errno;
}

void on_lost_kill(const struct on_lost *on_lost)
{
    if (on_lost->pid > 0)
        kill(-on_lost->pid, SIGKILL);
}
