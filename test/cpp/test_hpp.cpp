/*
 * redlock.hpp on real masters, as C++17 and, with requests to stop and coroutines, as C++20.
 */
#include <redlock.hpp>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <new>
#include <poll.h>
#include <stdexcept>
#include <thread>
#include <vector>

extern "C" {
#include "cluster.h"
}

using namespace std::chrono_literals;
using redlocks::client;
using redlocks::lease;
using redlocks::result;
using redlocks::terms;

/* ---- Cases ------------------------------------------------------------------- */

static struct cluster masters;

struct test_case {
    const char *name;
    void (*run)();
};

static std::vector<test_case> &cases()
{
    static std::vector<test_case> all;
    return all;
}

#define CASE(name)                                                                                 \
    static void name();                                                                            \
    static const bool name##_is_added = (cases().push_back({#name, name}), true);                  \
    static void name()

#define CHECK(condition)                                                                           \
    ((condition) ? (void)0 : throw std::logic_error(std::to_string(__LINE__) + ": " #condition))

static constexpr auto patience = 30s;

static void await(const std::function<bool()> &condition, int line)
{
    auto until = std::chrono::steady_clock::now() + patience;
    while (!condition()) {
        if (std::chrono::steady_clock::now() > until)
            throw std::logic_error(std::to_string(line) + ": not in time");
        std::this_thread::sleep_for(5ms);
    }
}
#define AWAIT(condition) await([&] { return static_cast<bool>(condition); }, __LINE__)

template <class F> static redlocks::error thrown_by(F function)
{
    try {
        function();
    } catch (const redlocks::error &error) {
        return error;
    }
    throw std::logic_error("nothing was thrown");
}

/* Counts what C++ allocates; the library allocates in C. */
static thread_local unsigned long allocated;

void *operator new(std::size_t size)
{
    allocated++;
    if (void *memory = std::malloc(size ? size : 1))
        return memory;
    throw std::bad_alloc();
}
void operator delete(void *memory) noexcept
{
    std::free(memory);
}
void operator delete(void *memory, std::size_t) noexcept
{
    std::free(memory);
}

static redlocks::settings patient()
{
    redlocks::settings settings(masters.nodes);
    settings.connect_timeout_ms = settings.request_timeout_ms = 5000;
    return settings;
}

static client open_client()
{
    client client(patient());
    client.ready(patience);
    return client;
}

/* As an operator breaks a lock. */
static void take_away(const char *name)
{
    cluster_tell_all(&masters, "DEL %s", name);
}

/* ---- Handles ------------------------------------------------------------------ */

CASE(a_lock_for_a_step)
{
    client ours = open_client(), theirs = open_client();
    int number = with_lock(ours, "step", [&](lease &lease) {
        CHECK(lease.valid_for() > 1s);
        CHECK(!theirs.try_acquire("step"));
        return 42;
    });
    CHECK(number == 42);
    with_lock(theirs, "step", terms().wait(patience), [](lease &lease) { CHECK(lease); });
    int place = 1;
    int &same =
        with_lock(ours, "step", terms().wait(patience), [&](lease &) -> int & { return place; });
    CHECK(&same == &place);
}

CASE(a_step_that_throws_gives_the_lock_back)
{
    client ours = open_client();
    bool caught = false;
    try {
        with_lock(
            ours, "throws", [](lease &) { throw std::runtime_error("stopped"); });
    } catch (const std::runtime_error &error) {
        caught = std::string(error.what()) == "stopped";
    }
    CHECK(caught);
    CHECK(client(patient()).acquire("throws", terms().wait(patience)));
}

CASE(a_step_whose_lock_was_lost)
{
    client ours = open_client();
    bool ran = false;
    auto error = thrown_by([&] {
        with_lock(ours, "lost", terms().ttl(6s), [&](lease &lease) {
            take_away("lost");
            AWAIT(!lease);
            ran = true;
        });
    });
    CHECK(ran);
    CHECK(redlock_code_class(error.value()) == REDLOCK_CLASS_LOST);
}

CASE(handles_are_moved)
{
    client ours = open_client(), moved = std::move(ours);
    CHECK(!ours && moved);
    lease first = moved.acquire("moved"), second = std::move(first);
    CHECK(!first && first.valid_for() == 0ms && !*first.token());
    CHECK(second && *second.token());
    second = lease();
    lease again = moved.acquire("moved", terms().wait(patience));
    again.release();
    CHECK(!again);
    CHECK(thrown_by([&] { again.release(); }).value() == REDLOCK_E_STATE);
    CHECK(thrown_by([&] { first.extend(); }).value() == REDLOCK_E_ARGUMENT);
    CHECK(thrown_by([&] { (void)ours.acquire("moved"); }).value() == REDLOCK_E_ARGUMENT);
}

CASE(a_lease_outlives_its_client)
{
    lease left;
    {
        client ours = open_client();
        left = ours.acquire("outlives");
        CHECK(left);
    }
    CHECK(!left);
    CHECK(client(patient()).acquire("outlives", terms().wait(patience)));
}

/* ---- Errors -------------------------------------------------------------------- */

CASE(who_holds_it_is_told)
{
    client ours = open_client(), theirs = open_client();
    lease held = theirs.acquire("taken");
    auto error = thrown_by([&] { (void)ours.acquire("taken"); });
    CHECK(error.code() == REDLOCK_E_HELD);
    CHECK(error.code().category() == redlocks::category());
    CHECK(std::string(error.votes()).find(held.token()) != std::string::npos);
    CHECK(std::string(error.what()).find("another holder") != std::string::npos);
    result told;
    CHECK(!ours.acquire("taken", terms(), told));
    CHECK(!told && told.error() == REDLOCK_E_HELD);
    CHECK(thrown_by([&] { (void)ours.acquire(""); }).code() == REDLOCK_E_NAME);
}

CASE(a_wrong_list_is_refused)
{
    redlocks::settings wrong("redis://");
    CHECK(thrown_by([&] { client refused(wrong); }).code() == REDLOCK_E_NODES);
    result told;
    client empty(wrong, told);
    CHECK(!empty && told.code == REDLOCK_E_NODES && *told.text);
}

CASE(nothing_is_allocated)
{
    client ours = open_client();
    result told;
    unsigned long before = allocated;
    lease held = ours.acquire("allocates", terms(), told);
    CHECK(held);
    held.extend(10s, told);
    held.release(told);
    CHECK(told);
    CHECK(allocated == before);
}

/* ---- Terms ---------------------------------------------------------------------- */

CASE(names_modes_and_fences)
{
    client ours = open_client(), theirs = open_client();
    lease both = ours.acquire({"a", {"b", REDLOCK_SHARED}}, terms().fenced().ttl(20s));
    CHECK(both.fence() > 0);
    CHECK(both.exclusive_for() == 0ms);
    CHECK(!theirs.try_acquire("a"));
    CHECK(theirs.acquire("b", terms().shared()));
    both.release();
    std::string name("zero\0inside", 11);
    lease bytes = ours.acquire(name);
    CHECK(theirs.acquire("zero"));
    lease one = ours.acquire("pool", terms().one_of(2)),
          other = theirs.acquire("pool", terms().one_of(2));
    CHECK(one.slot() + other.slot() == 1);
}

CASE(a_loss_is_heard)
{
    client ours = open_client();
    std::atomic<unsigned> losses{0};
    auto on_event = [&](const redlock_event &event) noexcept {
        losses += event.kind == REDLOCK_LOST;
    };
    lease held = ours.acquire("heard", terms().ttl(6s).hear(on_event));
    take_away("heard");
    AWAIT(losses == 1);
    CHECK(!held);
}

CASE(a_thread_takes_it_twice)
{
    client ours = open_client();
    with_lock(ours, "nested", terms().nested(), [&](lease &outer) {
        with_lock(ours, "nested", terms().nested(),
                  [&](lease &inner) { CHECK(inner.get() == outer.get()); });
        CHECK(outer);
    });
}

CASE(what_a_function_throws_on_the_thread_comes_back)
{
    client ours = open_client();
    unsigned count = 0;
    ours.run([&](redlock *client) { count = redlock_node_count(client); });
    CHECK(count == masters.count);
    bool caught = false;
    try {
        ours.run([](redlock *) { throw std::runtime_error("there"); });
    } catch (const std::runtime_error &) {
        caught = true;
    }
    CHECK(caught);
    CHECK(ours.close(patience) == 0);
    CHECK(thrown_by([&] { ours.run([](redlock *) {}); }).code() == REDLOCK_E_CLOSED);
}

/* ---- Recipes --------------------------------------------------------------------- */

CASE(recipes)
{
    client ours = open_client();
    auto campaign = redlocks::sized<redlock_campaign_options>();
    campaign.value = "blue";
    campaign.length = 4;
    lease leads = ours.lead("leader", campaign);
    leads.announce("green");
    auto leader = ours.leader_of("leader");
    CHECK(leader.value == "green" && leader.term == leads.fence());
    CHECK(ours.next_leader("leader", leader.term - 1, patience).value == "green");
    result told;
    auto barrier = redlocks::sized<redlock_barrier_options>();
    barrier.parties = 1;
    CHECK(ours.arrive("barrier", barrier, told).code == REDLOCK_OK && told);
    auto latch = redlocks::sized<redlock_latch_options>();
    latch.arrivals = 1;
    CHECK(ours.latch_create("latch", latch, told).code == REDLOCK_OK);
    CHECK(!ours.latch_count("latch", latch, told).open);
    CHECK(ours.latch_arrive("latch", latch, told).code == REDLOCK_OK);
    CHECK(ours.latch_await("latch", latch, told).open);
}

static redlocks::once_options today(const char *note)
{
    return redlocks::once_options("today", 1min, note);
}

CASE(work_is_done_once_per_key)
{
    client ours = open_client(), theirs = open_client();
    unsigned ran = 0;
    auto work = [&](lease &lease) { ran += lease.valid_for() > 1s; };
    auto first = once(ours, "nightly", today("web-1"), terms().ttl(20s), work);
    CHECK(first && first.ran && first.record.open);
    auto second = once(theirs, "nightly", today("web-2"), terms().ttl(20s).wait(patience), work);
    CHECK(second && !second.ran && std::string(second.record.who) == "web-1");
    auto wait = terms().wait(patience);
    CHECK(once(ours, "nightly", redlocks::once_options("else", 1min, "x"), wait, work).ran);
    CHECK(ran == 2);
}

CASE(work_that_throws_is_tried_by_the_next)
{
    client ours = open_client();
    bool caught = false;
    try {
        (void)once(
            ours, "fails", today("x"), [](lease &) { throw std::runtime_error("stopped"); });
    } catch (const std::runtime_error &) {
        caught = true;
    }
    CHECK(caught);
    CHECK(once(ours, "fails", today("x"), terms().wait(patience), [](lease &) {}).ran);
}

CASE(what_is_wrong_is_refused_before_the_work)
{
    client ours = open_client();
    auto refused = [&](const redlock_once_options &options) {
        return thrown_by([&] {
                   (void)once(ours, "wrong", options, terms().wait(patience),
                              [](lease &) { throw std::logic_error("it has begun"); });
               }).code() == REDLOCK_E_ARGUMENT;
    };
    CHECK(refused(redlocks::once_options("today", 0ms, "x")));
    CHECK(refused(redlocks::once_options("today", 721h, "x")));
    CHECK(refused(redlocks::once_options("today", 1min, "two words")));
    CHECK(refused(redlocks::once_options("today", 1min, "")));
    CHECK(refused(redlocks::once_options("today", 1min)));
    CHECK(refused(redlocks::once_options("two words", 1min, "x")));
    CHECK(refused(redlocks::once_options(nullptr, 1min, "x")));
}

CASE(work_whose_lock_was_lost_is_not_recorded)
{
    client ours = open_client();
    auto is = once(ours, "once-lost", today("x"), terms().ttl(6s), [&](lease &lease) {
        take_away("once-lost");
        AWAIT(!lease);
    });
    CHECK(!is && is.ran && !is.record.open && !is.record.undecided);
    lease held = ours.acquire("once-lost", terms().wait(patience));
    result told;
    CHECK(!held.once_look("today", told).open && told);
    CHECK(held.once_record(today("y"), told).open && told);
    CHECK(std::string(held.once_look("today", told).who) == "y");
}

CASE(the_holder_is_asked)
{
    client ours = open_client(), theirs = open_client();
    result told;
    auto options = redlocks::sized<redlock_ask_options>();
    options.text = "a deployment";
    CHECK(!*ours.ask("asks", options, told).holder && told.error() == REDLOCK_E_GONE);
    lease held = theirs.acquire("asks", terms().ttl(20s));
    auto asked = ours.ask("asks", options, told);
    CHECK(told && std::string(asked.holder) == held.token() && asked.heard == 0);
    options.text = "two\nlines";
    (void)ours.ask("asks", options, told);
    CHECK(told.error() == REDLOCK_E_ARGUMENT && *told.text);
}

/* ---- On a loop --------------------------------------------------------------------- */

static void run_until(redlocks::loop_client &one, redlocks::loop_client &other,
                      const std::function<bool()> &condition, int line)
{
    auto until = std::chrono::steady_clock::now() + patience;
    for (struct pollfd ready[] = {{one.fd(), POLLIN, 0}, {other.fd(), POLLIN, 0}}; !condition();) {
        if (std::chrono::steady_clock::now() > until)
            throw std::logic_error(std::to_string(line) + ": not in time");
        poll(ready, 2, 100);
        CHECK(!one.process());
        CHECK(!other.process());
    }
}
#define RUN_BOTH_UNTIL(one, other, condition)                                                      \
    run_until(                                                                                     \
        one, other, [&] { return static_cast<bool>(condition); }, __LINE__)
#define RUN_UNTIL(client, condition) RUN_BOTH_UNTIL(client, client, condition)

CASE(a_lease_of_a_loop)
{
    redlocks::loop_client ours(patient());
    redlocks::loop_lease held;
    std::vector<redlock_event_kind> heard;
    heard.reserve(16);
    auto on_event = [&](const redlock_event &event) noexcept { heard.push_back(event.kind); };
    held.hear(on_event);
    CHECK(held.give_back() == REDLOCK_E_STATE);
    CHECK(!held.ask(ours, "loop", terms().fenced()));
    RUN_UNTIL(ours, held);
    CHECK(held.fence() > 0);
    CHECK(!held.give_back());
    RUN_UNTIL(ours, !heard.empty() && heard.back() == REDLOCK_RELEASED);
    CHECK(heard.front() == REDLOCK_ACQUIRED);
    unsigned left = 99;
    auto closed = [&](unsigned count) noexcept { left = count; };
    ours.close(patience, closed);
    RUN_UNTIL(ours, left != 99);
    CHECK(left == 0);
}

CASE(a_wish_is_heard_on_a_loop)
{
    auto named = patient();
    named.label = "deploy";
    redlocks::loop_client ours(patient()), theirs(named);
    redlocks::loop_lease held;
    redlocks::loop_heeder heeder;
    redlocks::loop_asker asker;
    std::string heard;
    heard.reserve(4096);
    unsigned told = 0, hears = 0;
    auto on_wish = [&](const redlock_wish &wish) noexcept {
        heard.append(wish.who).append(": ").append(wish.text);
    };
    auto on_asked = [&](const redlock_asked &asked) noexcept {
        told++;
        hears = asked.heard;
    };
    auto options = redlocks::sized<redlock_ask_options>();
    options.text = "now";
    CHECK(heeder.heed(held, on_wish) == REDLOCK_E_STATE && !heeder);
    CHECK(!held.ask(ours, "wished", terms().ttl(20s)));
    RUN_UNTIL(ours, held);
    CHECK(!heeder.heed(held, on_wish) && heeder);
    /* A wish that comes as the holder begins to listen may be left out. */
    for (auto next = std::chrono::steady_clock::now(); heard.empty() || !hears;) {
        unsigned before = told;
        CHECK(!asker.ask(theirs, "wished", options, on_asked));
        next += 100ms;
        RUN_BOTH_UNTIL(ours, theirs, told > before && std::chrono::steady_clock::now() > next);
    }
    CHECK(heard.compare(0, 11, "deploy: now") == 0);
    redlocks::loop_heeder moved = std::move(heeder);
    CHECK(!heeder && moved);
    moved.stop();
    asker.stop();
    heard.clear();
    unsigned before = told;
    CHECK(!asker.ask(theirs, "wished", options, on_asked));
    RUN_BOTH_UNTIL(ours, theirs, told > before);
    CHECK(heard.empty());
}

/* ---- C++20 --------------------------------------------------------------------------- */

#ifdef __cpp_lib_jthread
CASE(a_request_to_stop_ends_the_wait)
{
    client ours = open_client(), theirs = open_client();
    lease held = theirs.acquire("stopped");
    for (unsigned i = 0; i < 50; i++) {
        std::stop_source source;
        result told;
        std::jthread waits([&] {
            CHECK(!ours.acquire("stopped", terms().wait(redlocks::forever), source.get_token(),
                                told));
        });
        if (i % 2)
            AWAIT(cluster_answering(&masters, 1, "EXISTS redlock:queue:stopped") > 0);
        source.request_stop();
        waits.join();
        CHECK(told.code == REDLOCK_E_CANCELLED);
    }
    held.release();
    result told;
    CHECK(ours.acquire("stopped", terms().wait(patience), std::stop_token(), told));
}

/* It would wait for itself if it ended the wait there and then. */
CASE(the_thread_of_the_library_may_ask_for_the_stop)
{
    client ours = open_client();
    lease held = ours.acquire("asked");
    std::stop_source source;
    result told;
    std::jthread waits([&] {
        CHECK(!ours.acquire("asked", terms().wait(redlocks::forever), source.get_token(), told));
    });
    AWAIT(cluster_answering(&masters, 1, "EXISTS redlock:queue:asked") > 0);
    ours.run([&](redlock *) { source.request_stop(); });
    waits.join();
    CHECK(told.code == REDLOCK_E_CANCELLED);
}
#endif

#ifdef __cpp_impl_coroutine
struct task {
    struct promise_type {
        task get_return_object() noexcept { return {}; }
        std::suspend_never initial_suspend() noexcept { return {}; }
        std::suspend_never final_suspend() noexcept { return {}; }
        void return_void() noexcept {}
        void unhandled_exception() noexcept { std::terminate(); }
    };
};

static task take_turn(redlocks::loop_client &client, unsigned &inside, unsigned &ended)
{
    redlocks::loop_lease lease;
    auto wait = terms().wait(redlocks::forever);
    std::error_code failure = co_await lease.acquire(client, "turn", wait); /* see cpp.md */
    if (failure || ++inside != 1 || !lease)
        co_return;
    inside--;
    failure = co_await lease.release();
    ended += !failure;
}

CASE(coroutines_take_turns)
{
    redlocks::loop_client ours(patient());
    unsigned inside = 0, ended = 0;
    for (unsigned i = 0; i < 10; i++)
        take_turn(ours, inside, ended);
    RUN_UNTIL(ours, ended == 10);
}

static task watch(redlocks::loop_lease &lease, std::error_code &why, bool &over)
{
    why = co_await lease.lost();
    over = true;
}

static task give_back(redlocks::loop_lease &lease, bool &over)
{
    std::error_code failure = co_await lease.release();
    over = !failure;
}

static task take(redlocks::loop_client &client, redlocks::loop_lease &lease, const char *name,
                 std::error_code &code, bool &over)
{
    code = co_await lease.acquire(client, name, terms().ttl(6s));
    over = true;
}

CASE(a_coroutine_hears_of_the_loss)
{
    redlocks::loop_client ours(patient());
    redlocks::loop_lease lease;
    std::error_code why;
    bool taken = false, lost = false, released = false;
    watch(lease, why, lost);
    CHECK(lost && why == REDLOCK_E_STATE);
    lost = false;
    take(ours, lease, "coroutine", why, taken);
    RUN_UNTIL(ours, taken);
    CHECK(!why);
    watch(lease, why, lost);
    take_away("coroutine");
    RUN_UNTIL(ours, lost);
    CHECK(redlock_code_class(static_cast<redlock_code>(why.value())) == REDLOCK_CLASS_LOST);
    taken = lost = false;
    take(ours, lease, "coroutine", why, taken);
    RUN_UNTIL(ours, taken);
    CHECK(!why);
    watch(lease, why, lost);
    give_back(lease, released);
    RUN_UNTIL(ours, released);
    CHECK(lost && why == REDLOCK_E_CANCELLED);
    take(ours, lease, "", why, lost);
    CHECK(why == REDLOCK_E_NAME);
}
#endif

int main()
{
    unsigned failed = 0;
    cluster_start(&masters, 5, nullptr);
    for (const test_case &it : cases()) {
        try {
            it.run();
            std::printf("ok      %s\n", it.name);
        } catch (const std::exception &error) {
            std::printf("FAILED  %s: %s\n", it.name, error.what());
            failed++;
        }
    }
    cluster_stop(&masters);
    return failed != 0;
}
