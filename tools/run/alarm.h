/*
 * alarm.h - an alarm on CLOCK_BOOTTIME, which counts the time that the machine slept; libev's
 * timers do not.
 */
#ifndef REDLOCK_TOOLS_ALARM_H
#define REDLOCK_TOOLS_ALARM_H

#include <ev.h>
#include <stdbool.h>
#include <stdint.h>

struct alarm {
    struct ev_loop *loop;
    int fd; /* timerfd */
    ev_io watcher;
    void (*rang)(void *data);
    void *data;
};

/* Returns 0 or an errno; then nothing is left to close. */
int alarm_open(struct alarm *alarm, struct ev_loop *loop, void (*rang)(void *data), void *data);

/* Sets the alarm to that time of boot_ms(), in place of the time set before.  False: it cannot. */
bool alarm_set(struct alarm *alarm, int64_t at);

void alarm_close(struct alarm *alarm);

#endif
