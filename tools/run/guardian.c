#include "guardian.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "duration.h"
#include "exits.h"
#include "on_lost.h"
#include "proc.h"
#include "watchdog_times.h"

#define LINGER_MS    200 /* what the command leaves behind has that long to end by itself */
#define LOOK_MS      5
#define LOOK_MOST_MS 1000
#define REAPED_MOST  16 /* in one turn: a fork bomb must not keep it from the rest */
#define KILLS_LEAST  6  /* before it gives up: what cgroup_kill() has reached needs a moment */
#define NEVER        INT64_MAX
#define SPARED       "-1000"

struct guardian {
    const struct guardian_orders *orders;
    struct guardian_board *board;
    struct cgroup cgroup;
    int run, children, timer; /* descriptors; run: -1 when it is gone */
    pid_t command;
    bool childless;
    bool reaps; /* there may be more to reap already */
    bool asked; /* the command's group */
    bool asked_rest;
    int kills;        /* how often it has sent SIGKILL to all */
    int64_t ended_at; /* of the command */
    int64_t kill_at;  /* as planned by us */
    int64_t look_ms;  /* between two looks */
    struct watchdog watchdog;
    int64_t feed_at;
    struct signalled last;
    struct on_lost on_lost;
    char score[8]; /* when memory is short, before it was spared */
};

/* ---- What it knows ------------------------------------------------------ */

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static bool has_ended(const struct guardian *guardian)
{
    return atomic_load(&guardian->board->ended);
}

static bool was_asked(const struct guardian *guardian)
{
    return guardian->asked || atomic_load(&guardian->board->asked);
}

static int64_t lease_end(const struct guardian *guardian)
{
    return atomic_load(&guardian->board->lease_end);
}

static int64_t last_moment(const struct guardian *guardian)
{
    return lease_end(guardian) - guardian->orders->slack_ms;
}

/* No other group can have this id while it has members, and we look again within milliseconds. */
static bool group_is_gone(const struct guardian *guardian)
{
    return kill(-guardian->command, 0) < 0 && errno == ESRCH;
}

/* The rest belongs to other users, whose processes we may not even see.  The command itself is
 * waited for as long as the lease lasts.  A watchdog can do more: it ends them all. */
static bool can_do_no_more(const struct guardian *guardian, int64_t now)
{
    return !watchdog_is_open(&guardian->watchdog) && guardian->kills >= KILLS_LEAST &&
           guardian->last.reached == 0 && (has_ended(guardian) || now >= lease_end(guardian));
}

static bool is_over(const struct guardian *guardian, int64_t now)
{
    if (can_do_no_more(guardian, now))
        return true;
    if (guardian->orders->leave_children)
        /* After SIGKILL no process of the group runs; those left wait to be reaped. */
        return has_ended(guardian) && guardian->on_lost.pid == 0 &&
               (!was_asked(guardian) || guardian->kills > 0 || group_is_gone(guardian));
    return guardian->childless;
}

/* ---- What it tells ------------------------------------------------------ */

static void ring(const struct guardian *guardian)
{
    /* If the socket is full, `run` has bytes to wake up by. */
    if (guardian->run >= 0)
        send(guardian->run, "", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void note_command(struct guardian *guardian, int status)
{
    if (WIFSTOPPED(status)) {
        atomic_store(&guardian->board->stopped_by, WSTOPSIG(status));
    } else {
        guardian->ended_at = boot_ms();
        atomic_store(&guardian->board->wait_status, status);
        atomic_store(&guardian->board->ended, true);
    }
    ring(guardian);
}

static void note_on_lost(struct guardian *guardian, int status)
{
    guardian->on_lost.pid = 0;
    atomic_store(&guardian->board->on_lost_status, status);
    atomic_store(&guardian->board->on_lost_ended, true);
}

static void note_status(struct guardian *guardian, pid_t pid, int status)
{
    if (pid == guardian->command)
        note_command(guardian, status);
    else if (pid == guardian->on_lost.pid && !WIFSTOPPED(status))
        note_on_lost(guardian, status);
}

static void reap(struct guardian *guardian)
{
    int status;
    pid_t pid;
    int reaped = 0;
    while ((pid = waitpid(-1, &status, WNOHANG | WUNTRACED)) > 0) {
        note_status(guardian, pid, status);
        if (++reaped == REAPED_MOST)
            break;
    }
    guardian->reaps = pid > 0;
    guardian->childless = pid < 0 && errno == ECHILD;
}

static unsigned count_left(const struct guardian *guardian)
{
    if (guardian->orders->leave_children)
        return group_is_gone(guardian) ? 0 : guardian->last.refused;
    if (guardian->childless)
        return 0;
    return guardian->last.refused > 0 ? guardian->last.refused : 1;
}

static void tell_gone(const struct guardian *guardian)
{
    struct guardian_board *board = guardian->board;
    atomic_store(&board->gone_at, boot_ms());
    atomic_store(&board->left, guardian->kills > 0 ? count_left(guardian) : 0);
    atomic_store(&board->one_left, guardian->last.one_refused);
    atomic_store(&board->gone, true);
    ring(guardian);
}

/* ---- What it does ------------------------------------------------------- */

static int64_t time_to_ask(const struct guardian *guardian)
{
    bool leave = guardian->orders->leave_children;
    if (has_ended(guardian) && (leave || guardian->asked_rest))
        return NEVER;
    if (has_ended(guardian))
        return was_asked(guardian) ? guardian->ended_at : guardian->ended_at + LINGER_MS;
    if (was_asked(guardian))
        return NEVER;
    return guardian->run < 0 ? 0 : lease_end(guardian) - guardian->orders->ask_before_ms;
}

static int64_t time_to_kill(const struct guardian *guardian)
{
    int64_t planned = smaller(guardian->kill_at, atomic_load(&guardian->board->kill_at));
    return smaller(planned, last_moment(guardian));
}

/* When memory is short the kernel ends somebody larger.  Most users may not say so. */
static void set_score(const char *score)
{
    int file = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (file < 0)
        return;
    ssize_t told = write(file, score, strlen(score));
    (void)told;
    close(file);
}

/* The command and what it left are being ended as the lock is lost, or will be. */
static bool is_to_tell_loss(const struct guardian *guardian, int64_t now)
{
    return guardian->on_lost.command && !guardian->on_lost.started && was_asked(guardian) &&
           now < time_to_kill(guardian);
}

/* It is no better than others when memory is short. */
static void tell_loss(struct guardian *guardian, int64_t now)
{
    if (!is_to_tell_loss(guardian, now))
        return;
    set_score(guardian->score);
    int pid = on_lost_start(&guardian->on_lost, &guardian->cgroup);
    set_score(SPARED);
    atomic_store(&guardian->board->on_lost, pid);
    guardian->childless &= pid < 0;
}

/* Processes that were asked with the command are not asked twice. */
static void ask_rest(struct guardian *guardian)
{
    guardian->last =
        tree_ask(getpid(), was_asked(guardian) ? guardian->command : 0, guardian->on_lost.pid);
    guardian->asked_rest = true;
    atomic_store(&guardian->board->asked_rest, true);
}

static void ask(struct guardian *guardian, int64_t now)
{
    if (has_ended(guardian)) {
        ask_rest(guardian);
    } else {
        group_signal(guardian->command, SIGTERM);
        guardian->asked = true;
        atomic_store(&guardian->board->acted, true);
    }
    guardian->kill_at = smaller(guardian->kill_at, now + guardian->orders->kill_after_ms);
    tell_loss(guardian, now);
    ring(guardian);
}

static void note_kill(struct guardian *guardian)
{
    struct guardian_board *board = guardian->board;
    bool planned = atomic_load(&board->asked) || atomic_load(&board->kill_at) <= boot_ms();
    if (has_ended(guardian)) {
        atomic_store(&board->killed_rest, true);
        return;
    }
    atomic_store(&board->killed, true);
    if (!planned)
        atomic_store(&board->acted, true);
}

static void kill_all(struct guardian *guardian)
{
    if (guardian->kills++ == 0)
        note_kill(guardian);
    if (guardian->orders->leave_children || !has_ended(guardian))
        guardian->last = group_signal(guardian->command, SIGKILL);
    on_lost_kill(&guardian->on_lost);
    if (guardian->orders->leave_children)
        return;
    cgroup_kill(&guardian->cgroup);
    guardian->last = tree_kill(getpid());
}

/* The clock is read for this alone, as late as can be: what was done before may have taken time.
 * `run` renews the lease, and does not tell us each time: it is looked up here. */
static void feed(struct guardian *guardian)
{
    int64_t end = atomic_load(&guardian->board->taken) ? 0 : lease_end(guardian);
    int64_t now = boot_ms();
    if (watchdog_may_feed(now, guardian->watchdog.timeout_ms, end))
        watchdog_feed(&guardian->watchdog);
    guardian->feed_at = now + WATCHDOG_FEED_MS;
}

static void disarm(struct guardian *guardian)
{
    if (watchdog_is_open(&guardian->watchdog))
        atomic_store(&guardian->board->stays_armed, !watchdog_disarm(&guardian->watchdog));
}

/* Returns when there is something to do again. */
static int64_t act(struct guardian *guardian, int64_t now)
{
    bool looks = guardian->orders->leave_children && has_ended(guardian);
    if (now >= time_to_ask(guardian))
        ask(guardian, now);
    if (now >= time_to_kill(guardian)) {
        kill_all(guardian);
        /* A process that the kernel holds does not die sooner if it is killed more often. */
        guardian->look_ms = smaller(2 * guardian->look_ms, LOOK_MOST_MS);
        looks = true;
    }
    if (now >= guardian->feed_at)
        feed(guardian);
    int64_t next = smaller(time_to_ask(guardian), time_to_kill(guardian));
    return smaller(looks ? now + guardian->look_ms : next, guardian->feed_at);
}

/* ---- What it waits for -------------------------------------------------- */

static void set_timer(const struct guardian *guardian, int64_t at)
{
    /* 0 would disarm the timer. */
    struct itimerspec when = {
        .it_value = {.tv_sec = at / 1000, .tv_nsec = at % 1000 * 1000000 + 1}};
    timerfd_settime(guardian->timer, TFD_TIMER_ABSTIME, &when, NULL);
}

static void hear_run(struct guardian *guardian)
{
    char bytes[64];
    ssize_t got;
    if (guardian->run < 0)
        return;
    while ((got = recv(guardian->run, bytes, sizeof(bytes), MSG_DONTWAIT)) > 0)
        ;
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    close(guardian->run);
    guardian->run = -1;
}

static void hear_children(const struct guardian *guardian)
{
    struct signalfd_siginfo facts;
    ssize_t got = read(guardian->children, &facts, sizeof(facts));
    (void)got; /* one reading takes all: a signal is pending once */
}

static void wait_until(struct guardian *guardian, int64_t at)
{
    struct pollfd ready[] = {{.fd = guardian->children, .events = POLLIN},
                             {.fd = guardian->timer, .events = POLLIN},
                             {.fd = guardian->run, .events = POLLIN}};
    set_timer(guardian, at);
    if (poll(ready, 3, -1) < 0)
        return;
    if (ready[0].revents)
        hear_children(guardian);
    if (ready[2].revents)
        hear_run(guardian);
}

/* ---- Its life ----------------------------------------------------------- */

static void be_spared(struct guardian *guardian)
{
    int file = open("/proc/self/oom_score_adj", O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return;
    ssize_t got = read(file, guardian->score, sizeof(guardian->score) - 1);
    (void)got;
    close(file);
    set_score(SPARED);
}

/* All signals are blocked: SIGCHLD is read, and the others never arrive.  0 or an errno. */
static int open_ears(struct guardian *guardian)
{
    sigset_t child;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    guardian->children = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
    guardian->timer =
        guardian->children < 0 ? -1 : timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
    return guardian->timer < 0 ? errno : 0;
}

static void close_the_rest(const struct guardian *guardian)
{
    const int kept[] = {
        guardian->run,         guardian->children, guardian->timer, guardian->cgroup.folder,
        guardian->watchdog.fd, STDOUT_FILENO,      STDERR_FILENO};
    const int count = sizeof(kept) / sizeof(kept[0]);
    proc_close_all_but(kept, guardian->on_lost.command ? count : count - 2);
    /* It becomes descriptor 0: the command alone reads what comes in. */
    if (guardian->on_lost.command)
        (void)!open("/dev/null", O_RDONLY);
}

/* Since the lease was taken the machine may have stood still. */
static bool is_too_late(const struct guardian *guardian)
{
    const struct watchdog *watchdog = &guardian->watchdog;
    if (watchdog_is_open(watchdog) &&
        !watchdog_may_feed(watchdog->fed_at, watchdog->timeout_ms, lease_end(guardian)))
        return true;
    return boot_ms() >= lease_end(guardian) - guardian->orders->ask_before_ms;
}

/* No command without ears, and none that would have to end at once. */
static void start_command(struct guardian *guardian, const struct spawn *how)
{
    int error = open_ears(guardian);
    if (!error && is_too_late(guardian))
        error = ETIME;
    guardian->command = error ? -1 : spawn(how);
    if (!error && guardian->command < 0)
        error = errno;
    atomic_store(&guardian->board->command, error ? -error : guardian->command);
    ring(guardian);
    if (error)
        _exit(EXIT_INTERNAL);
}

static void guard(struct guardian *guardian)
{
    for (;;) {
        reap(guardian);
        int64_t now = boot_ms();
        tell_loss(guardian, now);
        if (is_over(guardian, now))
            return;
        int64_t next = act(guardian, now);
        wait_until(guardian, guardian->reaps ? now : next);
    }
}

static void be_guardian(struct guardian *guardian, const struct spawn *how)
{
    setpgid(0, 0);
    prctl(PR_SET_NAME, "redlock-guard");
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    start_command(guardian, how);
    close_the_rest(guardian);
    be_spared(guardian);
    guard(guardian);
    disarm(guardian);
    hear_run(guardian);
    bool is_orphan = guardian->run < 0;
    tell_gone(guardian);
    cgroup_remove(&guardian->cgroup); /* `run` may be gone, or stopped and then killed */
    if (is_orphan && atomic_load(&guardian->board->left) == 0)
        run_release_become(guardian->orders->release);
    _exit(EXIT_DONE);
}

pid_t guardian_start(const struct guardian_orders *orders, struct guardian_board *board,
                     const struct spawn *how, int run)
{
    struct guardian guardian = {
        .orders = orders,
        .board = board,
        .cgroup = *how->cgroup,
        .run = run,
        .kill_at = NEVER,
        .look_ms = LOOK_MS,
        .watchdog = orders->watchdog,
        .feed_at = watchdog_is_open(&orders->watchdog) ? 0 : NEVER,
        .on_lost = {.command = orders->on_lost, .environment = how->environment}};
    sigset_t all, before;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    pid_t pid = fork();
    if (pid == 0)
        be_guardian(&guardian, how);
    int error = errno;
    sigprocmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return pid;
}

/* ---- The memory that is shared ------------------------------------------ */

struct guardian_board *guardian_board_make(int64_t lease_end)
{
    struct guardian_board *board =
        mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (board == MAP_FAILED)
        return NULL;
    atomic_init(&board->lease_end, lease_end);
    atomic_init(&board->kill_at, NEVER);
    return board;
}

void guardian_board_free(struct guardian_board *board)
{
    munmap(board, sizeof(*board));
}
