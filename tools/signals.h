/*
 * signals.h - what we do with each signal.
 *
 * None that can be caught ends us at once: a command must be ended and a lock given
 * back first.  For the command of `redlock run` all are meant, and it gets them.
 */
#ifndef REDLOCK_TOOLS_SIGNALS_H
#define REDLOCK_TOOLS_SIGNALS_H

#include <ev.h>
#include <signal.h>
#include <stdbool.h>

/* Once, first of all: SIGPIPE and SIGTTOU are ignored from now on, for a broken
 * pipe or a background group must not end or stop a holder. */
void signals_start(void);

/* Was it ignored when we were started?  nohup, and a shell that starts something
 * in the background, do that; we and the command keep to it. */
bool signals_stay_ignored(int number);

/* SIGINT, SIGQUIT, SIGTERM: who does not end then may be killed.  Others mean what
 * the command makes of them: SIGHUP is "read your settings again" to many. */
bool signal_asks_for_end(int number);

/* For a running command and for nobody else: where there is none, nothing happens. */
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
