/* doc/design.md, Validity: the arithmetic that safety rests on. */
#include "unit.h"

#include "quorum.h"

/* ---- verdicts ------------------------------------------------------------- */

enum vote { YES, NO, OPEN, VOTES };

/* By definition: decided when it ends the same however the open votes fall. */
static enum verdict naive_verdict(unsigned masters, const enum vote *votes)
{
    unsigned open = 0, yes = 0;
    for (unsigned i = 0; i < masters; i++) {
        yes += votes[i] == YES;
        open += votes[i] == OPEN;
    }
    bool can_win = false, can_lose = false;
    for (unsigned fall = 0; fall < 1U << open; fall++) {
        unsigned all = yes + (unsigned)__builtin_popcount(fall);
        if (2 * all > masters)
            can_win = true;
        else
            can_lose = true;
    }
    return !can_lose ? VERDICT_WON : !can_win ? VERDICT_LOST : VERDICT_PENDING;
}

static bool next_vector(unsigned masters, enum vote *votes)
{
    for (unsigned i = 0; i < masters; i++) {
        if (++votes[i] < VOTES)
            return true;
        votes[i] = YES;
    }
    return false;
}

static void test_every_vote_vector(void **state)
{
    (void)state;
    for (unsigned masters = 1; masters <= 7; masters++) {
        enum vote votes[7] = {YES};
        do {
            unsigned yes = 0, open = 0;
            for (unsigned i = 0; i < masters; i++) {
                yes += votes[i] == YES;
                open += votes[i] == OPEN;
            }
            assert_int_equal(quorum_verdict(masters, yes, open), naive_verdict(masters, votes));
        } while (next_vector(masters, votes));
    }
}

static void test_two_quorums_share_a_master(void **state)
{
    (void)state;
    for (unsigned masters = 1; masters <= MASTERS_MAX; masters++) {
        assert_true(2 * quorum_of(masters) > masters);
        assert_true(quorum_of(masters) <= masters);
        /* No larger than it need be: one less could be met twice. */
        assert_true(2 * (quorum_of(masters) - 1) <= masters);
    }
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

static void test_drift_at_the_edges(void **state)
{
    (void)state;
    for (size_t t = 0; t < COUNT(ttls); t++)
        for (size_t p = 0; p < COUNT(ppms); p++)
            assert_int_equal(quorum_drift(ttls[t], ppms[p]), naive_drift(ttls[t], ppms[p]));
    assert_int_equal(quorum_drift(MS(10000), 10000), MS(102));
    assert_int_equal(quorum_drift(1, 1), 2001);
}

static void test_drift_never_shrinks(void **state)
{
    (void)state;
    for (size_t p = 0; p < COUNT(ppms); p++)
        for (size_t t = 1; t < COUNT(ttls); t++)
            assert_true(quorum_drift(ttls[t], ppms[p]) >= quorum_drift(ttls[t - 1], ppms[p]));
}

static void test_promise_at_the_edges(void **state)
{
    static const usec sent[] = {0, 1, MS(1000), INT64_MAX / 4, INT64_MAX / 2};
    (void)state;
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

/* ---- valid_until ---------------------------------------------------------------- */

/* By definition: the latest moment at which a quorum still stands by it. */
static usec naive_valid_until(const usec *promises, unsigned masters)
{
    usec latest = INT64_MIN;
    for (unsigned i = 0; i < masters; i++) {
        unsigned standing = 0;
        for (unsigned j = 0; j < masters; j++)
            standing += promises[j] >= promises[i];
        if (2 * standing > masters && promises[i] > latest)
            latest = promises[i];
    }
    return latest;
}

static uint64_t chance(void)
{
    static uint64_t seed = 88172645463325252U;
    seed ^= seed << 13;
    seed ^= seed >> 7;
    return seed ^= seed << 17;
}

static usec any_promise(void)
{
    switch (chance() % 6) {
    case 0:
        return 0;
    case 1:
        return INT64_MAX - (usec)(chance() % 3);
    case 2:
        return (usec)(chance() % 4); /* equals among them */
    default:
        return (usec)(chance() >> 1);
    }
}

static void test_valid_until_of_random_ledgers(void **state)
{
    (void)state;
    for (unsigned turn = 0; turn < 200000; turn++) {
        usec promises[MASTERS_MAX];
        unsigned masters = 1 + turn % MASTERS_MAX;
        for (unsigned i = 0; i < masters; i++)
            promises[i] = any_promise();
        assert_int_equal(quorum_valid_until(promises, masters),
                         naive_valid_until(promises, masters));
    }
}

static void test_valid_until_of_plain_ledgers(void **state)
{
    (void)state;
    usec none[MASTERS_MAX] = {0}, same[MASTERS_MAX];
    for (unsigned i = 0; i < MASTERS_MAX; i++)
        same[i] = INT64_MAX;
    for (unsigned masters = 1; masters <= MASTERS_MAX; masters++) {
        assert_int_equal(quorum_valid_until(none, masters), 0);
        assert_int_equal(quorum_valid_until(same, masters), INT64_MAX);
    }
    assert_int_equal(quorum_valid_until((usec[]){5, 0, 9, 0, 7}, 5), 5);
    assert_int_equal(quorum_valid_until((usec[]){5, 0, 9, 0, 0}, 5), 0);
    assert_int_equal(quorum_valid_until((usec[]){5, 9}, 2), 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_vote_vector),
        cmocka_unit_test(test_two_quorums_share_a_master),
        cmocka_unit_test(test_drift_at_the_edges),
        cmocka_unit_test(test_drift_never_shrinks),
        cmocka_unit_test(test_promise_at_the_edges),
        cmocka_unit_test(test_valid_until_of_random_ledgers),
        cmocka_unit_test(test_valid_until_of_plain_ledgers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
