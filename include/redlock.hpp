/*
 * redlock.hpp - redlock.h for C++17 and later: handles that free themselves, durations of
 * std::chrono, errors of std::error_code, exceptions or none, coroutines where there are any.
 *
 * A program that takes a lock.  The masters: REDLOCK_NODES.
 *
 *     #include <redlock.hpp>
 *     int main() {
 *         redlocks::client client;
 *         redlocks::with_lock(client, "report", [](redlocks::lease &lease) { work_while(lease); });
 *     }
 *
 * What a call does, and what a lease promises, stands in redlock.h, redlock/sync.h, leases.h and
 * recipes.h; their contracts hold here.  Besides:
 *   - A handle is moved, never copied; its destructor frees it.  One that was moved from, or got no
 *     lease, is empty: false, valid for 0 ms, without a name of a token.  get() gives the C handle.
 *   - A call without a `result` throws redlocks::error.  The same call with a `result` does not
 *     throw: look at its code.  A handle that it returns is empty if it failed.
 *   - Durations are std::chrono::milliseconds or longer: a finer one does not compile.
 *     redlocks::forever is REDLOCK_FOREVER.
 *   - What the library calls back must be noexcept: else it does not compile.  It is taken by
 *     reference, and must live as long as callbacks may come.
 *   - Nothing here allocates but exceptions, std::string results, and the C library itself.
 */
#ifndef REDLOCK_HPP
#define REDLOCK_HPP

#include <chrono>
#include <cstdint>
#include <exception>
#include <initializer_list>
#include <memory>
#include <redlock/recipes.h>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>

#if __cplusplus >= 202002L && defined(__has_include)
#if __has_include(<stop_token>)
#include <atomic>
#include <stop_token>
#include <thread>
#endif
#if __has_include(<coroutine>)
#include <coroutine>
#endif
#endif

namespace redlocks
{

using std::chrono::milliseconds;

inline constexpr milliseconds forever{REDLOCK_FOREVER};

/* ---- Errors -------------------------------------------------------------- */

class error_category_type final : public std::error_category
{
  public:
    const char *name() const noexcept override { return "redlock"; }
    std::string message(int code) const override
    {
        return redlock_code_text(static_cast<redlock_code>(code));
    }
};

/* "redlock"; its values are those of redlock_code. */
inline const std::error_category &category() noexcept
{
    static const error_category_type only;
    return only;
}

/* What a call tells besides its code; each field is as in redlock/sync.h. */
class result : public redlock_sync_result
{
  public:
    result() noexcept : redlock_sync_result() { size = sizeof(redlock_sync_result); }
    explicit operator bool() const noexcept { return code == REDLOCK_OK; }
    std::error_code error() const noexcept { return {static_cast<int>(code), category()}; }
};

class error : public std::system_error
{
  public:
    error(redlock_code code, const char *text, const char *votes = "")
        : std::system_error(code, category(), text), votes_(votes)
    {
    }
    explicit error(const result &told) : error(told.code, told.text, told.votes) {}
    redlock_code value() const noexcept { return static_cast<redlock_code>(code().value()); }
    /* A line for each master, or "". */
    const char *votes() const noexcept { return votes_.c_str(); }

  private:
    std::string votes_;
};

namespace detail
{
inline void check(const result &told)
{
    if (!told)
        throw error(told);
}

/* A call of C that may refuse before it fills the result. */
inline void note(result &told, redlock_code code) noexcept
{
    told.code = code;
}

inline int64_t or_zero(milliseconds time) noexcept
{
    return time.count() ? time.count() : REDLOCK_ZERO;
}

inline bool is_word(const char *text) noexcept
{
    std::string_view word(text ? text : "");
    for (unsigned char byte : word)
        if (byte <= ' ' || byte > '~')
            return false;
    return !word.empty() && word.size() < REDLOCK_LATCH_ID_SIZE;
}

inline void check_record(const redlock_once_options &options)
{
    if (options.life_ms < 1000 || options.life_ms > REDLOCK_LATCH_LIFE_MAX)
        throw error(REDLOCK_E_ARGUMENT, "a record lives for 1 s to 30 days");
    if (!is_word(options.note))
        throw error(REDLOCK_E_ARGUMENT,
                    "the note of a record has 1 to 64 bytes of printable ASCII without spaces");
}

template <class Event, class F> void *listener(F &function) noexcept
{
    static_assert(std::is_nothrow_invocable_v<F &, const Event &>,
                  "the library cannot hand on an exception: make the callback noexcept");
    return const_cast<void *>(static_cast<const void *>(std::addressof(function)));
}
} // namespace detail

/* ---- Names and terms ------------------------------------------------------ */

/* A string, whose bytes must live until the call returns. */
struct name : redlock_name {
    name(const char *text) noexcept : name(std::string_view(text)) {}
    name(const std::string &text) noexcept : name(std::string_view(text)) {}
    name(std::string_view text, redlock_mode how = REDLOCK_EXCLUSIVE) noexcept : redlock_name()
    {
        size = sizeof(redlock_name);
        bytes = text.data();
        length = text.size();
        mode = how;
    }
};
static_assert(sizeof(name) == sizeof(redlock_name), "an array of these is an array of those");

/* A struct of options with its size and all defaults: sized<redlock_barrier_options>(). */
template <class Options> Options sized() noexcept
{
    Options options{};
    options.size = sizeof(Options);
    return options;
}

/* The options of a client; all else is set by its field: masters.spare = 1. */
struct settings : redlock_options {
    /* Without a list: the environment has it. */
    explicit settings(const char *list = nullptr) noexcept
        : redlock_options(sized<redlock_options>())
    {
        nodes = list;
    }
};

/* Work that is done once, as redlock_once_options.  The strings must live until the call returns.
 */
struct once_options : redlock_once_options {
    explicit once_options(const char *of, milliseconds life = milliseconds(0),
                          const char *says = nullptr) noexcept
        : redlock_once_options(sized<redlock_once_options>())
    {
        key = of;
        life_ms = life.count();
        note = says;
    }
};

/* The terms of a lease, as redlock_lease_options: terms().wait(30s).fenced(). */
struct terms : redlock_lease_options {
    terms() noexcept : redlock_lease_options(sized<redlock_lease_options>()) {}
    terms &ttl(milliseconds time) noexcept { return ttl_ms = time.count(), *this; }
    terms &wait(milliseconds time) noexcept { return wait_ms = time.count(), *this; }
    terms &margin(milliseconds time) noexcept { return margin_ms = detail::or_zero(time), *this; }
    terms &max_hold(milliseconds time) noexcept { return max_hold_ms = time.count(), *this; }
    terms &at_least(milliseconds time) noexcept { return at_least_ms = time.count(), *this; }
    terms &not_renewed() noexcept { return no_renew = true, *this; }
    terms &fenced() noexcept { return fence = true, *this; }
    terms &shared() noexcept { return mode = REDLOCK_SHARED, *this; }
    terms &nested() noexcept { return reentrant = true, *this; }
    terms &one_of(int64_t count) noexcept { return permits = count, *this; }
    /* Of redlocks::client: f(const redlock_event &) hears AT_RISK, HEALTHY, LOST and MOVED on the
     * background thread, until the lease is destroyed. */
    template <class F> terms &hear(F &function) noexcept
    {
        data = detail::listener<redlock_event>(function);
        on_event = [](const redlock_event *event, void *to) { (*static_cast<F *>(to))(*event); };
        return *this;
    }
};

/* ---- Leases of threads that wait: redlock/sync.h ---------------------------- */

class lease
{
  public:
    lease() noexcept = default;
    explicit lease(redlock_sync_lease *handle) noexcept : handle_(handle) {}

    /* Is held now. */
    explicit operator bool() const noexcept { return valid_for() > milliseconds(0); }
    milliseconds valid_for() const noexcept
    {
        return milliseconds(redlock_sync_lease_valid_for(get()));
    }
    milliseconds exclusive_for() const noexcept
    {
        return milliseconds(redlock_sync_lease_exclusive_for(get()));
    }
    int64_t fence() const noexcept { return redlock_sync_lease_fence(get()); }
    int slot() const noexcept { return redlock_sync_lease_slot(get()); }
    const char *token() const noexcept { return redlock_sync_lease_token(get()); }

    /* A ttl of 0: the former one. */
    void extend(milliseconds ttl = milliseconds(0)) { throwing(&lease::extend_, ttl); }
    void downgrade() { throwing(redlock_sync_lease_downgrade); }
    void upgrade() { throwing(redlock_sync_lease_upgrade); }
    /* Gives it back, and waits until the masters have it; the destructor does not wait. */
    void release() { throwing(redlock_sync_lease_release); }
    void announce(std::string_view value) { throwing(&lease::announce_, value); }

    void extend(milliseconds ttl, result &told) noexcept { extend_(told, ttl); }
    void downgrade(result &told) noexcept { note(told, redlock_sync_lease_downgrade); }
    void upgrade(result &told) noexcept { note(told, redlock_sync_lease_upgrade); }
    void release(result &told) noexcept { note(told, redlock_sync_lease_release); }
    void announce(std::string_view value, result &told) noexcept { announce_(told, value); }

    /* Whether the work of this name was done for the key, and the record that it was: see once().
     * These do not throw: the result tells whether the record is undecided. */
    [[nodiscard]] redlock_latch_result once_look(const char *key, result &told) noexcept
    {
        return once(redlock_sync_once_look, once_options(key), told);
    }
    [[nodiscard]] redlock_latch_result once_record(const redlock_once_options &options,
                                                   result &told) noexcept
    {
        return once(redlock_sync_once_record, options, told);
    }

    redlock_sync_lease *get() const noexcept { return handle_.get(); }

  private:
    struct freeing {
        void operator()(redlock_sync_lease *handle) const noexcept
        {
            redlock_sync_lease_free(handle);
        }
    };
    using plain_call = redlock_code(redlock_sync_lease *, redlock_sync_result *);
    using once_call = redlock_code(redlock_sync_lease *, const redlock_once_options *,
                                   redlock_latch_result *, redlock_sync_result *);

    void note(result &told, plain_call *call) noexcept { detail::note(told, call(get(), &told)); }
    void throwing(plain_call *call)
    {
        result told;
        note(told, call);
        detail::check(told);
    }
    template <class Argument>
    void throwing(void (lease::*call)(result &, Argument) noexcept, Argument argument)
    {
        result told;
        (this->*call)(told, argument);
        detail::check(told);
    }
    redlock_latch_result once(once_call *call, const redlock_once_options &options,
                              result &told) noexcept
    {
        auto record = sized<redlock_latch_result>();
        detail::note(told, call(get(), &options, &record, &told));
        return record;
    }
    void extend_(result &told, milliseconds ttl) noexcept
    {
        detail::note(told, redlock_sync_lease_extend(get(), ttl.count(), &told));
    }
    void announce_(result &told, std::string_view value) noexcept
    {
        detail::note(told, redlock_sync_lease_announce(get(), value.data(), value.size(), &told));
    }

    std::unique_ptr<redlock_sync_lease, freeing> handle_;
};

/* ---- The client of threads: any thread may use it --------------------------- */

/* What is announced of a name, as redlock_leader. */
struct leader {
    int64_t term = 0; /* 0: nobody announces, or it is not known */
    std::string value;
    unsigned said = 0, masters = 0;
};

class client
{
  public:
    /* Throws what redlock_sync_open() refuses.  It does not wait for the masters: see ready(). */
    explicit client(const redlock_options &options = settings())
    {
        result told;
        open(options, told);
        detail::check(told);
    }
    /* Empty if that fails. */
    client(const redlock_options &options, result &told) noexcept { open(options, told); }

    explicit operator bool() const noexcept { return get() != nullptr; }
    redlock_sync *get() const noexcept { return handle_.get(); }

    /* Waits until each master was reached, or tried in vain. */
    void ready(milliseconds timeout)
    {
        result told;
        ready(timeout, told);
        detail::check(told);
    }
    void ready(milliseconds timeout, result &told) noexcept
    {
        detail::note(told,
                     redlock_sync_ready(get(), timeout.count(), told.votes, sizeof told.votes));
    }

    /* Gives all leases back, and waits for the masters; the destructor waits for a second.  Returns
     * the number of releases that are still owed. */
    unsigned close(milliseconds patience) noexcept
    {
        return redlock_sync_close(get(), patience.count());
    }

    /* ---- leases ---- */

    /* One name, or {all, of, them} or none. */
    [[nodiscard]] lease acquire(const name &one, const redlock_lease_options &options = terms())
    {
        return acquire({one}, options);
    }
    [[nodiscard]] lease acquire(std::initializer_list<name> names,
                                const redlock_lease_options &options = terms())
    {
        result told;
        lease taken = acquire(names, options, told);
        detail::check(told);
        return taken;
    }
    [[nodiscard]] lease acquire(const name &one, const redlock_lease_options &options,
                                result &told) noexcept
    {
        return acquire(&one, 1, options, told);
    }
    [[nodiscard]] lease acquire(std::initializer_list<name> names,
                                const redlock_lease_options &options, result &told) noexcept
    {
        return acquire(names.begin(), names.size(), options, told);
    }
    [[nodiscard]] lease acquire(const redlock_name *names, std::size_t count,
                                const redlock_lease_options &options, result &told) noexcept
    {
        redlock_sync_lease *taken = nullptr;
        detail::note(told,
                     redlock_sync_acquire_names(get(), &taken, names, count, &options, &told));
        return lease(taken);
    }
    /* Empty if another holder has it; else as acquire(). */
    [[nodiscard]] lease try_acquire(const name &one, const redlock_lease_options &options = terms())
    {
        result told;
        lease taken = acquire(one, options, told);
        if (told.code != REDLOCK_E_HELD)
            detail::check(told);
        return taken;
    }
    /* Ends each acquire under way whose terms have this `data`: E_CANCELLED. */
    unsigned cancel(const void *data) noexcept { return redlock_sync_cancel(get(), data); }

#ifdef __cpp_lib_jthread
    /* A request to stop ends it with E_CANCELLED, by a thread that lives as long as that takes. The
     * terms hear no events. */
    [[nodiscard]] lease acquire(const name &one, const redlock_lease_options &options,
                                std::stop_token stop, result &told)
    {
        redlock_lease_options ours = options;
        std::atomic<bool> over{false};
        ours.data = &over;
        ours.on_event = nullptr;
        if (stop.stop_requested()) {
            told.code = REDLOCK_E_CANCELLED;
            return lease();
        }
        std::thread canceller; /* the thread that asks for the stop may be the library's */
        lease taken;
        {
            std::stop_callback cancels(stop, [&] {
                canceller = std::thread([&] {
                    while (!over && !cancel(&over)) /* it may be about to begin */
                        std::this_thread::yield();
                });
            });
            taken = acquire(one, ours, told);
            over = true;
        }
        if (canceller.joinable())
            canceller.join();
        return taken;
    }
#endif

    /* ---- all that redlock.h offers ---- */

    /* Calls f(redlock *) on the background thread, and hands on what it throws. */
    template <class F> void run(F &&function)
    {
        struct job {
            std::remove_reference_t<F> &function;
            std::exception_ptr thrown;
        } job{function, nullptr};
        redlock_code code = redlock_sync_run(
            get(),
            [](::redlock *client, void *data) noexcept {
                auto &job = *static_cast<struct job *>(data);
                try {
                    job.function(client);
                } catch (...) {
                    job.thrown = std::current_exception();
                }
            },
            &job);
        if (code)
            throw error(code, "run");
        if (job.thrown)
            std::rethrow_exception(job.thrown);
    }

    /* Another list of masters takes the place of this one. */
    void relist(const redlock_options &options, milliseconds timeout, result &told) noexcept
    {
        detail::note(told, redlock_sync_relist(get(), &options, timeout.count(), told.text,
                                               sizeof told.text));
    }

    /* ---- recipes ---- */

    /* Waits until it leads; the fence of the lease is the term. */
    [[nodiscard]] lease lead(const std::string &name, const redlock_campaign_options &options)
    {
        result told;
        redlock_sync_lease *taken = nullptr;
        detail::note(told, redlock_sync_campaign(get(), &taken, name.c_str(), &options, &told));
        detail::check(told);
        return lease(taken);
    }
    leader leader_of(const std::string &name)
    {
        return read_leader([&](redlock_leader *is, char *to, std::size_t size, result &told) {
            return redlock_sync_leader_get(get(), name.c_str(), is, to, size, &told);
        });
    }
    /* Waits for a term above that one; E_UNAVAILABLE: not in time. */
    leader next_leader(const std::string &name, int64_t after_term, milliseconds timeout)
    {
        return read_leader([&](redlock_leader *is, char *to, std::size_t size, result &told) {
            return redlock_sync_leader_next(get(), name.c_str(), after_term, timeout.count(), is,
                                            to, size, &told);
        });
    }

    /* These do not throw: the result tells what to do next, such as to come again by its token. */
    [[nodiscard]] redlock_barrier_result
    arrive(const std::string &name, const redlock_barrier_options &options, result &told)
    {
        auto passage = sized<redlock_barrier_result>();
        detail::note(told,
                     redlock_sync_barrier_arrive(get(), name.c_str(), &options, &passage, &told));
        return passage;
    }
    [[nodiscard]] redlock_latch_result
    latch_create(const std::string &name, const redlock_latch_options &options, result &told)
    {
        return latch(redlock_sync_latch_create, name, options, told);
    }
    [[nodiscard]] redlock_latch_result
    latch_arrive(const std::string &name, const redlock_latch_options &options, result &told)
    {
        return latch(redlock_sync_latch_arrive, name, options, told);
    }
    [[nodiscard]] redlock_latch_result
    latch_await(const std::string &name, const redlock_latch_options &options, result &told)
    {
        return latch(redlock_sync_latch_await, name, options, told);
    }
    [[nodiscard]] redlock_latch_result
    latch_count(const std::string &name, const redlock_latch_options &options, result &told)
    {
        return latch(redlock_sync_latch_count, name, options, told);
    }

    /* Asks the holder of the name to let go.  E_GONE: nobody has it.  Does not throw. */
    [[nodiscard]] redlock_asked ask(const std::string &name, const redlock_ask_options &options,
                                    result &told) noexcept
    {
        auto asked = sized<redlock_asked>();
        detail::note(told, redlock_sync_ask(get(), name.c_str(), &options, &asked, &told));
        return asked;
    }

  private:
    static constexpr int64_t patience_ms = 1000;
    struct closing {
        void operator()(redlock_sync *handle) const noexcept
        {
            redlock_sync_close(handle, patience_ms);
            redlock_sync_free(handle);
        }
    };
    using latch_call = redlock_code(redlock_sync *, const char *, const redlock_latch_options *,
                                    redlock_latch_result *, redlock_sync_result *);

    void open(const redlock_options &options, result &told) noexcept
    {
        redlock_sync *opened = nullptr;
        detail::note(told, redlock_sync_open(&opened, &options, told.text, sizeof told.text));
        handle_.reset(opened);
    }
    redlock_latch_result latch(latch_call *call, const std::string &name,
                               const redlock_latch_options &options, result &told)
    {
        auto tally = sized<redlock_latch_result>();
        detail::note(told, call(get(), name.c_str(), &options, &tally, &told));
        return tally;
    }
    template <class Read> leader read_leader(Read read)
    {
        auto is = sized<redlock_leader>();
        leader found;
        result told;
        found.value.resize(REDLOCK_VALUE_MAX);
        detail::note(told, read(&is, &found.value[0], found.value.size(), told));
        detail::check(told);
        found.value.resize(is.length);
        found.term = is.term;
        found.said = is.said;
        found.masters = is.masters;
        return found;
    }

    std::unique_ptr<redlock_sync, closing> handle_;
};

/* ---- A step under a lock ----------------------------------------------------- */

/* Takes the lock, calls f(lease &), gives the lock back, and returns what f returned.  f looks at
 * lease.valid_for() before each of its steps.  Throws what f throws, what acquire() throws, and the
 * code of the loss if the lease was lost before f had returned. */
template <class F>
std::invoke_result_t<F, lease &> with_lock(client &client, const name &one,
                                           const redlock_lease_options &options, F &&function)
{
    lease held = client.acquire(one, options);
    auto end = [&held] {
        bool in_time = static_cast<bool>(held);
        result told;
        held.release(told);
        if (!in_time)
            throw error(told ? REDLOCK_E_EXPIRED : told.code, told.text, told.votes);
    };
    if constexpr (std::is_void_v<std::invoke_result_t<F, lease &>>) {
        std::forward<F>(function)(held);
        end();
    } else {
        std::invoke_result_t<F, lease &> value = std::forward<F>(function)(held);
        end();
        return static_cast<std::invoke_result_t<F, lease &>>(value);
    }
}

template <class F>
std::invoke_result_t<F, lease &> with_lock(client &client, const name &one, F &&function)
{
    return with_lock(client, one, terms(), std::forward<F>(function));
}

/* ---- Work that is done once per key -------------------------------------------- */

/* What came of once(). */
struct done {
    bool ran = false; /* this call did it */
    redlock_latch_result
        record;  /* who: the note of whoever did it.  See undecided, if told fails */
    result told; /* of the record.  It fails: the work is done, and the next one may
                  * do it again */
    explicit operator bool() const noexcept { return static_cast<bool>(told); }
};

/* Takes the lock, calls f(lease &) unless that was done for options.key before, records that it was
 * done, and gives the lock back.  options.note says who did it; options.life_ms is at least 1,000.
 * Throws what f throws, and the next one tries; and what acquire() and a look throw.  It does not
 * throw if f was called, and its record fails: look at the result. */
template <class F>
[[nodiscard]] done once(client &client, const name &one, const redlock_once_options &options,
                        const redlock_lease_options &terms, F &&function)
{
    done is;
    detail::check_record(options); /* the library looks at them when the work is done */
    lease held = client.acquire(one, terms);
    is.record = held.once_look(options.key, is.told);
    detail::check(is.told);
    if (!is.record.open) {
        std::forward<F>(function)(held);
        is.ran = true;
        is.record = held.once_record(options, is.told);
    }
    result ignored; /* all that needed the lock is done */
    held.release(ignored);
    return is;
}

template <class F>
[[nodiscard]] done once(client &client, const name &one, const redlock_once_options &options,
                        F &&function)
{
    return once(client, one, options, terms(), std::forward<F>(function));
}

/* ---- Leases on an event loop: one thread ------------------------------------- */

/* A client that shows a descriptor.  Watch fd() for reading, and call process() when it is
 * readable; or give it a loop of libev, and neither. */
class loop_client
{
  public:
    explicit loop_client(const redlock_options &options = settings(),
                         struct ev_loop *loop = nullptr)
    {
        char why[256] = "";
        ::redlock *opened = nullptr;
        redlock_code code = redlock_open(&opened, loop, &options, why, sizeof why);
        if (code)
            throw error(code, why);
        handle_.reset(opened);
    }
    ::redlock *get() const noexcept { return handle_.get(); }
    int fd() const noexcept { return redlock_fd(get()); }
    std::error_code process() noexcept { return {redlock_process(get()), category()}; }
    bool is_busy() const noexcept { return redlock_is_busy(get()); }
    /* closed(unsigned left) comes once. */
    template <class F> void close(milliseconds patience, F &closed) noexcept
    {
        void *data = detail::listener<unsigned>(closed);
        redlock_close(
            get(), patience.count(),
            [](::redlock *, unsigned left, void *to) { (*static_cast<F *>(to))(left); }, data);
    }

  private:
    struct freeing {
        void operator()(::redlock *handle) const noexcept { redlock_free(handle); }
    };
    std::unique_ptr<::redlock, freeing> handle_;
};

/* One lease of a loop.  It stays where it is, since the library calls it back: make it a member, or
 * a variable of the coroutine.  It may be asked for again once it has ended.  It is destroyed, or
 * asked of another client, before its client is: the lease of a client that is gone is no handle.
 */
class loop_lease
{
  public:
    loop_lease() noexcept = default;
    loop_lease(const loop_lease &) = delete;
    loop_lease &operator=(const loop_lease &) = delete;
    ~loop_lease() { redlock_lease_free(handle_); }

    /* f(const redlock_event &) hears all events, after who awaits them. */
    template <class F> void hear(F &function) noexcept
    {
        listening_ = detail::listener<redlock_event>(function);
        listener_ = [](const redlock_event &event, void *to) noexcept {
            (*static_cast<F *>(to))(event);
        };
    }
    /* Asks for it; ACQUIRED or NOT_ACQUIRED follows unless this fails. */
    std::error_code ask(loop_client &client, const name &one,
                        const redlock_lease_options &options = terms()) noexcept
    {
        redlock_lease_free(std::exchange(handle_, nullptr));
        redlock_code code =
            redlock_acquire_names(client.get(), &handle_, &one, 1, &options, on_event, this);
        return {code, category()};
    }
    /* Gives it back; RELEASED follows unless this fails. */
    std::error_code give_back() noexcept
    {
        return {handle_ ? redlock_lease_release(handle_) : REDLOCK_E_STATE, category()};
    }
    milliseconds valid_for() const noexcept
    {
        return milliseconds(redlock_lease_valid_for(handle_));
    }
    int64_t fence() const noexcept { return redlock_lease_fence(handle_); }
    explicit operator bool() const noexcept { return valid_for() > milliseconds(0); }
    redlock_lease *get() const noexcept { return handle_; }

#ifdef __cpp_impl_coroutine
  private:
    struct waiting {
        std::coroutine_handle<> coroutine;
        std::error_code code;
        void resume(redlock_code is) noexcept
        {
            code = {is, category()};
            if (auto next = std::exchange(coroutine, nullptr))
                next.resume();
        }
    };
    template <class Begin> struct awaiting {
        waiting &place;
        Begin begin;
        bool await_ready() const noexcept { return false; }
        bool await_suspend(std::coroutine_handle<> coroutine) noexcept
        {
            place.code = begin();
            place.coroutine = place.code ? nullptr : coroutine;
            return static_cast<bool>(place.coroutine);
        }
        std::error_code await_resume() const noexcept { return place.code; }
    };

  public:
    /* co_await these, one coroutine for each at a time, which the lease outlives; each gives a
     * std::error_code. */
    [[nodiscard]] auto acquire(loop_client &client, const name &one,
                               const redlock_lease_options &options = terms()) noexcept
    {
        auto begin = [this, &client, one, options]() noexcept { return ask(client, one, options); };
        return awaiting<decltype(begin)>{acquired_, begin};
    }
    [[nodiscard]] auto release() noexcept
    {
        auto begin = [this]() noexcept { return give_back(); };
        return awaiting<decltype(begin)>{released_, begin};
    }
    /* The reason of the loss; E_CANCELLED once it is given back; E_STATE at once if not held. */
    [[nodiscard]] auto lost() noexcept
    {
        auto begin = [this]() noexcept -> std::error_code {
            return {*this ? REDLOCK_OK : REDLOCK_E_STATE, category()};
        };
        return awaiting<decltype(begin)>{lost_, begin};
    }
#endif

  private:
    static void on_event(redlock_lease *, const redlock_event *event, void *data) noexcept
    {
        auto &lease = *static_cast<loop_lease *>(data);
        if (lease.listener_)
            lease.listener_(*event, lease.listening_);
#ifdef __cpp_impl_coroutine
        lease.wake(*event);
#endif
    }
#ifdef __cpp_impl_coroutine
    /* A coroutine may destroy the lease, whose last step is therefore to resume it. */
    void wake(const redlock_event &event) noexcept
    {
        if (event.kind == REDLOCK_ACQUIRED || event.kind == REDLOCK_NOT_ACQUIRED)
            acquired_.resume(event.code);
        else if (event.kind == REDLOCK_LOST)
            lost_.resume(event.code);
        else if (event.kind == REDLOCK_RELEASED && !lost_.coroutine)
            released_.resume(event.code);
        else if (event.kind == REDLOCK_RELEASED)
            wake_both(event.code);
    }
    /* Nobody waits for the loss of a lease that was given back. */
    void wake_both(redlock_code code) noexcept
    {
        auto release = std::exchange(released_.coroutine, nullptr);
        released_.code = {code, category()};
        lost_.resume(REDLOCK_E_CANCELLED);
        if (release)
            release.resume();
    }
    waiting acquired_, lost_, released_;
#endif
    redlock_lease *handle_ = nullptr;
    void (*listener_)(const redlock_event &event, void *to) noexcept = nullptr;
    void *listening_ = nullptr;
};

/* Hears the wishes for the lease of a loop while it lives.  Destroy it, or stop it, before the
 * lease is asked for again or destroyed: in the callback of LOST and RELEASED, or as a later
 * member. */
class loop_heeder
{
  public:
    loop_heeder() noexcept = default;
    /* f(const redlock_wish &) hears each wish of another client from now on. */
    template <class F> std::error_code heed(loop_lease &lease, F &function) noexcept
    {
        stop();
        if (!lease.get())
            return {REDLOCK_E_STATE, category()};
        void *data = detail::listener<redlock_wish>(function);
        redlock_heeder *made = nullptr;
        redlock_code code = redlock_heed(
            lease.get(), &made,
            [](redlock_heeder *, const redlock_wish *wish, void *to) {
                (*static_cast<F *>(to))(*wish);
            },
            data);
        handle_.reset(made);
        return {code, category()};
    }
    void stop() noexcept { handle_.reset(); }
    explicit operator bool() const noexcept { return static_cast<bool>(handle_); }
    redlock_heeder *get() const noexcept { return handle_.get(); }

  private:
    struct freeing {
        void operator()(redlock_heeder *handle) const noexcept { redlock_heeder_free(handle); }
    };
    std::unique_ptr<redlock_heeder, freeing> handle_;
};

/* Asks the holder of a name to let go, on a loop.  Destroy it before its client. */
class loop_asker
{
  public:
    loop_asker() noexcept = default;
    /* f(const redlock_asked &) hears once; with options.again the wish is said until stop(). */
    template <class F>
    std::error_code ask(loop_client &client, const std::string &name,
                        const redlock_ask_options &options, F &function) noexcept
    {
        void *data = detail::listener<redlock_asked>(function);
        redlock_asker *made = nullptr;
        redlock_code code = redlock_ask(
            client.get(), &made, name.c_str(), &options,
            [](redlock_asker *, const redlock_asked *asked, void *to) {
                (*static_cast<F *>(to))(*asked);
            },
            data);
        handle_.reset(made);
        return {code, category()};
    }
    void stop() noexcept { handle_.reset(); }
    redlock_asker *get() const noexcept { return handle_.get(); }

  private:
    struct freeing {
        void operator()(redlock_asker *handle) const noexcept { redlock_asker_free(handle); }
    };
    std::unique_ptr<redlock_asker, freeing> handle_;
};

} // namespace redlocks

/* A redlock_code is a std::error_code. */
namespace std
{
template <> struct is_error_code_enum<redlock_code> : true_type {
};
} // namespace std

inline std::error_code make_error_code(redlock_code code) noexcept
{
    return {static_cast<int>(code), redlocks::category()};
}

#endif
