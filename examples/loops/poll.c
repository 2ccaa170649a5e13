/* Ten steps of work under a lock, with nothing but poll().  The masters: REDLOCK_NODES. */
#include <err.h>
#include <poll.h>
#include <redlock.h>
#include <stdio.h>

static int steps = 10;
static redlock_lease *held;
static bool over;

static void on_event(redlock_lease *lease, const redlock_event *event, void *data)
{
    (void)data;
    printf("%s: %s\n", redlock_event_name(event->kind), event->text);
    if (event->kind == REDLOCK_ACQUIRED)
        held = lease;
    if (event->kind != REDLOCK_RELEASED && event->kind != REDLOCK_NOT_ACQUIRED)
        return;
    redlock_lease_free(lease);
    over = true;
}

/* One step takes less than 200 ms: none is begun with less validity than that. */
static void work(void)
{
    if (redlock_lease_valid_for(held) > 200 && steps > 0) {
        printf("%d to go, valid for %lld ms\n", steps--, (long long)redlock_lease_valid_for(held));
        return;
    }
    redlock_lease_release(held); /* also when it was lost: RELEASED ends every lease */
    held = NULL;
}

int main(void)
{
    char why[256];
    redlock *client;
    redlock_lease *lease;
    if (redlock_open(&client, NULL, NULL, why, sizeof why) != REDLOCK_OK)
        errx(1, "%s", why);
    over = redlock_acquire(client, &lease, "ten-steps", NULL, on_event, NULL) != REDLOCK_OK;
    struct pollfd ready = {.fd = redlock_fd(client), .events = POLLIN};
    while (!over) {
        int count = poll(&ready, 1, 100);
        if (count > 0 && redlock_process(client) != REDLOCK_OK)
            break;
        if (count == 0 && held)
            work();
    }
    redlock_free(client);
    return steps > 0;
}
