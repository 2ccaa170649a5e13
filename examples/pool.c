/* A pool of four workers: as many processes as you like, on any hosts, of which four work at once.
 * The others wait, and one of them goes on where a worker ends or dies.  The slot of its permit is
 * the worker's number, which no other worker has: of twelve pieces of work, worker w does w, w + 4
 * and w + 8.  So it could choose a port, or a folder.  The masters: REDLOCK_NODES. */
#include <err.h>
#include <redlock.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#define WORKERS 4
#define PIECES  12

/* One piece takes less than this, so none is begun with less validity. */
#define PIECE_MS 200

/* Runs on the background thread, perhaps while the other thread is in the middle of a piece. */
static void on_event(const redlock_event *event, void *lost)
{
    if (event->kind == REDLOCK_LOST)
        atomic_store((atomic_bool *)lost, true);
}

static bool work(const redlock_sync_lease *permit, const atomic_bool *lost)
{
    int worker = redlock_sync_lease_slot(permit), piece = worker;
    for (; piece < PIECES && redlock_sync_lease_valid_for(permit) > PIECE_MS; piece += WORKERS) {
        printf("worker %d of %d: piece %d\n", worker, WORKERS, piece);
        for (int i = 0; i < 10 && !atomic_load(lost); i++)
            usleep(PIECE_MS * 1000 / 20);
    }
    return piece >= PIECES && !atomic_load(lost);
}

static bool work_in_turn(redlock_sync *client)
{
    atomic_bool lost = false;
    redlock_sync_lease *permit;
    redlock_lease_options options = {.size = sizeof options,
                                     .permits = WORKERS, /* the same in all processes */
                                     .wait_ms = REDLOCK_FOREVER,
                                     .on_event = on_event,
                                     .data = &lost};
    redlock_sync_result result = {.size = sizeof result};
    if (redlock_sync_acquire(client, &permit, "pool", &options, &result) != REDLOCK_OK) {
        fprintf(stderr, "%s\n%s", result.text, result.votes);
        return false;
    }
    bool done = work(permit, &lost);
    redlock_sync_lease_release(permit, NULL);
    redlock_sync_lease_free(permit);
    return done;
}

int main(void)
{
    char why[256];
    redlock_sync *client;
    if (redlock_sync_open(&client, NULL, why, sizeof why) != REDLOCK_OK)
        errx(1, "%s", why);
    bool done = work_in_turn(client);
    redlock_sync_close(client, 1000);
    redlock_sync_free(client);
    return !done;
}
