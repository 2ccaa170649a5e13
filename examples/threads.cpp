/* Four threads that share one client, in C++.  A function that needs the lock takes it, also if its
 * caller holds it already: the lock is reentrant.  The masters: REDLOCK_NODES. */
#include <atomic>
#include <cstdio>
#include <err.h>
#include <redlock.h>
#include <stdexcept>
#include <thread>

static std::atomic<bool> lost;
static int number; /* only a thread that holds the lock touches it */

/* Runs on the background thread, perhaps while another thread is in the middle of a step. */
static void on_event(const redlock_event *event, void *)
{
    lost = lost || event->kind == REDLOCK_LOST;
}

/* The lock, for as long as the object lives; the last object of a thread gives it back. */
struct Lock {
    redlock_sync_lease *lease;
    explicit Lock(redlock_sync *client)
    {
        redlock_lease_options options = {};
        options.size = sizeof options;
        options.wait_ms = 30000;
        options.reentrant = true;
        options.on_event = on_event;
        redlock_sync_result result = {};
        result.size = sizeof result;
        if (redlock_sync_acquire(client, &lease, "number", &options, &result) != REDLOCK_OK)
            throw std::runtime_error(result.text);
    }
    Lock(const Lock &) = delete;
    ~Lock() { redlock_sync_lease_free(lease); }
};

/* One step takes less than 200 ms: none is begun with less validity than that. */
static void add(redlock_sync *client, int steps)
{
    for (Lock lock(client); steps > 0 && redlock_sync_lease_valid_for(lock.lease) > 200; steps--)
        number++;
}

static void work(redlock_sync *client)
try {
    Lock lock(client);
    add(client, 1);
    add(client, 2);
} catch (const std::exception &failure) {
    warnx("%s", failure.what());
}

int main()
{
    char why[256];
    redlock_sync *client;
    if (redlock_sync_open(&client, nullptr, why, sizeof why) != REDLOCK_OK)
        errx(1, "%s", why);
    std::thread threads[4];
    for (auto &thread : threads)
        thread = std::thread(work, client);
    for (auto &thread : threads)
        thread.join();
    redlock_sync_close(client, 1000);
    redlock_sync_free(client);
    std::printf("%d\n", number);
    return lost || number != 12;
}
