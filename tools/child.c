#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "duration.h"
#include "exits.h"
#include "signals.h"

#define LOOK_AT_GROUP_S 0.005

/* ---- In the new process ------------------------------------------------- */

/* Our handlers go, and SIGPIPE and SIGTTOU are no longer ignored; the command ignores what our
 * caller ignored. */
static void restore_signals(void)
{
    struct sigaction plain = {.sa_handler = SIG_DFL};
    sigset_t none;
    for (int number = 1; number <= SIGRTMAX; number++)
        if (!signals_stay_ignored(number))
            sigaction(number, &plain, NULL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Signals are blocked until restore_signals(): our handlers never run here, and
 * tcsetpgrp() from what may be the background does not stop us. */
static void become_command(const struct child *child, char **command, char **environment,
                           int exec_pipe, pid_t parent)
{
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(EXIT_INTERNAL);
    if (child->terminal.eager)
        tcsetpgrp(child->terminal.fd, getpid());
    restore_signals();
    execvpe(command[0], command, environment);
    int error = errno;
    ssize_t told = write(exec_pipe, &error, sizeof(error));
    (void)told;
    _exit(error == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE);
}

/* ---- Its end ------------------------------------------------------------ */

/* No other group can have this id: the kernel gives it to no new process while the group has
 * members, and we look again within milliseconds. */
static bool group_is_gone(const struct child *child)
{
    return kill(-child->pid, 0) < 0 && errno == ESRCH;
}

static void close_descriptors(struct child *child)
{
    alarm_close(&child->killer);
    close(child->exec_pipe);
    if (child->terminal.fd >= 0)
        close(child->terminal.fd);
}

static void finish(struct child *child)
{
    ev_timer_stop(child->loop, &child->group_watcher);
    terminal_take_back(&child->terminal, child->exit_status > EXIT_SIGNAL);
    close_descriptors(child);
    child->ended(child, child->data);
}

static void finish_if_gone(struct child *child)
{
    /* After SIGKILL no process of the group runs; those left wait to be reaped. */
    if (child->reaped && (!child->await_group || child->killed || group_is_gone(child)))
        finish(child);
}

static void on_group_look(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop;
    (void)events;
    finish_if_gone(timer->data);
}

static void kill_group(struct child *child)
{
    child->killed = true;
    kill(-child->pid, SIGKILL);
}

static void on_kill_time(void *data)
{
    struct child *child = data;
    kill_group(child);
    finish_if_gone(child);
}

static void note_end(struct child *child, int wait_status)
{
    child->reaped = true;
    if (WIFSIGNALED(wait_status))
        child->exit_status = EXIT_SIGNAL + WTERMSIG(wait_status);
    else
        child->exit_status = WEXITSTATUS(wait_status);
    ssize_t got = read(child->exec_pipe, &child->exec_errno, sizeof(child->exec_errno));
    if (got != sizeof(child->exec_errno))
        child->exec_errno = 0;
}

/* ---- Stops, as under a shell -------------------------------------------- */

/* The command stopped.  If it only wants the terminal, and that is ours to give,
 * it gets it.  Otherwise (Ctrl-Z) our own group stops as well, for the shell above
 * waits for us; we come back from kill() when it continues us. */
static void on_stopped(struct child *child, int number)
{
    struct terminal *terminal = &child->terminal;
    bool wants_terminal = number == SIGTTIN || number == SIGTTOU;
    if (terminal->fd < 0)
        return;
    if (!wants_terminal || !terminal_is_ours(terminal)) {
        terminal_take_back(terminal, false);
        kill(0, SIGTSTP);
    }
    if (!child->may_go_on(child->data))
        return;
    if (terminal_is_ours(terminal))
        terminal_give(terminal, child->pid);
    child_signal(child, SIGCONT);
}

static void on_child(struct ev_loop *loop, ev_child *watcher, int events)
{
    struct child *child = watcher->data;
    (void)events;
    if (WIFSTOPPED(watcher->rstatus)) {
        on_stopped(child, WSTOPSIG(watcher->rstatus));
        return;
    }
    if (WIFCONTINUED(watcher->rstatus))
        return;
    ev_child_stop(loop, watcher);
    note_end(child, watcher->rstatus);
    finish_if_gone(child);
}

/* ---- What the owner calls ----------------------------------------------- */

void child_signal(const struct child *child, int number)
{
    kill(-child->pid, number);
}

void child_kill_at(struct child *child, int64_t at)
{
    if (at >= child->kill_at)
        return;
    child->kill_at = at;
    if (at <= boot_ms() || !alarm_set(&child->killer, at))
        kill_group(child);
}

void child_end(struct child *child, int64_t kill_at)
{
    if (child->await_group) {
        child_kill_at(child, kill_at);
        return;
    }
    child->await_group = true;
    /* The command's orphans become our children, so that they are reaped, and the group can
     * vanish, where no init does it. */
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    child_signal(child, SIGTERM);
    child_signal(child, SIGCONT);
    child_kill_at(child, kill_at);
    ev_timer_init(&child->group_watcher, on_group_look, LOOK_AT_GROUP_S, LOOK_AT_GROUP_S);
    child->group_watcher.data = child;
    ev_timer_start(child->loop, &child->group_watcher);
}

static void watch(struct child *child)
{
    ev_child_init(&child->end_watcher, on_child, child->pid, 1);
    child->end_watcher.data = child;
    ev_child_start(child->loop, &child->end_watcher);
    ev_timer_init(&child->group_watcher, on_group_look, LOOK_AT_GROUP_S, LOOK_AT_GROUP_S);
}

static pid_t fork_command(struct child *child, char **command, char **environment, int exec_pipe)
{
    sigset_t all;
    sigset_t before;
    pid_t parent = getpid();
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    pid_t pid = fork();
    if (pid == 0)
        become_command(child, command, environment, exec_pipe, parent);
    int error = errno;
    sigprocmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return pid;
}

/* The pipe and the alarm; 0 or an errno. */
static int open_descriptors(struct child *child, int *exec_pipe)
{
    int ends[2];
    int error = alarm_open(&child->killer, child->loop, on_kill_time, child);
    if (error)
        return error;
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0) {
        error = errno;
        alarm_close(&child->killer);
        return error;
    }
    child->exec_pipe = ends[0];
    *exec_pipe = ends[1];
    return 0;
}

int child_start(struct child *child, struct ev_loop *loop, char **command, char **environment)
{
    int exec_pipe = -1;
    child->loop = loop;
    int error = open_descriptors(child, &exec_pipe);
    if (error)
        return error;
    child->kill_at = INT64_MAX;
    terminal_open(&child->terminal);
    child->pid = fork_command(child, command, environment, exec_pipe);
    error = child->pid < 0 ? errno : 0;
    close(exec_pipe);
    if (error) {
        close_descriptors(child);
        return error;
    }
    /* Parent and child both do this, as either may come first. */
    setpgid(child->pid, child->pid);
    if (child->terminal.eager)
        terminal_give(&child->terminal, child->pid);
    watch(child);
    return 0;
}
