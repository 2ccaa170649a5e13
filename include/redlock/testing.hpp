/*
 * redlock/testing.hpp - redlock/testing.h for C++17 and later: durations of std::chrono, and
 * exceptions.
 *
 *     redlocks::testing::virtual_time time;   // first: it outlives the clients
 *     redlocks::loop_client client(redlocks::settings("memory://5"));
 *     redlocks::loop_lease lease;
 *     lease.ask(client, "report");
 *     time.advance();                         // it has the lease
 *     redlocks::testing::kill(0);
 *     time.advance(20s);                      // 20 s later, at once
 *
 * What each function does stands in redlock/testing.h.  If it does nothing it throws
 * redlocks::error, with its reason.
 */
#ifndef REDLOCK_TESTING_HPP
#define REDLOCK_TESTING_HPP

#include <redlock.hpp>
#include <redlock/testing.h>

namespace redlocks
{
namespace testing
{

inline void check(redlock_code code)
{
    if (code)
        throw error(code, redlock_testing_why());
}

/* A test in virtual time, or in real time: all masters are up, and know nothing. */
class time
{
  public:
    explicit time(redlock_testing_time kind) { check(redlock_testing_begin(kind)); }
    time(const time &) = delete;
    time &operator=(const time &) = delete;
    milliseconds now() const noexcept { return milliseconds(redlock_testing_now_ms()); }
    void advance(milliseconds by = milliseconds(0)) { check(redlock_testing_advance(by.count())); }
};
struct virtual_time : time {
    virtual_time() : time(REDLOCK_TESTING_VIRTUAL) {}
};
struct real_time : time {
    real_time() : time(REDLOCK_TESTING_REAL) {}
};

enum class data { is_kept, is_lost };

inline void kill(unsigned master)
{
    check(redlock_testing_kill(master));
}
inline void restart(unsigned master, data of_it)
{
    check(redlock_testing_restart(master, of_it == data::is_kept));
}
inline void hang(unsigned master, bool hangs = true)
{
    check(redlock_testing_hang(master, hangs));
}
inline void cut(unsigned master, bool cut = true)
{
    check(redlock_testing_cut(master, cut));
}
inline void forget(unsigned master)
{
    check(redlock_testing_forget(master));
}
inline void lie(unsigned master, bool lies = true)
{
    check(redlock_testing_lie(master, lies));
}
inline void step_clock(unsigned master, milliseconds by)
{
    check(redlock_testing_step_clock(master, by.count()));
}

/* As another holder; `key` is the name with the prefix of the client before it. */
inline void hold(const std::string &key, milliseconds ttl)
{
    check(redlock_testing_hold(key.c_str(), ttl.count()));
}
inline void give(const std::string &key)
{
    check(redlock_testing_give(key.c_str()));
}
/* As `redlock break`: a keyword has the name of redlock_testing_break(). */
inline void take_away(const std::string &key)
{
    check(redlock_testing_break(key.c_str()));
}

} // namespace testing
} // namespace redlocks

#endif
