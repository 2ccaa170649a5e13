#include "alarm.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/timerfd.h>
#include <unistd.h>

static void on_time(struct ev_loop *loop, ev_io *watcher, int events)
{
    struct alarm *alarm = watcher->data;
    (void)events;
    ev_io_stop(loop, watcher);
    alarm->rang(alarm->data);
}

int alarm_open(struct alarm *alarm, struct ev_loop *loop, void (*rang)(void *data), void *data)
{
    *alarm = (struct alarm){.loop = loop, .rang = rang, .data = data};
    alarm->fd = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
    if (alarm->fd < 0)
        return errno;
    ev_io_init(&alarm->watcher, on_time, alarm->fd, EV_READ);
    alarm->watcher.data = alarm;
    return 0;
}

bool alarm_set(struct alarm *alarm, int64_t at)
{
    /* 0 would disarm the timer. */
    struct itimerspec when = {
        .it_value = {.tv_sec = at / 1000, .tv_nsec = at % 1000 * 1000000 + 1}};
    if (timerfd_settime(alarm->fd, TFD_TIMER_ABSTIME, &when, NULL) < 0)
        return false;
    ev_io_start(alarm->loop, &alarm->watcher);
    return true;
}

void alarm_close(struct alarm *alarm)
{
    ev_io_stop(alarm->loop, &alarm->watcher);
    close(alarm->fd);
}
