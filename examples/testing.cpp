/*
 * testing.cpp - the five tests of testing.c in C++20, of a worker that is a coroutine.  Link it
 * with libredlock-testing in the place of libredlock.
 */
#include <cstdio>
#include <redlock/testing.hpp>
#include <stdexcept>

#define CHECK(what) ((what) ? (void)0 : fail(__LINE__, #what))

static void fail(int line, const char *what)
{
    throw std::logic_error("line " + std::to_string(line) + ": not true: " + what);
}

/* A coroutine that ends with this. */
class task
{
  public:
    struct promise_type {
        task get_return_object() noexcept
        {
            return task(std::coroutine_handle<promise_type>::from_promise(*this));
        }
        std::suspend_never initial_suspend() noexcept { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
        void return_void() noexcept {}
        void unhandled_exception() noexcept { std::terminate(); }
    };
    task() noexcept = default;
    task(task &&from) noexcept : rest_(std::exchange(from.rest_, nullptr)) {}
    task &operator=(task &&from) noexcept
    {
        std::swap(rest_, from.rest_);
        return *this;
    }
    ~task()
    {
        if (rest_)
            rest_.destroy();
    }

  private:
    explicit task(std::coroutine_handle<> rest) noexcept : rest_(rest) {}
    std::coroutine_handle<> rest_;
};

/* ---- what is tested: a worker with a lock, and a store that it writes to ---- */

using namespace std::chrono_literals;
namespace testing = redlocks::testing;

struct store {
    int64_t fence = 0;
    int value = 0;

    bool write(int64_t by, int what)
    {
        if (by < fence)
            return false;
        fence = by;
        value = what;
        return true;
    }
};

struct worker {
    redlocks::loop_client client{redlocks::settings("memory://5")};
    redlocks::loop_lease lease;
    std::error_code why; /* it does not hold the lock */
    bool holds = false;
    task work;

    task hold_until_lost(std::chrono::milliseconds wait)
    {
        auto terms = redlocks::terms().ttl(10s).wait(wait).fenced();
        why = co_await lease.acquire(client, "report", terms);
        holds = !why;
        if (!holds)
            co_return;
        why = co_await lease.lost();
        holds = false; /* it stops here */
    }
    void ask(testing::time &time, std::chrono::milliseconds wait = 0ms)
    {
        work = hold_until_lost(wait);
        time.advance(); /* here it goes on, if there is news */
    }
};

/* Three of five masters hang.  The lease cannot be renewed, and LOST comes while it is still valid:
 * the margin, of ttl/20, before its end. */
static void lost_comes_in_time(testing::time &time)
{
    worker worker;
    worker.ask(time);
    CHECK(worker.holds && worker.lease.valid_for() == 10s - 100ms - 2ms);
    for (unsigned master = 0; master < 3; master++)
        testing::hang(master);
    time.advance(worker.lease.valid_for() - 500ms - 1ms);
    CHECK(worker.holds && worker.lease.valid_for() == 500ms + 1ms);
    time.advance(1ms);
    CHECK(!worker.holds && worker.why == REDLOCK_E_EXPIRED);
}

/* A holder that does not know yet that it has lost the lock writes late. */
static void late_write_is_refused(testing::time &time)
{
    worker former, next;
    store store;
    former.ask(time);
    next.ask(time, redlocks::forever);
    CHECK(former.holds && !next.holds);
    CHECK(store.write(former.lease.fence(), 1));
    testing::take_away("report");
    time.advance();
    CHECK(former.holds && next.holds);
    CHECK(store.write(next.lease.fence(), 2));
    CHECK(!store.write(former.lease.fence(), 3));
    CHECK(store.value == 2);
    time.advance(10s);
    CHECK(!former.holds && former.why == REDLOCK_E_GONE && next.holds);
}

/* Another holder has the lock for a while. */
static void waiter_gets_its_turn(testing::time &time)
{
    worker worker;
    testing::hold("report", 60s);
    worker.ask(time, redlocks::forever);
    time.advance(30s);
    CHECK(!worker.holds);
    testing::give("report");
    time.advance();
    CHECK(worker.holds);
}

/* Two of five masters may be away, and three may not. */
static void quorum_is_gone(testing::time &time)
{
    worker worker;
    testing::kill(0);
    testing::kill(1);
    worker.ask(time);
    CHECK(worker.holds);
    testing::kill(2);
    worker.ask(time);
    time.advance(10s);
    CHECK(!worker.holds && worker.why == REDLOCK_E_UNAVAILABLE);
    testing::restart(2, testing::data::is_kept);
}

/* All masters start again with nothing.  They give no lock away until each lease that they may have
 * forgotten is over: max_ttl_ms, and what clocks may differ. */
static void restarted_masters_abstain(testing::time &time)
{
    worker former, next;
    former.ask(time);
    for (unsigned master = 0; master < 5; master++)
        testing::restart(master, testing::data::is_lost);
    time.advance(1s);
    next.ask(time);
    time.advance(1s);
    CHECK(!next.holds && next.why == REDLOCK_E_UNAVAILABLE);
    time.advance(35s);
    next.ask(time);
    CHECK(next.holds && !former.holds);
}

int main()
try {
    for (auto test : {lost_comes_in_time, late_write_is_refused, waiter_gets_its_turn,
                      quorum_is_gone, restarted_masters_abstain}) {
        testing::virtual_time time;
        test(time);
    }
    std::puts("all five are right");
    return 0;
} catch (const std::exception &failure) {
    std::fprintf(stderr, "after %lld ms: %s\n", (long long)redlock_testing_now_ms(),
                 failure.what());
    return 1;
}
