/* A master may say what it likes: it costs its own vote at the most. */
/* rule: U17, K23 */
#include "core_world.h"

#include <stdio.h>

static const struct engine *engine(void)
{
    return &fake.engine;
}

static void say_hello(int64_t time, int64_t abstains, int64_t max_ttl_ms)
{
    struct hello hello = {.run_id = "run-3",
                          .role = "master",
                          .client_id = 301,
                          .time = time,
                          .abstains = abstains,
                          .max_ttl_ms = max_ttl_ms};
    fake_answer(&fake, 2, &(struct reply){.answer = ANSWER_HELLO, .hello = &hello});
}

/* Sanitizers watch the sums. */
CORE_TEST(test_numbers_without_bounds)
{
    static const int64_t edges[] = {INT64_MIN, INT64_MIN + 1, -1, 0, 1, INT64_MAX - 1, INT64_MAX};
    struct terms terms = {.ttl = MS(10000), .margin = MS(500), .renew = true};
    for (size_t t = 0; t < COUNT(edges); t++)
        for (size_t a = 0; a < COUNT(edges); a++) {
            fake_lose(&fake, 2, "broken pipe");
            fake_advance(&fake, MS(20));
            fake_connected(&fake, 2);
            say_hello(edges[t], edges[a], 30000);
            char name[16];
            snprintf(name, sizeof name, "A%zu-%zu", t, a);
            struct actor *actor = core_ask(name, "job", &terms, EVENT_ACQUIRE);
            for (unsigned i = 0; i < 2; i++)
                fake_answer(&fake, i, &(struct reply){.answer = ANSWER_YES});
            fake_call(&fake, actor, EVENT_EXTEND, 0);
            fake_call(&fake, actor, EVENT_ABANDON, 0);
            while (fake.masters[0].count)
                fake_answer(&fake, 0, &(struct reply){.answer = ANSWER_YES});
            while (fake.masters[1].count)
                fake_answer(&fake, 1, &(struct reply){.answer = ANSWER_YES});
        }
}

CORE_TEST(test_late_without_bounds)
{
    static const int64_t edges[] = {INT64_MIN, -1, 0, INT64_MAX};
    struct terms terms = {.ttl = MS(10000), .margin = MS(500), .renew = true};
    struct actor *actor = core_ask("A", "job", &terms, EVENT_ACQUIRE);
    for (unsigned i = 0; i < 3; i++)
        fake_answer(&fake, i, &(struct reply){.answer = ANSWER_YES});
    for (size_t i = 0; i < COUNT(edges); i++) {
        fake_call(&fake, actor, EVENT_EXTEND, 0);
        for (unsigned turn = 0; turn < 2; turn++)
            fake_answer(&fake, 2, &(struct reply){.answer = ANSWER_LATE, .master_time = edges[i]});
        fake_answer(&fake, 0, &(struct reply){.answer = ANSWER_YES});
        fake_answer(&fake, 1, &(struct reply){.answer = ANSWER_YES});
    }
    assert_true(lease_valid_until(&actor->core) > fake.now);
}

/* It says hello with a shorter ttl than clients told it, for ever: asked again once a
 * second, not as fast as it answers. */
CORE_TEST(test_hello_that_takes_no_advice)
{
    fake_lose(&fake, 2, "broken pipe");
    fake_advance(&fake, MS(20));
    fake_connected(&fake, 2);
    say_hello(fake.now, 0, 1000);
    unsigned sent = fake.sent;
    for (unsigned turn = 0; turn < 50; turn++) {
        fake_advance(&fake, MS(100));
        if (fake.masters[2].count)
            say_hello(fake.now, 0, 1000);
    }
    assert_in_range(fake.sent - sent, 4, 6);
    assert_false(master_may_grant(engine(), &engine()->masters[2]));
}

CORE_TEST(test_ttl_without_bounds)
{
    fake_lose(&fake, 2, "broken pipe");
    fake_advance(&fake, MS(20));
    fake_connected(&fake, 2);
    say_hello(fake.now, 0, INT64_MAX);
    assert_true(engine()->max_ttl_ms <= INT64_C(366) * 24 * 3600 * 1000);
    fake.masters[0].max_ttl_ms = fake.masters[1].max_ttl_ms = engine()->max_ttl_ms;
}

/* How long master 3 may be silent before a request to it counts as unknown. */
static usec timeout_of_it(void)
{
    return master_overdue(engine(), &engine()->masters[2], fake.now, MS(3600000), false) - fake.now;
}

static void answer_late_by(usec time)
{
    fake.now += time; /* no timer fires meanwhile: this process is stopped */
    for (unsigned i = 0; i < 3; i++)
        fake_answer(&fake, i, &(struct reply){.answer = ANSWER_YES});
}

/* An answer that waited while this process was stopped makes no round trip long. */
CORE_TEST(test_a_stop_teaches_no_timeout)
{
    struct terms terms = {.ttl = MS(20000), .margin = MS(500)};
    struct actor *actor = core_ask("A", "job", &terms, EVENT_ACQUIRE);
    answer_late_by(MS(100)); /* as far as that it may well be */
    usec before = timeout_of_it();
    assert_true(before > MS(50));
    fake_call(&fake, actor, EVENT_EXTEND, MS(20000));
    answer_late_by(MS(9000));
    assert_int_equal(timeout_of_it(), before);
}

CORE_TEST_ALONE(test_first_round_trip_has_a_bound)
{
    for (unsigned i = 0; i < 3; i++)
        fake_connected(&fake, i);
    fake.now += MS(9000);
    fake_answer_hello(&fake, 2);
    assert_in_range(timeout_of_it(), MS(50), MS(1000));
}

/* When the hello of this minute is sent by a client of that phase. */
static usec minute_of_phase(usec phase)
{
    fake.engine.phase = phase;
    fake_lose(&fake, 2, "broken pipe");
    fake_advance(&fake, MS(20));
    fake_connected(&fake, 2);
    say_hello(fake.now, 0, 30000);
    usec asked_at = fake.now;
    while (!fake.masters[2].count && fake.now < asked_at + MS(70000))
        fake_advance(&fake, MS(100));
    return fake.now - asked_at;
}

/* Else all clients would ask at once, each minute, from the end of a quarantine on. */
CORE_TEST(test_clients_ask_at_moments_of_their_own)
{
    assert_int_equal(minute_of_phase(0), MS(60000));
    assert_int_equal(minute_of_phase(MS(2000)), MS(58000));
    assert_int_equal(minute_of_phase(MS(4294900)), MS(60000) - MS(4294900) % MS(6000));
}

CORE_TEST(test_a_hello_makes_nobody_busy)
{
    assert_false(engine_is_busy(engine()));
    fake_advance(&fake, MS(60000));
    assert_true(fake.masters[2].count);
    assert_false(engine_is_busy(engine()));
}

PROGRAM_OF_CASES(NULL, NULL)
