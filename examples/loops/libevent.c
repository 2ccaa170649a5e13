/* Ten steps of work under a lock, on libevent, which is linked first: libev, which redlock brings,
 * has functions of the same names.  The masters: REDLOCK_NODES. */
#include <err.h>
#include <event2/event.h>
#include <redlock.h>
#include <stdio.h>

static int steps = 10;
static redlock_lease *held;
static struct event *ready, *timer;

/* One step takes less than 200 ms: none is begun with less validity than that. */
static void work(evutil_socket_t fd, short events, void *data)
{
    (void)fd, (void)events, (void)data;
    if (redlock_lease_valid_for(held) > 200 && steps > 0) {
        printf("%d to go, valid for %lld ms\n", steps--, (long long)redlock_lease_valid_for(held));
        return;
    }
    event_del(timer);
    redlock_lease_release(held); /* also when it was lost: RELEASED ends every lease */
}

static void on_event(redlock_lease *lease, const redlock_event *event, void *data)
{
    (void)data;
    printf("%s: %s\n", redlock_event_name(event->kind), event->text);
    if (event->kind == REDLOCK_ACQUIRED) {
        held = lease;
        event_add(timer, &(struct timeval){.tv_usec = 100000});
    } else if (event->kind == REDLOCK_RELEASED || event->kind == REDLOCK_NOT_ACQUIRED) {
        redlock_lease_free(lease);
        event_del(ready); /* nothing is left to wait for: event_base_dispatch() returns */
    }
}

static void on_ready(evutil_socket_t fd, short events, void *client)
{
    (void)fd, (void)events;
    redlock_process(client);
}

int main(void)
{
    char why[256];
    redlock *client;
    redlock_lease *lease;
    if (redlock_open(&client, NULL, NULL, why, sizeof why) != REDLOCK_OK)
        errx(1, "%s", why);
    struct event_base *base = event_base_new();
    timer = event_new(base, -1, EV_PERSIST, work, NULL);
    ready = event_new(base, redlock_fd(client), EV_READ | EV_PERSIST, on_ready, client);
    event_add(ready, NULL);
    if (redlock_acquire(client, &lease, "ten-steps", NULL, on_event, NULL) == REDLOCK_OK)
        event_base_dispatch(base);
    event_free(ready);
    redlock_free(client);
    event_free(timer);
    return event_base_free(base), steps > 0;
}
