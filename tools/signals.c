#include "signals.h"

#include <stddef.h>

static bool stay_ignored[_NSIG];

/* Signals that cannot be caught, that end no process, or that stop one: the shell above relies
 * on a stop. */
static bool is_left_alone(int number)
{
    switch (number) {
    case SIGKILL:
    case SIGSTOP:
    case SIGTSTP:
    case SIGTTIN:
    case SIGTTOU:
    case SIGCONT:
    case SIGCHLD:
    case SIGPIPE:
    case SIGURG:
        return true;
    default:
        return number > SIGSYS && number < SIGRTMIN; /* the C library's own */
    }
}

static bool is_fault(int number)
{
    return number == SIGSEGV || number == SIGBUS || number == SIGFPE || number == SIGILL;
}

bool signal_asks_for_end(int number)
{
    return number == SIGINT || number == SIGQUIT || number == SIGTERM;
}

bool signal_is_message(int number)
{
    return number == SIGUSR1 || number == SIGUSR2 || number == SIGWINCH || number >= SIGRTMIN;
}

void signals_start(void)
{
    for (int number = 1; number < _NSIG; number++) {
        struct sigaction now;
        stay_ignored[number] = !is_left_alone(number) && sigaction(number, NULL, &now) == 0 &&
                               now.sa_handler == SIG_IGN;
    }
    signal(SIGPIPE, SIG_IGN);
    signal(SIGTTOU, SIG_IGN);
}

bool signals_stay_ignored(int number)
{
    return stay_ignored[number];
}

static void on_signal(struct ev_loop *loop, ev_signal *watcher, int events)
{
    (void)loop;
    (void)events;
    struct signals *signals = watcher->data;
    signals->told(signals->data, watcher->signum);
}

/* A fault signal from another process is like any other signal.  One from a fault of our own would
 * come back for ever: it ends us, and the kernel ends the command. */
static void on_fault(int number, siginfo_t *facts, void *context)
{
    (void)context;
    if (facts->si_code <= 0)
        ev_feed_signal(number);
    else
        signal(number, SIG_DFL);
}

static void watch(struct signals *signals, struct ev_loop *loop, int number)
{
    struct sigaction fault = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_RESTART};
    ev_signal *watcher = &signals->watchers[number];
    ev_signal_init(watcher, on_signal, number);
    watcher->data = signals;
    ev_signal_start(loop, watcher);
    ev_unref(loop);
    if (is_fault(number))
        sigaction(number, &fault, NULL);
}

void signals_watch(struct signals *signals, struct ev_loop *loop,
                   void (*told)(void *data, int number), void *data)
{
    signals->told = told;
    signals->data = data;
    for (int number = 1; number < _NSIG; number++)
        if (!is_left_alone(number) && !stay_ignored[number])
            watch(signals, loop, number);
}
