/* Ten steps of work under a lock, on an event loop.  The masters: REDLOCK_NODES. */
#include <err.h>
#include <ev.h>
#include <redlock.h>
#include <stdio.h>

static int steps = 10;

/* One step takes less than 200 ms: none is begun with less validity than that. */
static void work(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)events;
    redlock_lease *lease = timer->data;
    if (redlock_lease_valid_for(lease) > 200 && steps > 0) {
        printf("%d to go, valid for %lld ms\n", steps--, (long long)redlock_lease_valid_for(lease));
        return;
    }
    ev_timer_stop(loop, timer);
    redlock_lease_release(lease); /* also when it was lost: RELEASED ends every lease */
}

static void on_event(redlock_lease *lease, const redlock_event *event, void *data)
{
    ev_timer *timer = data;
    printf("%s: %s\n", redlock_event_name(event->kind), event->text);
    if (event->kind == REDLOCK_ACQUIRED) {
        timer->data = lease;
        ev_timer_start(EV_DEFAULT, timer);
    } else if (event->kind == REDLOCK_RELEASED || event->kind == REDLOCK_NOT_ACQUIRED) {
        redlock_lease_free(lease);
    }
}

int main(void)
{
    char why[256];
    redlock *client;
    redlock_lease *lease;
    ev_timer timer;
    ev_timer_init(&timer, work, 0., 0.1);
    if (redlock_open(&client, EV_DEFAULT, NULL, why, sizeof why) != REDLOCK_OK)
        errx(1, "%s", why);
    if (redlock_acquire(client, &lease, "ten-steps", NULL, on_event, &timer) == REDLOCK_OK)
        ev_run(EV_DEFAULT, 0); /* returns when no lease and no release is left to wait for */
    redlock_free(client);
    return steps > 0;
}
