#include "signals.h"

#include <signal.h>
#include <stddef.h>

static const int stop_signals[STOP_SIGNALS] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM};
static bool stay_ignored[STOP_SIGNALS];

void signals_start(void)
{
    for (int i = 0; i < STOP_SIGNALS; i++) {
        struct sigaction now;
        stay_ignored[i] = sigaction(stop_signals[i], NULL, &now) == 0 && now.sa_handler == SIG_IGN;
    }
    signal(SIGPIPE, SIG_IGN);
    signal(SIGTTOU, SIG_IGN);
}

bool signals_stay_ignored(int number)
{
    for (int i = 0; i < STOP_SIGNALS; i++) {
        if (stop_signals[i] == number) {
            return stay_ignored[i];
        }
    }
    return false;
}

static void on_signal(struct ev_loop *loop, ev_signal *watcher, int events)
{
    (void)loop;
    (void)events;
    struct stops *stops = watcher->data;
    stops->told(stops->data, watcher->signum);
}

void stops_watch(struct stops *stops, struct ev_loop *loop, void (*told)(void *data, int number),
                 void *data)
{
    stops->told = told;
    stops->data = data;
    for (int i = 0; i < STOP_SIGNALS; i++) {
        if (!stay_ignored[i]) {
            ev_signal_init(&stops->watchers[i], on_signal, stop_signals[i]);
            stops->watchers[i].data = stops;
            ev_signal_start(loop, &stops->watchers[i]);
            ev_unref(loop);
        }
    }
}
