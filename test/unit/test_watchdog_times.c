/* When a watchdog may be fed, and which timeout fits a lease. */
#include "../../tools/options/watchdog_times.h"

#include "unit.h"

#define SHORTEST 5800
#define LONGEST  INT64_C(120000)
#define COARSE   1000

static int64_t reach_of(int64_t timeout_s)
{
    return watchdog_reach_ms(timeout_s * 1000);
}

CASE(the_usual_ttl_has_room_for_four_seconds)
{
    assert_int_equal(watchdog_longest_s(10000), 4);
    assert_int_equal(watchdog_reach_ms(4000), 5290);
    assert_int_equal(watchdog_room_ms(10000), 5734);
    assert_int_equal(watchdog_early_ms(10000), 2790);
}

CASE(a_short_ttl_has_room_for_none)
{
    assert_true(watchdog_longest_s(SHORTEST) == WATCHDOG_LEAST_S);
    for (int64_t ttl = 1; ttl < SHORTEST - 100; ttl++)
        assert_true(watchdog_longest_s(ttl) < WATCHDOG_LEAST_S);
}

CASE(the_longest_that_fits_is_told)
{
    for (int64_t ttl = SHORTEST; ttl < LONGEST; ttl += 7) {
        int64_t longest = watchdog_longest_s(ttl);
        assert_true(reach_of(longest) <= watchdog_room_ms(ttl));
        assert_true(reach_of(longest + 1) > watchdog_room_ms(ttl));
    }
}

CASE(the_shortest_ttl_that_fits_is_told)
{
    for (int64_t timeout = WATCHDOG_LEAST_S; timeout < 300; timeout++) {
        int64_t ttl = watchdog_ttl_ms(timeout);
        assert_true(watchdog_longest_s(ttl) >= timeout);
        assert_true(watchdog_longest_s(ttl - 101) < timeout);
    }
}

CASE(a_machine_that_was_fed_is_reset_before_the_lease_ends)
{
    for (int64_t timeout = 2000; timeout < 60000; timeout += 1000) {
        int64_t end = 1000000, slow = timeout + timeout / 100 + COARSE;
        for (int64_t now = end - 100000; now < end; now += 50)
            if (watchdog_may_feed(now, timeout, end))
                assert_true(now + slow < end);
        assert_true(watchdog_may_feed(end - watchdog_reach_ms(timeout), timeout, end));
        assert_false(watchdog_may_feed(end - watchdog_reach_ms(timeout) + 1, timeout, end));
    }
}

CASE(nothing_is_fed_for_a_lease_that_is_gone)
{
    assert_false(watchdog_may_feed(0, 2000, 0));
    assert_false(watchdog_may_feed(1000000, 2000, 0));
}

/* Each renewal is sent a third of the ttl after the last one, and answered late. */
CASE(a_lease_that_is_renewed_in_time_can_be_fed_at_every_moment)
{
    for (int64_t ttl = SHORTEST; ttl < LONGEST; ttl += 501) {
        int64_t timeout = watchdog_longest_s(ttl) * 1000;
        int64_t end = ttl - ttl / 100; /* of a renewal that was sent at 0 */
        for (int64_t now = 0; now <= ttl / 3 + ttl / 12 - 1; now += 10)
            assert_true(watchdog_may_feed(now, timeout, end));
        assert_true(timeout - COARSE > WATCHDOG_FEED_MS);
    }
}

/* The last feed is up to a period before the last moment, and the device may be early. */
CASE(the_command_is_gone_before_an_unfed_machine_is_reset)
{
    for (int64_t ttl = SHORTEST; ttl < LONGEST; ttl += 501)
        for (int64_t timeout = 2000; timeout <= watchdog_longest_s(ttl) * 1000; timeout += 1000) {
            int64_t last =
                -watchdog_reach_ms(timeout) - WATCHDOG_FEED_MS; /* from the lease's end */
            assert_true(last + timeout - COARSE >= -watchdog_early_ms(ttl));
        }
}

CASE(the_usual_margin_has_room_for_an_order_to_end)
{
    for (int64_t ttl = SHORTEST; ttl < LONGEST; ttl += 7)
        assert_true(watchdog_early_ms(ttl) + 500 <= watchdog_room_ms(ttl));
}

PROGRAM_OF_CASES(NULL, NULL)
