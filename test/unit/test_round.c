/* One question put to all masters: ballots, their deadlines, their count.  rule: F4 */
#include "unit.h"

#include "../plain_memory.h"
#include "ground/round.h"

#define MASTERS 5
#define QUORUM  3

/* When each master's answer is overdue. */
static const usec overdue[MASTERS] = {50, 60, 10, 10, 10};

static const struct memory memory = PLAIN_MEMORY;

static struct round *fresh(usec give_up)
{
    struct round *round = calloc(1, sizeof *round + MASTERS * sizeof(struct ballot));
    /* Rounds are pooled: what the last one left must not show. */
    memset(round->ballots, 0x5a, MASTERS * sizeof(struct ballot));
    round_begin(round, MASTERS, REQUEST_ACQUIRE, 7, give_up);
    return round;
}

static void drop(struct round *round)
{
    round_hush(round, &memory, MASTERS);
    free(round);
}

static void hear(struct round *round, unsigned master, const char *holder)
{
    round_vote_text(round, &memory, MASTERS, master, VOTE_HELD,
                    (struct slice){holder, strlen(holder)});
}

CASE(test_begins_with_nothing_said)
{
    struct round *round = fresh(100);
    assert_false(round->begun);
    assert_int_equal(round_undecided(round, MASTERS), 0);
    assert_int_equal(round_yes(round, MASTERS), 0);
    assert_int_equal(round_count(round, MASTERS, VOTE_NOTHING), MASTERS);
    for (unsigned i = 0; i < MASTERS; i++) {
        assert_int_equal(round->ballots[i].remaining_ms, -1);
        assert_string_equal(round_text(round, i), "");
        assert_false(round->ballots[i].again);
    }
    drop(round);
}

CASE(test_what_counts_as_yes)
{
    static const struct {
        enum vote vote;
        unsigned yes;
    } votes[] = {{VOTE_NOTHING, 0},     {VOTE_GRANTED, 1},  {VOTE_HEALED, 1},  {VOTE_HELD, 0},
                 {VOTE_FREE, 0},        {VOTE_RELEASED, 1}, {VOTE_REFUSED, 0}, {VOTE_TIMEOUT, 0},
                 {VOTE_UNREACHABLE, 0}, {VOTE_ABSTAINS, 0}};
    for (size_t i = 0; i < COUNT(votes); i++) {
        struct round *round = fresh(100);
        round_vote(round, 2, votes[i].vote);
        assert_int_equal(round_yes(round, MASTERS), votes[i].yes);
        assert_int_equal(round_undecided(round, MASTERS), 0);
        drop(round);
    }
}

CASE(test_decided_early)
{
    struct round *round = fresh(100);
    for (unsigned i = 0; i < MASTERS; i++)
        round_ask(round, i, 0);
    assert_true(round->begun);
    round_vote(round, 0, VOTE_GRANTED);
    round_vote(round, 1, VOTE_HEALED);
    assert_int_equal(round_verdict(round, MASTERS, QUORUM), VERDICT_PENDING);
    round_vote(round, 2, VOTE_HELD);
    round_vote(round, 3, VOTE_HELD);
    assert_int_equal(round_verdict(round, MASTERS, QUORUM), VERDICT_PENDING);
    round_vote(round, 4, VOTE_GRANTED);
    assert_int_equal(round_verdict(round, MASTERS, QUORUM), VERDICT_WON);
    round_vote(round, 4, VOTE_TIMEOUT);
    assert_int_equal(round_verdict(round, MASTERS, QUORUM), VERDICT_LOST);
    drop(round);
}

CASE(test_expires_to_the_microsecond)
{
    unsigned timeouts = 0;
    struct round *round = fresh(80);
    round_ask(round, 0, 0);
    round_ask(round, 1, 0);
    round->ballots[2].state = BALLOT_CONNECTING;
    assert_false(round_expire(round, MASTERS, 49, overdue, &timeouts));
    assert_true(round_expire(round, MASTERS, 50, overdue, &timeouts));
    assert_int_equal(round->ballots[0].vote, VOTE_TIMEOUT);
    assert_true(round_expire(round, MASTERS, 79, overdue, &timeouts));
    assert_true(round_expire(round, MASTERS, 80, overdue, &timeouts));
    assert_int_equal(round->ballots[2].vote, VOTE_UNREACHABLE);
    assert_int_equal(timeouts, 2);
    assert_false(round_expire(round, MASTERS, NEVER, overdue, &timeouts));
    drop(round);
}

/* A grant whose fence is being stored is both asked and granted: it is one vote. */
CASE(test_a_grant_asked_again_counts_once)
{
    struct round *round = fresh(100);
    for (unsigned i = 0; i < 3; i++)
        round_vote(round, i, VOTE_GRANTED);
    round_ask(round, 0, 10);
    round_ask(round, 1, 10);
    assert_int_equal(round_yes(round, MASTERS), 3);
    assert_int_equal(round_undecided(round, MASTERS), 2);
    assert_int_equal(round_may_say_yes(round, MASTERS), 0);
    assert_int_equal(round_verdict(round, MASTERS, QUORUM), VERDICT_WON);
    round_vote(round, 0, VOTE_FREE);
    assert_int_equal(round_verdict(round, MASTERS, QUORUM), VERDICT_LOST);
    round_ask(round, 3, 10);
    assert_int_equal(round_may_say_yes(round, MASTERS), 1);
    assert_int_equal(round_verdict(round, MASTERS, QUORUM), VERDICT_PENDING);
    drop(round);
}

CASE(test_the_grace_ends_once)
{
    unsigned timeouts = 0;
    struct round *round = fresh(100);
    assert_false(round_expire(round, MASTERS, 1000, overdue, &timeouts));
    round->grace = 30;
    assert_false(round_expire(round, MASTERS, 29, overdue, &timeouts));
    assert_true(round_expire(round, MASTERS, 30, overdue, &timeouts));
    assert_int_equal(round->grace, 0);
    assert_false(round_expire(round, MASTERS, 31, overdue, &timeouts));
    assert_int_equal(timeouts, 0);
    drop(round);
}

/* The master refused, and was asked only for the holder: its silence changes nothing. */
CASE(test_a_refusal_stands)
{
    unsigned timeouts = 0;
    struct round *round = fresh(80);
    round_vote(round, 0, VOTE_HELD);
    round_ask(round, 0, 0);
    assert_true(round_expire(round, MASTERS, 50, overdue, &timeouts));
    assert_int_equal(round->ballots[0].vote, VOTE_HELD);
    drop(round);
}

CASE(test_hope_given_up)
{
    struct round *round = fresh(80);
    round_give_up_connecting(round, MASTERS);
    assert_false(round->incomplete);
    round_ask(round, 0, 0);
    round->ballots[1].state = BALLOT_CONNECTING;
    assert_int_equal(round_undecided(round, MASTERS), 2);
    round_give_up_connecting(round, MASTERS);
    assert_true(round->incomplete);
    assert_int_equal(round_undecided(round, MASTERS), 1);
    assert_int_equal(round->ballots[1].vote, VOTE_UNREACHABLE);
    round_close(round, MASTERS);
    assert_int_equal(round_undecided(round, MASTERS), 0);
    drop(round);
}

CASE(test_words_are_cut)
{
    char words[2 * VOTE_TEXT_MAX];
    memset(words, 'w', sizeof words);
    struct round *round = fresh(80);
    for (size_t length = VOTE_TEXT_MAX - 2; length <= VOTE_TEXT_MAX + 1; length++) {
        round_vote_text(round, &memory, MASTERS, 0, VOTE_REFUSED, (struct slice){words, length});
        assert_int_equal(strlen(round_text(round, 0)),
                         length < VOTE_TEXT_MAX ? length : VOTE_TEXT_MAX - 1);
    }
    round_vote_text(round, &memory, MASTERS, 0, VOTE_REFUSED, (struct slice){NULL, 0});
    assert_string_equal(round_text(round, 0), "");
    drop(round);
}

CASE(test_words_stay_until_the_next_round)
{
    struct round *round = fresh(80);
    hear(round, 1, "one");
    hear(round, 4, "four");
    round_vote(round, 1, VOTE_TIMEOUT);
    assert_string_equal(round_text(round, 0), "");
    assert_string_equal(round_text(round, 1), "one");
    assert_string_equal(round_text(round, 4), "four");
    round_begin(round, MASTERS, REQUEST_PEEK, 8, 100);
    assert_string_equal(round_text(round, 4), "");
    hear(round, 0, "zero");
    assert_string_equal(round_text(round, 4), "");
    round_hush(round, &memory, MASTERS);
    assert_string_equal(round_text(round, 0), "");
    assert_int_equal(round->ballots[0].vote, VOTE_HELD);
    drop(round);
}

CASE(test_a_copy_has_words_of_its_own)
{
    struct round *from = fresh(80), *to = fresh(90);
    hear(from, 1, "one");
    hear(to, 2, "two");
    round_copy(to, from, &memory, MASTERS);
    assert_int_equal(to->give_up, 80);
    assert_string_equal(round_text(to, 1), "one");
    assert_string_equal(round_text(to, 2), "");
    hear(from, 1, "another");
    assert_string_equal(round_text(to, 1), "one");
    drop(from);
    assert_string_equal(round_text(to, 1), "one");
    drop(to);
}

CASE(test_a_lost_word_is_no_lost_vote)
{
    struct round *round = fresh(80);
    for (unsigned i = 0; i < QUORUM; i++)
        round_vote_text(round, &unit_no_memory, MASTERS, i, VOTE_HELD, (struct slice){"one", 3});
    assert_int_equal(round_count(round, MASTERS, VOTE_HELD), QUORUM);
    assert_string_equal(round_text(round, 0), "");
    /* They may have named several. */
    assert_int_equal(round_agree_on_holder(round, MASTERS), 0);
    struct round *copy = fresh(80);
    hear(round, 3, "two");
    round_copy(copy, round, &unit_no_memory, MASTERS);
    assert_int_equal(round_agree_on_holder(round, MASTERS), 1);
    assert_int_equal(round_agree_on_holder(copy, MASTERS), 0);
    drop(round);
    drop(copy);
}

CASE(test_agreeing_on_a_holder)
{
    struct round *round = fresh(80);
    assert_int_equal(round_agree_on_holder(round, MASTERS), 0);
    hear(round, 0, "one");
    hear(round, 1, "two");
    hear(round, 2, "one");
    assert_int_equal(round_agree_on_holder(round, MASTERS), 2);
    for (unsigned i = 0; i < QUORUM; i++) /* a value may be empty */
        hear(round, i, "");
    assert_int_equal(round_agree_on_holder(round, MASTERS), QUORUM);
    drop(round);
}

PROGRAM_OF_CASES(NULL, NULL)
