#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "duration.h"
#include "exits.h"

#define LOOK_AT_ORPHANS_S 0.005
#define START_MS          5000

/* ---- Its end ------------------------------------------------------------ */

static void close_if_open(int *descriptor)
{
    if (*descriptor >= 0)
        close(*descriptor);
    *descriptor = -1;
}

static void close_ours(struct child *child)
{
    alarm_close(&child->killer);
    close_if_open(&child->exec_pipe);
    close_if_open(&child->socket);
    close_if_open(&child->terminal.fd);
    cgroup_remove(&child->cgroup);
    if (child->board)
        guardian_board_free(child->board);
    child->board = NULL;
}

static void finish(struct child *child)
{
    ev_io_stop(child->loop, &child->news_watcher);
    ev_timer_stop(child->loop, &child->news_timer);
    ev_child_stop(child->loop, &child->orphan_watcher);
    ev_timer_stop(child->loop, &child->orphans_watcher);
    terminal_take_back(&child->terminal, child->exit_status > EXIT_SIGNAL);
    close_ours(child);
    child->ended_all(child, child->data);
}

static void note_end(struct child *child, int wait_status)
{
    child->ended = true;
    if (WIFSIGNALED(wait_status))
        child->exit_status = EXIT_SIGNAL + WTERMSIG(wait_status);
    else
        child->exit_status = WEXITSTATUS(wait_status);
    ssize_t got = read(child->exec_pipe, &child->exec_errno, sizeof(child->exec_errno));
    if (got != sizeof(child->exec_errno))
        child->exec_errno = 0;
    if (!child->await_all)
        terminal_take_back(&child->terminal, child->exit_status > EXIT_SIGNAL);
}

/* ---- Without the guardian ----------------------------------------------- */

/* All that it leaves become our children. */
static struct signalled kill_orphans(struct child *child)
{
    struct signalled group = {0};
    if (!child->ended)
        group = group_signal(child->pid, SIGKILL);
    if (child->orders.leave_children)
        return group;
    cgroup_kill(&child->cgroup);
    return tree_kill(getpid());
}

static bool has_children(void)
{
    siginfo_t facts;
    return waitid(P_ALL, 0, &facts, WEXITED | WNOHANG | WNOWAIT) == 0 || errno != ECHILD;
}

static bool none_is_left(const struct child *child, struct signalled last)
{
    if (!child->ended)
        return false;
    bool none_seen = last.reached == 0 && last.refused == 0;
    return child->orders.leave_children || !has_children() || (child->has_others && none_seen);
}

static bool orphans_are_gone(struct child *child)
{
    struct signalled last = kill_orphans(child);
    bool none = none_is_left(child, last);
    child->left = none ? 0 : last.refused;
    child->one_left = last.one_refused;
    return none ||
           (last.reached == 0 && last.refused > 0 && !watchdog_is_open(&child->orders.watchdog) &&
            (child->ended || boot_ms() >= child->lease_end));
}

static void on_orphans_look(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct child *child = timer->data;
    (void)loop;
    (void)events;
    if (!orphans_are_gone(child))
        return;
    child->gone_at = boot_ms();
    finish(child);
}

static void on_orphan(struct ev_loop *loop, ev_child *watcher, int events)
{
    struct child *child = watcher->data;
    (void)loop;
    (void)events;
    if (!child->ended && !WIFSTOPPED(watcher->rstatus) && !WIFCONTINUED(watcher->rstatus))
        note_end(child, watcher->rstatus);
}

static void be_alone(struct child *child)
{
    child->unguarded = true;
    ev_io_stop(child->loop, &child->news_watcher);
    ev_timer_stop(child->loop, &child->news_timer);
    kill_orphans(child);
    ev_timer_start(child->loop, &child->orphans_watcher);
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

/* ---- News of the guardian ----------------------------------------------- */

/* A group that is gone must get no signal: its id may be another's.  The board is read once more
 * after the command's end. */
static void read_board(struct child *child)
{
    struct guardian_board *board = child->board;
    bool ended = atomic_load(&board->ended);
    child->acted = atomic_load(&board->acted);
    child->killed |= atomic_load(&board->killed);
    child->asked_rest = atomic_load(&board->asked_rest);
    child->killed_rest = atomic_load(&board->killed_rest);
    child->on_lost = atomic_load(&board->on_lost);
    child->on_lost_ended = atomic_load(&board->on_lost_ended);
    child->on_lost_status = atomic_load(&board->on_lost_status);
    if (!child->ended && ended)
        note_end(child, atomic_load(&board->wait_status));
}

/* False: the guardian is gone. */
static bool take_bytes(int socket)
{
    char bytes[64];
    ssize_t got;
    while ((got = recv(socket, bytes, sizeof(bytes), MSG_DONTWAIT)) > 0)
        ;
    return got < 0 && (errno == EAGAIN || errno == EINTR);
}

static void all_are_gone(struct child *child)
{
    child->gone_at = atomic_load(&child->board->gone_at);
    child->left = atomic_load(&child->board->left);
    child->one_left = atomic_load(&child->board->one_left);
    child->stays_armed = atomic_load(&child->board->stays_armed);
    finish(child);
}

static void on_news_time(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct child *child = timer->data;
    (void)loop;
    (void)events;
    int stopped_by = atomic_exchange(&child->board->stopped_by, 0);
    /* Then what the board says is all that there is to say. */
    bool gone = atomic_load(&child->board->gone);
    read_board(child);
    if (gone)
        all_are_gone(child);
    else if (stopped_by && !child->ended)
        on_stopped(child, stopped_by);
}

/* When we have been stopped, what the masters and the clock say comes first: the library's turn is
 * before the timer's.  A guardian that was killed is noticed at once, before the command's end is:
 * while the command is not known to have ended, its group may get a signal. */
static void on_news(struct ev_loop *loop, ev_io *watcher, int events)
{
    struct child *child = watcher->data;
    (void)events;
    bool guarded = take_bytes(child->socket);
    if (guarded || atomic_load(&child->board->gone)) {
        ev_timer_start(loop, &child->news_timer);
        return;
    }
    read_board(child);
    be_alone(child);
}

static void ring(const struct child *child)
{
    send(child->socket, "", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* ---- SIGKILL ------------------------------------------------------------ */

/* The guardian does the same at the same time; but it may be stopped. */
static void kill_all(struct child *child)
{
    read_board(child);
    if (!child->ended) {
        child->killed = true;
        group_signal(child->pid, SIGKILL);
    }
    if (child->unguarded || atomic_load(&child->board->gone))
        return;
    if (!child->orders.leave_children) {
        cgroup_kill(&child->cgroup);
        tree_kill(child->guardian);
    }
    kill(child->guardian, SIGCONT);
}

static void on_kill_time(void *data)
{
    kill_all(data);
}

/* ---- What the owner calls ----------------------------------------------- */

void child_lease_ends(struct child *child, int64_t lease_end)
{
    child->lease_end = lease_end;
    atomic_store(&child->board->lease_end, lease_end);
}

void child_lease_is_gone(struct child *child)
{
    atomic_store(&child->board->taken, true);
}

void child_signal(struct child *child, int number)
{
    read_board(child);
    if (!child->ended)
        kill(-child->pid, number);
}

static bool plan_kill(struct child *child, int64_t at)
{
    if (at >= child->kill_at)
        return false;
    child->kill_at = at;
    atomic_store(&child->board->kill_at, at);
    return true;
}

static void await_kill(struct child *child)
{
    if (child->kill_at <= boot_ms() || !alarm_set(&child->killer, child->kill_at))
        kill_all(child);
    ring(child);
}

void child_kill_at(struct child *child, int64_t at)
{
    if (plan_kill(child, at))
        await_kill(child);
}

void child_end(struct child *child, int64_t kill_at)
{
    read_board(child);
    /* First, so that the guardian runs --on-lost while there is time. */
    bool sooner = plan_kill(child, kill_at);
    if (!child->await_all && !child->acted) {
        atomic_store(&child->board->asked, true);
        child_signal(child, SIGTERM);
        child_signal(child, SIGCONT);
    }
    child->await_all = true;
    if (sooner)
        await_kill(child);
    else
        ring(child);
}

static void watch(struct child *child)
{
    ev_io_init(&child->news_watcher, on_news, child->socket, EV_READ);
    ev_set_priority(&child->news_watcher, EV_MAXPRI);
    child->news_watcher.data = child;
    ev_timer_init(&child->news_timer, on_news_time, 0., 0.);
    child->news_timer.data = child;
    ev_io_start(child->loop, &child->news_watcher);
    ev_child_init(&child->orphan_watcher, on_orphan, child->pid, 0);
    child->orphan_watcher.data = child;
    ev_child_start(child->loop, &child->orphan_watcher);
    ev_timer_init(&child->orphans_watcher, on_orphans_look, LOOK_AT_ORPHANS_S, LOOK_AT_ORPHANS_S);
    child->orphans_watcher.data = child;
}

/* ---- Start -------------------------------------------------------------- */

/* The ends that the guardian and the command have. */
struct far_ends {
    int socket, exec_pipe;
};

static void close_far(struct far_ends *far)
{
    close_if_open(&far->socket);
    close_if_open(&far->exec_pipe);
}

static bool open_pair(int *ours, int *theirs, bool is_pipe)
{
    int ends[2];
    int done = is_pipe ? pipe2(ends, O_CLOEXEC | O_NONBLOCK)
                       : socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends);
    if (done < 0)
        return false;
    *ours = ends[0];
    *theirs = ends[1];
    return true;
}

/* 0 or an errno; then what was opened is closed. */
static int open_all(struct child *child, struct far_ends *far, int64_t lease_end)
{
    child->socket = child->exec_pipe = child->terminal.fd = child->cgroup.folder = -1;
    int error = alarm_open(&child->killer, child->loop, on_kill_time, child);
    if (error)
        return error;
    if (!open_pair(&child->exec_pipe, &far->exec_pipe, true) ||
        !open_pair(&child->socket, &far->socket, false) ||
        !(child->board = guardian_board_make(lease_end))) {
        error = errno;
        close_far(far);
        close_ours(child);
        return error;
    }
    terminal_open(&child->terminal);
    if (!child->orders.leave_children)
        cgroup_make(&child->cgroup);
    return 0;
}

/* The guardian says which process the command is; 0 or an errno. */
static int await_command(struct child *child)
{
    struct pollfd news = {.fd = child->socket, .events = POLLIN};
    int64_t deadline = boot_ms() + START_MS;
    int command;
    while ((command = atomic_load(&child->board->command)) == 0) {
        int64_t left = deadline - boot_ms();
        int ready = left > 0 ? poll(&news, 1, (int)left) : 0;
        bool ended = ready > 0 && news.revents & POLLHUP;
        if (ready == 0 || (ended && atomic_load(&child->board->command) == 0))
            return ready == 0 ? ETIMEDOUT : ECHILD;
    }
    child->pid = command;
    return command < 0 ? -command : 0;
}

static int start_guardian(struct child *child, char **command, char **environment,
                          struct far_ends *far)
{
    struct spawn how = {.command = command,
                        .environment = environment,
                        .terminal = &child->terminal,
                        .cgroup = &child->cgroup,
                        .exec_pipe = far->exec_pipe};
    /* If the guardian is killed, its children become ours.  We may have had others from before the
     * exec of `redlock`. */
    child->has_others = has_children();
    if (child->has_others)
        tree_leave_out_children(getpid());
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    child->guardian = guardian_start(&child->orders, child->board, &how, far->socket);
    int error = child->guardian < 0 ? errno : 0;
    close_far(far);
    if (!error) {
        error = await_command(child);
        if (error)
            kill(child->guardian, SIGKILL);
    }
    return error;
}

int child_start(struct child *child, struct ev_loop *loop, char **command, char **environment,
                int64_t lease_end)
{
    struct far_ends far = {-1, -1};
    child->loop = loop;
    child->kill_at = INT64_MAX;
    child->lease_end = lease_end;
    int error = open_all(child, &far, lease_end);
    if (error)
        return error;
    error = start_guardian(child, command, environment, &far);
    if (error) {
        close_ours(child);
        return error;
    }
    if (child->terminal.eager)
        terminal_give(&child->terminal, child->pid);
    watch(child);
    return 0;
}
