/* doc/fencing.md: what we propose is what moves all masters to one number. */
/* rule: F11 */
#include "unit.h"

#include "ground/quorum.h"
#include "ground/shared.h"
#include "masters/logical.h"

#define FIVE   5
#define NOW    MS(1000)
#define OFFSET MS(500000) /* the masters' wall clocks are ahead of ours by this */

static struct engine e; /* of the case */

/* `spare` of these may be wrong. */
static void have_masters(unsigned masters, unsigned spare)
{
    e = (struct engine){.now = NOW,
                        .max_ttl_ms = 30000,
                        .quorum = quorum_of(masters, spare),
                        .config = {.masters = masters, .spare = spare}};
    for (unsigned i = 0; i < masters; i++) {
        e.masters[i].met = e.masters[i].heard = true;
        e.masters[i].offset = OFFSET;
    }
    for (unsigned i = 0; i < masters; i++)
        assert_true(logical_hear(&e, i, NOW + OFFSET));
}

/* Their clocks are a millisecond apart. */
static int set_up(void **state)
{
    (void)state;
    have_masters(FIVE, 0);
    for (unsigned i = 0; i < FIVE; i++)
        assert_true(logical_hear(&e, i, NOW + OFFSET + MS(i)));
    return 0;
}

#define TEST(name) CASE_WITH(name, set_up, NULL)

TEST(test_proposes_above_all_it_heard)
{
    assert_int_equal(logical_propose(&e), NOW + OFFSET + MS(4) + 1);
    assert_int_equal(logical_propose(&e), NOW + OFFSET + MS(4) + 2);
    assert_true(logical_hear(&e, 2, NOW + OFFSET + MS(9)));
    assert_int_equal(logical_propose(&e), NOW + OFFSET + MS(9) + 1);
}

/* Its clock is ahead of the others by more than a proposal may be: they would cut it, each at
 * its own wall clock. */
TEST(test_one_in_quarantine_does_not_drive_the_others)
{
    usec ahead = NOW + OFFSET + CLOCK_WINDOW + MS(30000);
    e.masters[2].abstains_until = NOW + MS(30000);
    assert_true(logical_hear(&e, 2, ahead));
    assert_int_equal(logical_propose(&e), NOW + OFFSET + MS(4) + 1);
    e.now = e.masters[2].abstains_until;
    assert_true(logical_hear(&e, 2, ahead));
    assert_int_equal(logical_propose(&e), ahead + 1);
}

/* As far as the clock of a master begins that has restarted, and no further. */
TEST(test_the_bound_is_what_a_restart_covers)
{
    usec furthest = NOW + OFFSET + CLOCK_WINDOW + MS(30000) + MS(300) + MS(2);
    e.config.drift_ppm = 10000;
    e.config.skew_ms = 1000;
    assert_true(logical_hear(&e, 2, furthest));
    assert_false(logical_hear(&e, 2, furthest + 1));
    e.config.skew_ms = 40000;
    assert_true(logical_hear(&e, 2, NOW + OFFSET + CLOCK_WINDOW + MS(40000)));
    assert_false(logical_hear(&e, 2, NOW + OFFSET + CLOCK_WINDOW + MS(40000) + 1));
}

/* A clock that was believed, or only told, does not move the bound for the next. */
TEST(test_one_master_cannot_move_the_bound)
{
    usec told = NOW + OFFSET + CLOCK_WINDOW + MS(30000);
    assert_true(logical_hear(&e, 2, told));
    for (unsigned i = 0; i < FIVE; i++)
        if (i != 2)
            logical_hear(&e, i, told); /* it was stored there */
    assert_false(logical_hear(&e, 2, told + MS(30000)));
}

TEST(test_a_second_master_vouches)
{
    usec told = NOW + OFFSET + MS(3600000);
    assert_false(logical_hear(&e, 2, told));
    assert_false(logical_hear(&e, 4, told + 1)); /* which master vouches for this one? */
    assert_true(logical_believes(&e, told));
    assert_true(logical_hear(&e, 0, told + 1));
}

/* There is no other to ask. */
TEST(test_a_lone_master_is_believed)
{
    e.config.masters = e.quorum = 1;
    assert_true(logical_hear(&e, 0, NOW + OFFSET + MS(3600000)));
    e.config.masters = e.quorum = 2;
    assert_false(logical_hear(&e, 0, NOW + OFFSET + MS(3600000)));
}

/* ---- with spare votes --------------------------------------------------------- */

/* The walls of as many as may be wrong, ahead or behind, move neither what is believed nor what is
 * proposed. */
CASE(test_wrong_walls_move_nothing)
{
    static const unsigned settings[][2] = {{4, 1}, {5, 1}, {5, 2}, {6, 2}, {7, 1}, {7, 2}};
    usec far = MS(3600000), furthest = CLOCK_WINDOW + MS(30000) + MS(2);
    for (size_t i = 0; i < COUNT(settings); i++)
        for (int way = -1; way <= 1; way += 2) {
            unsigned masters = settings[i][0], spare = settings[i][1];
            have_masters(masters, spare);
            for (unsigned wrong = 0; wrong < spare; wrong++)
                e.masters[wrong].offset += way * far;
            assert_true(logical_believes(&e, NOW + OFFSET + furthest));
            assert_false(logical_believes(&e, NOW + OFFSET + furthest + 1));
            assert_int_equal(logical_propose(&e), NOW + OFFSET + 1);
        }
}

/* Else the grants of those that cut it, each at its wall, would not be equal. */
CASE(test_proposals_follow_no_liar)
{
    usec told = NOW + OFFSET + CLOCK_WINDOW + MS(30000);
    have_masters(7, 2);
    assert_true(logical_hear(&e, 3, told));
    assert_true(logical_hear(&e, 5, told + 7));
    assert_int_equal(logical_propose(&e), NOW + OFFSET + 1);
    assert_true(logical_hear(&e, 6, told + 9));
    assert_int_equal(logical_propose(&e), told + 1);
}

CASE(test_one_more_than_may_be_wrong_vouches)
{
    usec told = NOW + OFFSET + MS(3600000);
    have_masters(7, 2);
    assert_false(logical_hear(&e, 0, told));
    assert_false(logical_hear(&e, 1, told));
    assert_true(logical_hear(&e, 2, told));
}

PROGRAM_OF_CASES(NULL, NULL)
