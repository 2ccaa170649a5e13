#include "spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "exits.h"
#include "signals.h"

#define INTO_CGROUP UINT64_C(0x200000000) /* CLONE_INTO_CGROUP */

void spawn_restore_signals(void)
{
    struct sigaction plain = {.sa_handler = SIG_DFL};
    sigset_t none;
    for (int number = 1; number <= SIGRTMAX; number++)
        if (!signals_stay_ignored(number))
            sigaction(number, &plain, NULL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

static void read_nothing(void)
{
    close(STDIN_FILENO);
    (void)!open("/dev/null", O_RDONLY); /* the lowest descriptor: 0 */
}

/* Signals are blocked until spawn_restore_signals(): our handlers never run here, and
 * tcsetpgrp() from what may be the background does not stop us. */
static void become_command(const struct spawn *how, pid_t parent)
{
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(EXIT_INTERNAL);
    if (how->terminal->eager)
        tcsetpgrp(how->terminal->fd, getpid());
    if (how->reads_nothing)
        read_nothing();
    spawn_restore_signals();
    execvpe(how->command[0], how->command, how->environment);
    int error = errno;
    ssize_t told = write(how->exec_pipe, &error, sizeof(error));
    (void)told;
    _exit(error == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE);
}

/* Born in the cgroup, as to move there later would take the kernel milliseconds.  A kernel or a
 * sandbox may not know this call, or not let us in. */
static pid_t fork_into(const struct cgroup *cgroup)
{
#ifdef SYS_clone3
    struct {
        uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls, set_tid,
            set_tid_size, cgroup;
    } how = {.flags = INTO_CGROUP, .exit_signal = SIGCHLD, .cgroup = (uint64_t)cgroup->folder};
    if (cgroup->folder >= 0) {
        long pid = syscall(SYS_clone3, &how, sizeof(how));
        if (pid >= 0)
            return (pid_t)pid;
    }
#endif
    return fork();
}

pid_t spawn(const struct spawn *how)
{
    pid_t parent = getpid();
    pid_t pid = fork_into(how->cgroup);
    if (pid == 0)
        become_command(how, parent);
    if (pid > 0) /* parent and child both do this, as either may come first */
        setpgid(pid, pid);
    return pid;
}
