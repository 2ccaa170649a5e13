/*
 * signals.h - the signals that ask us to stop.
 */
#ifndef REDLOCK_TOOLS_SIGNALS_H
#define REDLOCK_TOOLS_SIGNALS_H

#include <ev.h>
#include <stdbool.h>

/* Once, first of all: SIGPIPE and SIGTTOU are ignored from now on, for a broken
 * pipe or a background group must not end or stop a holder. */
void signals_start(void);

/* Was it ignored when we were started?  nohup, and a shell that starts something
 * in the background, do that; we and the command keep to it. */
bool signals_stay_ignored(int number);

#define STOP_SIGNALS 4

struct stops {
    ev_signal watchers[STOP_SIGNALS];
    void (*told)(void *data, int number);
    void *data;
};

/* Calls `told` for each SIGHUP, SIGINT, SIGQUIT and SIGTERM from now on.  Does
 * not keep the loop alive. */
void stops_watch(struct stops *stops, struct ev_loop *loop, void (*told)(void *data, int number),
                 void *data);

#endif
