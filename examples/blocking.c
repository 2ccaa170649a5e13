/* Ten steps of work under a lock, in a thread that waits.  The masters: REDLOCK_NODES. */
#include <redlock/sync.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

static int steps = 10;

/* Runs on the background thread, perhaps while the other thread is in the middle of a step. */
static void on_event(const redlock_event *event, void *lost)
{
    fprintf(stderr, "%s: %s\n", redlock_event_name(event->kind), event->text);
    if (event->kind == REDLOCK_LOST)
        atomic_store((atomic_bool *)lost, true);
}

/* One step takes less than 200 ms: none is begun with less validity than that. */
static void work(const redlock_sync_lease *lease, const atomic_bool *lost)
{
    while (steps > 0 && redlock_sync_lease_valid_for(lease) > 200) {
        printf("%d to go, valid for %lld ms\n", steps--,
               (long long)redlock_sync_lease_valid_for(lease));
        for (int i = 0; i < 10 && !atomic_load(lost); i++)
            usleep(10000);
    }
}

int main(void)
{
    char why[256];
    atomic_bool lost = false;
    redlock_sync *client;
    redlock_sync_lease *lease;
    redlock_lease_options options = {.size = sizeof options};
    redlock_sync_result result = {.size = sizeof result};
    if (redlock_sync_open(&client, NULL, why, sizeof why) != REDLOCK_OK) {
        fprintf(stderr, "%s\n", why);
        return 1;
    }
    options.wait_ms = 30000; /* another holder's turn may come first */
    options.on_event = on_event;
    options.data = &lost;
    if (redlock_sync_acquire(client, &lease, "ten-steps", &options, &result) == REDLOCK_OK) {
        work(lease, &lost);
        redlock_sync_lease_release(lease, &result);
        redlock_sync_lease_free(lease);
    }
    printf("%s\n%s", result.text, result.votes);
    redlock_sync_close(client, 1000);
    redlock_sync_free(client);
    return steps > 0;
}
