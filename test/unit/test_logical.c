/* doc/fencing.md: what we propose is what moves all masters to one number. */
#include "unit.h"

#include "engine.h"
#include "logical.h"

#define FIVE   5
#define NOW    MS(1000)
#define OFFSET MS(500000) /* the masters' wall clocks are ahead of ours by this */

static void five_masters(struct engine *e)
{
    *e = (struct engine){.now = NOW, .max_ttl_ms = 30000, .config.masters = FIVE};
    for (unsigned i = 0; i < FIVE; i++) {
        e->masters[i].met = true;
        e->masters[i].offset = OFFSET;
    }
    for (unsigned i = 0; i < FIVE; i++)
        assert_true(logical_hear(e, i, NOW + OFFSET + MS(i)));
}

static void test_proposes_above_all_it_heard(void **state)
{
    struct engine e;
    (void)state;
    five_masters(&e);
    assert_int_equal(logical_propose(&e), NOW + OFFSET + MS(4) + 1);
    assert_int_equal(logical_propose(&e), NOW + OFFSET + MS(4) + 2);
    assert_true(logical_hear(&e, 2, NOW + OFFSET + MS(9)));
    assert_int_equal(logical_propose(&e), NOW + OFFSET + MS(9) + 1);
}

static void test_a_clock_out_of_all_reason_is_refused(void **state)
{
    struct engine e;
    (void)state;
    five_masters(&e);
    assert_false(logical_hear(&e, 2, NOW + OFFSET + MS(3600000)));
    assert_int_equal(logical_propose(&e), NOW + OFFSET + MS(4) + 1);
}

/* Its clock is ahead of the others by more than a proposal may be: they would cut it,
 * each where its own wall clock stands. */
static void test_one_in_quarantine_does_not_drive_the_others(void **state)
{
    struct engine e;
    usec ahead = NOW + OFFSET + CLOCK_WINDOW + MS(30000);
    (void)state;
    five_masters(&e);
    e.masters[2].abstains_until = NOW + MS(30000);
    assert_true(logical_hear(&e, 2, ahead));
    assert_int_equal(logical_propose(&e), NOW + OFFSET + MS(4) + 1);
    e.now = e.masters[2].abstains_until;
    assert_true(logical_hear(&e, 2, ahead));
    assert_int_equal(logical_propose(&e), ahead + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_proposes_above_all_it_heard),
        cmocka_unit_test(test_a_clock_out_of_all_reason_is_refused),
        cmocka_unit_test(test_one_in_quarantine_does_not_drive_the_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
