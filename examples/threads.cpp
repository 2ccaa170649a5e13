/* Four threads that share one client, in C++.  A function that needs the lock takes it, also if its
 * caller holds it already: the lock is reentrant.  The masters: REDLOCK_NODES. */
#include <atomic>
#include <cstdio>
#include <redlock.hpp>
#include <thread>

using namespace std::chrono_literals;

static std::atomic<bool> lost;
static int number; /* only a thread that holds the lock touches it */

/* Runs on the background thread, perhaps while another thread is in the middle of a step. */
static auto on_event = [](const redlock_event &event) noexcept {
    lost = lost || event.kind == REDLOCK_LOST;
};

/* One step takes less than 200 ms: none is begun with less validity than that. */
static void add(redlocks::client &client, int steps)
{
    redlocks::terms terms;
    terms.wait(30s).nested().hear(on_event);
    redlocks::with_lock(client, "number", terms, [&](redlocks::lease &lease) {
        if (steps > 1)
            add(client, steps - 1);
        if (lease.valid_for() > 200ms)
            number++;
    });
}

static void work(redlocks::client &client)
try {
    add(client, 3);
} catch (const redlocks::error &failure) {
    std::fprintf(stderr, "%s\n%s", failure.what(), failure.votes());
}

int main()
try {
    redlocks::client client;
    std::thread threads[4];
    for (auto &thread : threads)
        thread = std::thread(work, std::ref(client));
    for (auto &thread : threads)
        thread.join();
    std::printf("%d\n", number);
    return lost || number != 12;
} catch (const redlocks::error &failure) {
    std::fprintf(stderr, "%s\n", failure.what());
    return 1;
}
