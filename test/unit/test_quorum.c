/* doc/design/validity.md: the arithmetic that safety rests on. */
#include "unit.h"

#include "ground/quorum.h"

/* ---- verdicts ------------------------------------------------------------- */

enum voter { YES, NO, OPEN, VOTES };

/* By definition: the fewest of which any two sets have more than `spare` in common. */
static unsigned naive_quorum(unsigned masters, unsigned spare)
{
    unsigned quorum = 0;
    while (2 * quorum < masters + spare + 1)
        quorum++;
    return quorum;
}

/* By definition: decided when it ends the same however the open votes fall. */
static enum verdict naive_verdict(unsigned masters, unsigned quorum, const enum voter *votes)
{
    unsigned open = 0, yes = 0;
    for (unsigned i = 0; i < masters; i++) {
        yes += votes[i] == YES;
        open += votes[i] == OPEN;
    }
    bool can_win = false, can_lose = false;
    for (unsigned fall = 0; fall < 1U << open; fall++) {
        unsigned all = yes + (unsigned)__builtin_popcount(fall);
        if (all >= quorum)
            can_win = true;
        else
            can_lose = true;
    }
    return !can_lose ? VERDICT_WON : !can_win ? VERDICT_LOST : VERDICT_PENDING;
}

static bool next_vector(unsigned masters, enum voter *votes)
{
    for (unsigned i = 0; i < masters; i++) {
        if (++votes[i] < VOTES)
            return true;
        votes[i] = YES;
    }
    return false;
}

static void every_vote_vector(unsigned spare)
{
    for (unsigned masters = quorum_least_masters(spare); masters <= 7; masters++) {
        enum voter votes[7] = {YES};
        unsigned quorum = quorum_of(masters, spare);
        do {
            unsigned yes = 0, open = 0;
            for (unsigned i = 0; i < masters; i++) {
                yes += votes[i] == YES;
                open += votes[i] == OPEN;
            }
            assert_int_equal(quorum_verdict(quorum, yes, open),
                             naive_verdict(masters, naive_quorum(masters, spare), votes));
        } while (next_vector(masters, votes));
    }
}

CASE(test_every_vote_vector)
{
    for (unsigned spare = 0; spare <= 4; spare++)
        every_vote_vector(spare);
}

/* Each pair of quorums, as sets of masters: however `spare` of these are wrong, one that both
 * have is not. */
CASE(test_two_quorums_share_an_honest_master)
{
    for (unsigned spare = 0; spare <= 4; spare++)
        for (unsigned masters = quorum_least_masters(spare); masters <= 7; masters++) {
            unsigned quorum = quorum_of(masters, spare), least = masters;
            for (unsigned a = 0; a < 1U << masters; a++)
                for (unsigned b = 0; b < 1U << masters; b++) {
                    unsigned common = (unsigned)__builtin_popcount(a & b);
                    if ((unsigned)__builtin_popcount(a) == quorum &&
                        (unsigned)__builtin_popcount(b) == quorum && common < least)
                        least = common;
                }
            assert_true(least > spare);
        }
}

CASE(test_no_larger_than_need_be)
{
    for (unsigned spare = 0; spare < MASTERS_MAX; spare++)
        for (unsigned masters = quorum_least_masters(spare); masters <= MASTERS_MAX; masters++) {
            unsigned quorum = quorum_of(masters, spare);
            assert_int_equal(quorum, naive_quorum(masters, spare));
            assert_true(quorum <= masters - (spare > 0));
        }
    for (unsigned spare = 1; spare + 2 <= MASTERS_MAX; spare++)
        assert_int_equal(quorum_of(quorum_least_masters(spare) - 1, spare),
                         quorum_least_masters(spare) - 1);
    for (unsigned spare = 1; 3 * spare + 1 <= MASTERS_MAX; spare++) /* they may refuse */
        assert_true(quorum_of(3 * spare + 1, spare) <= 2 * spare + 1);
    assert_int_equal(quorum_of(4, 1), 3);
    assert_int_equal(quorum_of(5, 1), 4);
    assert_int_equal(quorum_of(7, 2), 5);
}

/* ---- what a few of them say ------------------------------------------------------ */

CASE(test_what_more_tell_than_may_be_wrong)
{
    static const usec told[] = {5, 99, 7, 3, 8};
    assert_int_equal(quorum_vouched(told, 5, 0), 99);
    assert_int_equal(quorum_vouched(told, 5, 1), 8);
    assert_int_equal(quorum_vouched(told, 5, 2), 7);
    assert_int_equal(quorum_vouched(told, 2, 3), 5);
    assert_int_equal(quorum_vouched(told, 2, 2), 5);
    assert_int_equal(quorum_vouched(told, 0, 1), 0);
}

CASE(test_the_longest_ttl_is_no_liars)
{
    static const int64_t told[] = {30, 86400, 40, 86400, 30, 20, 10};
    assert_int_equal(quorum_longest(told, 1, 0), 30);
    assert_int_equal(quorum_longest(told, 2, 0), 86400);
    assert_int_equal(quorum_longest(told, 3, 0), 40);
    assert_int_equal(quorum_longest(told, 5, 1), 86400);
    assert_int_equal(quorum_longest(told, 7, 2), 40);
}

/* ---- drift and promises ------------------------------------------------------ */

/* In 128 bits nothing overflows; rounded up, so that no drift is forgotten. */
static usec naive_drift(usec ttl, int64_t ppm)
{
    return (usec)(((__int128)ttl * ppm + 999999) / 1000000 + 2000);
}

static const usec ttls[] = {1,
                            2,
                            99,
                            100,
                            101,
                            MS(1) - 1,
                            MS(1),
                            999999,
                            1000000,
                            1000001,
                            MS(10000),
                            MS(30000) + 1,
                            INT64_C(365) * 24 * 3600 * 1000000,
                            INT64_MAX / 4,
                            INT64_MAX / 2 - 1,
                            INT64_MAX / 2};
static const int64_t ppms[] = {0, 1, 2, 9999, 10000, 10001, 83000, 249999, 250000};

CASE(test_the_fewest_masters)
{
    assert_int_equal(quorum_least_masters(0), 1);
    assert_int_equal(quorum_least_masters(1), 4);
}

CASE(test_drift_at_the_edges)
{
    for (size_t t = 0; t < COUNT(ttls); t++)
        for (size_t p = 0; p < COUNT(ppms); p++)
            assert_int_equal(quorum_drift(ttls[t], ppms[p]), naive_drift(ttls[t], ppms[p]));
    assert_int_equal(quorum_drift(MS(10000), 10000), MS(102));
    assert_int_equal(quorum_drift(1, 1), 2001);
}

CASE(test_promise_at_the_edges)
{
    static const usec sent[] = {0, 1, MS(1000), INT64_MAX / 4, INT64_MAX / 2};
    for (size_t s = 0; s < COUNT(sent); s++)
        for (size_t t = 0; t < COUNT(ttls); t++)
            for (size_t p = 0; p < COUNT(ppms); p++) {
                __int128 promise = (__int128)sent[s] + ttls[t] - naive_drift(ttls[t], ppms[p]);
                assert_true(quorum_promise(sent[s], ttls[t], ppms[p]) == promise);
            }
    /* A ttl shorter than its drift is over before it began. */
    assert_true(quorum_promise(MS(1000), MS(2), 10000) < MS(1000));
    assert_int_equal(quorum_promise(0, MS(10000), 10000), MS(9898));
}

CASE(test_ttl_for_a_validity)
{
    static const usec validities[] = {0, 1, 999, MS(1), MS(10000), MS(30000) + 1, MS(86400000)};
    for (size_t v = 0; v < COUNT(validities); v++)
        for (size_t p = 0; p < COUNT(ppms); p++) {
            usec ttl = quorum_ttl_for(validities[v], ppms[p]);
            assert_int_equal(ttl % 1000, 0);
            assert_true(quorum_promise(0, ttl, ppms[p]) >= validities[v]);
            assert_true(quorum_promise(0, ttl - 1000, ppms[p]) < validities[v]);
        }
    assert_int_equal(quorum_ttl_for(MS(9898), 10000), MS(10000));
}

/* ---- valid_until ---------------------------------------------------------------- */

/* By definition: the latest moment at which a quorum still promises it. */
static usec naive_valid_until(const usec *promises, unsigned masters, unsigned quorum)
{
    usec latest = INT64_MIN;
    for (unsigned i = 0; i < masters; i++) {
        unsigned keep = 0;
        for (unsigned j = 0; j < masters; j++)
            keep += promises[j] >= promises[i];
        if (keep >= quorum && promises[i] > latest)
            latest = promises[i];
    }
    return latest;
}

static usec any_promise(void)
{
    switch (unit_chance() % 6) {
    case 0:
        return 0;
    case 1:
        return INT64_MAX - (usec)(unit_chance() % 3);
    case 2:
        return (usec)(unit_chance() % 4); /* equals among them */
    default:
        return (usec)(unit_chance() >> 1);
    }
}

CASE(test_valid_until_of_random_ledgers)
{
    for (unsigned turn = 0; turn < 200000; turn++) {
        usec promises[MASTERS_MAX];
        unsigned masters = 1 + turn % MASTERS_MAX;
        unsigned spare = masters < 4 ? 0 : (unsigned)(unit_chance() % (masters - 2));
        unsigned quorum = quorum_of(masters, spare);
        for (unsigned i = 0; i < masters; i++)
            promises[i] = any_promise();
        assert_int_equal(quorum_valid_until(promises, masters, quorum),
                         naive_valid_until(promises, masters, naive_quorum(masters, spare)));
    }
}

PROGRAM_OF_CASES(NULL, NULL)
