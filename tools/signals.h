/*
 * signals.h - what we do with each signal.
 *
 * No signal that can be caught ends us at once: the command must end and the lock be released
 * first.  `redlock run` passes such a signal on to its command.
 */
#ifndef REDLOCK_TOOLS_SIGNALS_H
#define REDLOCK_TOOLS_SIGNALS_H

#include <ev.h>
#include <signal.h>
#include <stdbool.h>

/* Called once, first of all: ignores SIGPIPE and SIGTTOU, as a broken pipe must not end a
 * holder, nor the terminal stop one in the background. */
void signals_start(void);

/* Was the signal ignored when we were started, as by nohup, or by a shell that starts a process
 * in the background?  It stays ignored by us and the command. */
bool signals_stay_ignored(int number);

/* SIGINT, SIGQUIT, SIGTERM: a command that does not end then is killed.  Of other signals the
 * command decides: SIGHUP often means "read your settings again". */
bool signal_asks_for_end(int number);

/* A signal that only means something to the running command; without one it is ignored. */
bool signal_is_message(int number);

struct signals {
    ev_signal watchers[_NSIG];
    void (*told)(void *data, int number);
    void *data;
};

/* Calls `told` for each signal that could end us, and SIGWINCH, from now on.  Does
 * not keep the loop alive. */
void signals_watch(struct signals *signals, struct ev_loop *loop,
                   void (*told)(void *data, int number), void *data);

#endif
