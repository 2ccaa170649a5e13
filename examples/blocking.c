/* Ten steps of work under a lock, in a thread that waits.  The masters: REDLOCK_NODES. */
#include <err.h>
#include <redlock.h>
#include <stdio.h>
#include <unistd.h>

static int steps = 10;

/* One step takes less than 200 ms: none is begun with less validity than that.  A lease that is
 * lost is valid for 0 ms. */
static void work(const redlock_sync_lease *lease)
{
    while (steps > 0 && redlock_sync_lease_valid_for(lease) > 200) {
        printf("%d to go, valid for %lld ms\n", steps--,
               (long long)redlock_sync_lease_valid_for(lease));
        usleep(100000);
    }
}

int main(void)
{
    char why[256];
    redlock_sync *client;
    redlock_sync_lease *lease;
    /* Another holder's turn may come first. */
    redlock_lease_options options = {.size = sizeof options, .wait_ms = 30000};
    redlock_sync_result result = {.size = sizeof result};
    if (redlock_sync_open(&client, NULL, why, sizeof why) != REDLOCK_OK)
        errx(1, "%s", why);
    if (redlock_sync_acquire(client, &lease, "ten-steps", &options, &result) == REDLOCK_OK) {
        work(lease);
        redlock_sync_lease_release(lease, &result);
        redlock_sync_lease_free(lease);
    }
    printf("%s\n%s", result.text, result.votes);
    redlock_sync_close(client, 1000);
    redlock_sync_free(client);
    return steps > 0;
}
