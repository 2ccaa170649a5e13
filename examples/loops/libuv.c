/* Ten steps of work under a lock, on libuv.  The masters: REDLOCK_NODES. */
#include <err.h>
#include <redlock.h>
#include <stdio.h>
#include <uv.h>

static int steps = 10;
static uv_poll_t ready;
static uv_timer_t timer;

/* One step takes less than 200 ms: none is begun with less validity than that. */
static void work(uv_timer_t *of)
{
    redlock_lease *lease = of->data;
    if (redlock_lease_valid_for(lease) > 200 && steps > 0) {
        printf("%d to go, valid for %lld ms\n", steps--, (long long)redlock_lease_valid_for(lease));
        return;
    }
    uv_timer_stop(of);
    redlock_lease_release(lease); /* also when it was lost: RELEASED ends every lease */
}

static void on_event(redlock_lease *lease, const redlock_event *event, void *data)
{
    (void)data;
    printf("%s: %s\n", redlock_event_name(event->kind), event->text);
    if (event->kind == REDLOCK_ACQUIRED) {
        timer.data = lease;
        uv_timer_start(&timer, work, 0, 100);
    } else if (event->kind == REDLOCK_RELEASED || event->kind == REDLOCK_NOT_ACQUIRED) {
        redlock_lease_free(lease);
        uv_poll_stop(&ready); /* nothing is left to wait for: uv_run() returns */
    }
}

static void on_ready(uv_poll_t *of, int status, int events)
{
    (void)status, (void)events;
    redlock_process(of->data);
}

int main(void)
{
    char why[256];
    redlock *client;
    redlock_lease *lease;
    if (redlock_open(&client, NULL, NULL, why, sizeof why) != REDLOCK_OK)
        errx(1, "%s", why);
    uv_timer_init(uv_default_loop(), &timer);
    uv_poll_init(uv_default_loop(), &ready, redlock_fd(client));
    ready.data = client;
    uv_poll_start(&ready, UV_READABLE, on_ready);
    if (redlock_acquire(client, &lease, "ten-steps", NULL, on_event, NULL) == REDLOCK_OK)
        uv_run(uv_default_loop(), UV_RUN_DEFAULT);
    uv_poll_stop(&ready); /* before its descriptor goes */
    redlock_free(client);
    return steps > 0;
}
