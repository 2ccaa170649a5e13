/* When the renewals of many leases leave: together, and yet each in its time. */
/* rule: K15 */
#include "core_world.h"

#include <stdio.h>

#define LEASES ACTORS_MAX
#define TTL    MS(10000)

static void hold(unsigned count)
{
    struct terms terms = {.ttl = TTL, .margin = MS(500), .renew = true};
    for (unsigned i = 0; i < count; i++) {
        char name[16];
        snprintf(name, sizeof name, "L%u", i);
        core_ask(name, name, &terms, EVENT_ACQUIRE);
        answer_all(ANSWER_YES);
    }
}

/* Renews for two ttls; how many moments it took.  None may be too early or too late. */
static unsigned moments_of_renewal(unsigned leases)
{
    usec due[LEASES];
    unsigned moments = 0;
    while (fake_until(&fake, EPOCH + 2 * TTL, &fake.sent)) {
        moments++;
        answer_all(ANSWER_YES);
        for (unsigned i = 0; i < leases; i++) {
            due[i] = fake.actors[i].core.wake_at - fake.now;
            assert_true(due[i] > 0 && due[i] <= TTL / 3);
        }
    }
    assert_in_range(fake.engine.counters.renewals, 5 * leases, 6 * leases);
    assert_int_equal(fake.engine.counters.lost, 0);
    return moments;
}

CORE_TEST(test_many_renew_together)
{
    hold(LEASES);
    /* The first are scattered; later ones meet 3 % of the ttl apart, in steps of ttl / 256
     * to ttl / 128. */
    assert_in_range(moments_of_renewal(LEASES), 20, 3 * LEASES);
}

CORE_TEST(test_few_keep_their_own_time)
{
    hold(LEASES / 2);
    assert_in_range(moments_of_renewal(LEASES / 2), 4 * LEASES / 2, 6 * LEASES / 2);
}

CORE_TEST(test_not_before_three_tenths)
{
    hold(LEASES);
    for (unsigned turn = 0; turn < 50; turn++)
        for (unsigned i = 0; i < LEASES; i++) {
            fake_call(&fake, &fake.actors[i], EVENT_EXTEND, 0);
            answer_all(ANSWER_YES);
            assert_in_range(fake.actors[i].core.wake_at - fake.now, TTL / 10 * 3, TTL / 3);
        }
}

PROGRAM_OF_CASES(NULL, NULL)
