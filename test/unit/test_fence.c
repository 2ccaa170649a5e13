/* rule: F3 */
#include "unit.h"

#include "ground/fence.h"
#include "ground/quorum.h"

CASE(an_unknown_clock_has_reached_nothing)
{
    assert_int_equal(fence_reached((usec[]){0, 3, 2, 1, 0}, 5, 2), 2);
    assert_int_equal(fence_reached((usec[]){0, 0, 0}, 3, 0), 0);
}

static bool next_vector(usec *grants, unsigned masters, usec values)
{
    for (unsigned i = 0; i < masters; i++) {
        if (++grants[i] < values)
            return true;
        grants[i] = 0;
    }
    return false;
}

static unsigned equal(const usec *grants, unsigned masters, usec value)
{
    unsigned equal = 0;
    for (unsigned i = 0; i < masters; i++)
        equal += grants[i] == value;
    return equal;
}

/* Every vector of grants up to N = 6: the fence has a quorum of grants at or below it
 * and fewer than a quorum strictly below.  With all N = 2Q - 1 grants it is stored, and with any
 * other numbers if a quorum of them are equal, which is what proposals are for. */
static void holds_for_every_vector(unsigned spare)
{
    for (unsigned masters = quorum_least_masters(spare); masters <= 6; masters++) {
        usec grants[6] = {0};
        unsigned quorum = quorum_of(masters, spare);
        do {
            usec fence = fence_of(grants, masters, quorum);
            unsigned granted = 0, below = 0, up_to = 0;
            for (unsigned i = 0; i < masters; i++) {
                granted += grants[i] != 0;
                below += grants[i] && grants[i] < fence;
                up_to += grants[i] && grants[i] <= fence;
            }
            assert_int_equal(fence != 0, granted >= quorum);
            if (!fence)
                continue;
            assert_true(below < quorum && up_to >= quorum);
            bool is_stored = fence_reached(grants, masters, fence) >= quorum;
            if (granted == masters && masters == 2 * quorum - 1)
                assert_true(is_stored);
            for (usec value = 1; value < 5; value++)
                if (equal(grants, masters, value) >= quorum)
                    assert_true(is_stored && fence == value);
        } while (next_vector(grants, masters, 5));
    }
}

CASE(holds_without_spare_votes)
{
    holds_for_every_vector(0);
}

CASE(holds_with_spare_votes)
{
    for (unsigned spare = 1; spare <= 3; spare++)
        holds_for_every_vector(spare);
}

PROGRAM_OF_CASES(NULL, NULL)
