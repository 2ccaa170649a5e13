/* Ten steps of work under a lock, on systemd's event loop.  The masters: REDLOCK_NODES. */
#include <err.h>
#include <redlock.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <systemd/sd-event.h>

static int steps = 10;
static sd_event *loop;

/* One step takes less than 200 ms: none is begun with less validity than that. */
static int work(sd_event_source *timer, uint64_t at, void *lease)
{
    if (redlock_lease_valid_for(lease) > 200 && steps > 0) {
        printf("%d to go, valid for %lld ms\n", steps--, (long long)redlock_lease_valid_for(lease));
        sd_event_source_set_time(timer, at + 100000);
        return sd_event_source_set_enabled(timer, SD_EVENT_ONESHOT);
    }
    redlock_lease_release(lease); /* also when it was lost: RELEASED ends every lease */
    return 0;
}

static void on_event(redlock_lease *lease, const redlock_event *event, void *data)
{
    uint64_t now;
    (void)data;
    printf("%s: %s\n", redlock_event_name(event->kind), event->text);
    if (event->kind == REDLOCK_ACQUIRED) {
        sd_event_now(loop, CLOCK_BOOTTIME, &now);
        sd_event_add_time(loop, NULL, CLOCK_BOOTTIME, now, 1000, work, lease);
    } else if (event->kind == REDLOCK_RELEASED || event->kind == REDLOCK_NOT_ACQUIRED) {
        redlock_lease_free(lease);
        sd_event_exit(loop, 0);
    }
}

static int on_ready(sd_event_source *source, int fd, uint32_t events, void *client)
{
    (void)source, (void)fd, (void)events;
    return redlock_process(client) == REDLOCK_OK ? 0 : -1;
}

int main(void)
{
    char why[256];
    redlock *client;
    redlock_lease *lease;
    if (redlock_open(&client, NULL, NULL, why, sizeof why) != REDLOCK_OK)
        errx(1, "%s", why);
    sd_event_default(&loop);
    sd_event_add_io(loop, NULL, redlock_fd(client), EPOLLIN, on_ready, client);
    if (redlock_acquire(client, &lease, "ten-steps", NULL, on_event, NULL) == REDLOCK_OK)
        sd_event_loop(loop);
    sd_event_unref(loop); /* which ends the watching, before the client is freed */
    redlock_free(client);
    return steps > 0;
}
