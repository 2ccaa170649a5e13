/* The times that are counted: a known one is in its bucket, and those at risk are counted. */
#include "core_world.h"

#include "ground/histogram.h"

#define TTL    MS(10000)
#define MARGIN MS(500)

static struct actor *ask(const char *name, usec wait)
{
    struct terms terms = {.ttl = TTL, .margin = MARGIN, .renew = true, .wait = wait};
    return core_ask(name, "N", &terms, EVENT_ACQUIRE);
}

/* Such times, and no others, were counted. */
static void assert_counted(const struct times *times, unsigned count, usec each)
{
    for (unsigned i = 0; i < TIME_BUCKETS; i++) {
        bool longer = i > 0 && each <= BUCKET_US(i - 1), shorter = each > BUCKET_US(i);
        assert_int_equal(times->buckets[i], longer || shorter ? 0 : count);
    }
    assert_int_equal(times->sum, count * (uint64_t)each);
}

/* ---- buckets --------------------------------------------------------------- */

static void assert_bucket(usec time, unsigned bucket)
{
    struct times times = {0};
    histogram_add(&times, time);
    for (unsigned i = 0; i < TIME_BUCKETS; i++)
        assert_int_equal(times.buckets[i], i == bucket);
    assert_int_equal(times.sum, time > 0 ? time : 0);
}

CASE(a_bucket_has_its_upper_end)
{
    assert_bucket(-1, 0);
    assert_bucket(0, 0);
    assert_bucket(1, 0);
    for (unsigned i = 0; i < TIME_BUCKETS - 1; i++) {
        assert_bucket(BUCKET_US(i), i);
        assert_bucket(BUCKET_US(i) + 1, i + 1);
    }
    assert_bucket(NEVER, TIME_BUCKETS - 1);
}

/* ---- leases ----------------------------------------------------------------- */

CORE_TEST(to_acquire_and_hold)
{
    struct actor *lease = ask("A", 0);
    fake_advance(&fake, MS(3));
    answer_all(ANSWER_YES);
    assert_counted(&fake.engine.counters.acquiring, 1, MS(3));
    assert_counted(&fake.engine.counters.holding, 0, 0);
    fake_advance(&fake, MS(700));
    fake_call(&fake, lease, EVENT_RELEASE, 0);
    assert_counted(&fake.engine.counters.holding, 1, MS(700));
    fake_advance(&fake, MS(50));
    answer_all(ANSWER_YES);
    assert_counted(&fake.engine.counters.acquiring, 1, MS(3));
    assert_counted(&fake.engine.counters.holding, 1, MS(700));
    assert_counted(&fake.engine.counters.queued, 0, 0);
}

CORE_TEST(a_lease_not_told_is_not_held)
{
    fake.telling = false;
    struct actor *lease = ask("A", 0);
    answer_all(ANSWER_YES);
    fake_call(&fake, lease, EVENT_RELEASE, 0);
    fake_tell_all(&fake);
    assert_counted(&fake.engine.counters.acquiring, 0, 0);
    assert_counted(&fake.engine.counters.holding, 0, 0);
}

CORE_TEST(until_it_is_lost)
{
    ask("A", 0);
    answer_all(ANSWER_YES);
    fake_advance(&fake, TTL);
    usec valid = TTL - quorum_drift(TTL, 10000);
    assert_int_equal(fake.engine.counters.lost, 1);
    assert_counted(&fake.engine.counters.holding, 1, valid - MARGIN);
}

CORE_TEST(left_at_a_renewal)
{
    struct actor *lease = ask("A", 0);
    answer_all(ANSWER_YES);
    usec until = lease->core.valid_until;
    fake_advance(&fake, MS(1000));
    fake_call(&fake, lease, EVENT_EXTEND, 0);
    fake_advance(&fake, MS(30));
    fake_answer(&fake, 0, &(struct reply){.answer = ANSWER_YES});
    assert_counted(&fake.engine.counters.left, 0, 0);
    answer_all(ANSWER_YES);
    assert_int_equal(fake.engine.counters.renewals, 1);
    assert_counted(&fake.engine.counters.left, 1, until - fake.now);
}

CORE_TEST(handed_over_here)
{
    struct actor *holder = ask("A", 0);
    answer_all(ANSWER_YES);
    ask("B", MS(60000));
    fake_advance(&fake, MS(2));
    answer_all(ANSWER_HELD);
    fake_advance(&fake, MS(20));
    fake_call(&fake, holder, EVENT_RELEASE, 0);
    assert_int_equal(fake.engine.counters.handed_here, 1);
    assert_counted(&fake.engine.counters.queued, 1, MS(22));
    assert_counted(&fake.engine.counters.holding, 1, MS(22));
}

/* Its renewal goes along, with what it is to prolong. */
CORE_TEST(handed_over_while_renewing)
{
    struct actor *holder = ask("A", 0);
    answer_all(ANSWER_YES);
    ask("B", MS(60000));
    answer_all(ANSWER_HELD);
    usec until = holder->core.valid_until;
    fake_call(&fake, holder, EVENT_EXTEND, 0);
    fake_advance(&fake, MS(20));
    fake_call(&fake, holder, EVENT_RELEASE, 0);
    assert_int_equal(fake.engine.counters.handed_here, 1);
    answer_all(ANSWER_YES);
    assert_counted(&fake.engine.counters.left, 1, until - fake.now);
}

/* The end of a long wait has no room. */
CASE(a_hold_after_a_long_wait)
{
    static const usec waits[] = {
        0, 1, (1 << WAITED_BITS) - 1, 1 << WAITED_BITS, MS(3600000), MS(86400000) * 20};
    for (unsigned i = 0; i < COUNT(waits); i++) {
        struct lease lease = {.asked_at = EPOCH};
        lease_note_waited(&lease, waits[i]);
        usec held = lease_held_for(&lease, EPOCH + waits[i] + MS(500));
        assert_in_range(held, MS(500), MS(500) + (i < 3 ? 0 : 1 << WAITED_LONG));
    }
}

/* ---- at risk ----------------------------------------------------------------- */

static void refuse_renewal(struct actor *lease)
{
    fake_call(&fake, lease, EVENT_EXTEND, 0);
    answer_all(ANSWER_ERROR);
}

CORE_TEST(those_at_risk)
{
    struct actor *lease = ask("A", 0);
    answer_all(ANSWER_YES);
    assert_int_equal(fake.engine.at_risk, 0);
    refuse_renewal(lease);
    refuse_renewal(lease);
    assert_int_equal(fake.engine.at_risk, 1);
    fake_call(&fake, lease, EVENT_EXTEND, 0);
    answer_all(ANSWER_YES);
    assert_int_equal(fake.engine.at_risk, 0);
    refuse_renewal(lease);
    fake_call(&fake, lease, EVENT_RELEASE, 0);
    assert_int_equal(fake.engine.at_risk, 0);
}

PROGRAM_OF_CASES(NULL, NULL)
