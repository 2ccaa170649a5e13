/* Ten steps of work under a lock, by a coroutine on Asio.  The masters: REDLOCK_NODES. */
#include <asio.hpp>
#include <cstdio>
#include <redlock.hpp>

using namespace std::chrono_literals;

/* A coroutine that nobody waits for. */
struct task {
    struct promise_type {
        task get_return_object() noexcept { return {}; }
        std::suspend_never initial_suspend() noexcept { return {}; }
        std::suspend_never final_suspend() noexcept { return {}; }
        void return_void() noexcept {}
        void unhandled_exception() noexcept { std::terminate(); }
    };
};

struct wait_a_bit : asio::steady_timer {
    using asio::steady_timer::steady_timer;
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> rest)
    {
        async_wait([rest](std::error_code) { rest.resume(); });
    }
    void await_resume() const noexcept {}
};

/* The client closes the descriptor, so Asio must let go of it. */
struct watched : asio::posix::stream_descriptor {
    redlocks::loop_client &client;
    bool is_over = false;
    watched(asio::io_context &io, redlocks::loop_client &of)
        : asio::posix::stream_descriptor(io, of.fd()), client(of)
    {
    }
    ~watched() { release(); }
    void watch()
    {
        async_wait(
            wait_read,
            [this](std::error_code ended) {
                if (!ended && !client.process() && !is_over)
                    watch();
            });
    }
};

static task work(asio::io_context &io, watched &masters, redlocks::loop_lease &lease, int &steps)
{
    std::error_code failure = co_await lease.acquire(masters.client, "ten-steps");
    while (!failure && steps > 0 && lease.valid_for() > 200ms) {
        std::printf("%d to go\n", steps--);
        co_await wait_a_bit(io, 100ms);
    }
    if (!failure)
        co_await lease.release();
    masters.is_over = true; /* and io.run() returns */
}

int main()
try {
    int steps = 10;
    asio::io_context io;
    redlocks::loop_client client;
    redlocks::loop_lease lease;
    auto tell = [](const redlock_event &event) noexcept {
        std::printf("%s: %s\n", redlock_event_name(event.kind), event.text);
    };
    watched masters(io, client);
    lease.hear(tell);
    work(io, masters, lease, steps);
    masters.watch();
    io.run();
    return steps > 0;
} catch (const std::exception &failure) {
    std::fprintf(stderr, "%s\n", failure.what());
    return 1;
}
