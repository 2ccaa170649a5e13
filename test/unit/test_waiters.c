/* The memory of very many leases of one client that stand in line, or ask at one time, and how much
 * of it is kept for the next ones. */
#include "core_world.h"

#define LEASES 5000 /* more than room is kept for */
#define TTL    MS(10000)
#define WAIT   MS(10000)

static struct actor crowd[LEASES]; /* more than a fake has room for */

static void make_for(unsigned index, usec ttl, usec wait)
{
    struct terms terms = {.ttl = ttl, .margin = MS(500), .wait = wait};
    struct names *names = fake_names(&fake, "job");
    assert_true(lease_init(&fake.engine, &crowd[index].core, names, &terms, NULL, 0));
    names_drop(&fake.memory, names);
}

static void make(unsigned index, usec wait)
{
    make_for(index, TTL, wait);
}

static void ask(unsigned index)
{
    fake_step(&fake, &(struct event){.kind = EVENT_ACQUIRE, .lease = &crowd[index].core});
}

static void end(unsigned index)
{
    fake_step(&fake, &(struct event){.kind = EVENT_ABANDON, .lease = &crowd[index].core});
}

static void end_all(unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        end(i);
    answer_all(ANSWER_YES);
}

/* Without the deadlines, whose heap grows by more than it needs. */
static size_t taken(void)
{
    return fake.allocated - fake.engine.deadlines.capacity * sizeof(struct deadline_entry);
}

static size_t round_size(void)
{
    return sizeof(struct round) + MASTERS * sizeof(struct ballot);
}

static void wait_in_line(unsigned from, unsigned to)
{
    for (unsigned i = from; i < to; i++) {
        make(i, WAIT);
        ask(i);
    }
}

CORE_TEST(test_in_line_they_have_no_room_and_share_the_names)
{
    wait_in_line(0, 100); /* the first of them has asked */
    size_t before = taken();
    wait_in_line(100, 1100);
    assert_int_equal(taken() - before, 1000 * sizeof(struct attempt));
    end_all(1100);
}

/* They can be counted so often, and claims must be able to share them yet. */
CORE_TEST(test_names_are_not_shared_by_any_number)
{
    wait_in_line(0, 2);
    struct names *names = crowd[0].core.attempt->names;
    assert_ptr_equal(crowd[1].core.attempt->names, names);
    uint32_t references = names->references;
    names->references = UINT32_C(1) << (29 - NAMES_COUNT_BITS);
    wait_in_line(2, 3);
    assert_ptr_not_equal(crowd[2].core.attempt->names, names);
    names->references = references;
    end_all(3);
}

CORE_TEST(test_without_room_for_the_line_nothing_is_asked)
{
    make(0, WAIT);
    unsigned sent = fake.sent;
    fake.countdown = 1;
    ask(0);
    assert_int_equal(fake.countdown, 0);
    assert_int_equal(crowd[0].core.state, LEASE_IDLE);
    assert_int_equal(fake.sent, sent);
    end(0);
}

CORE_TEST(test_little_room_is_kept_of_those_in_line)
{
    for (unsigned i = 0; i < 1000; i++)
        make(i, WAIT);
    for (unsigned i = 0; i < 1000; i++)
        ask(i);
    assert_in_range(taken(), 0, 1000 * sizeof(struct attempt) + 100 * round_size());
    end_all(1000);
}

static void ask_all_at_once(unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        make(i, 0);
        ask(i);
    }
    end_all(count);
}

CORE_TEST(test_what_is_kept_for_the_next_is_bounded)
{
    size_t before = taken();
    ask_all_at_once(LEASES);
    size_t kept = taken() - before;
    assert_in_range(kept, 1, 4096 * (sizeof(struct attempt) + round_size()));
    ask_all_at_once(LEASES / 5); /* with what is kept, which is kept again */
    assert_int_equal(taken() - before, kept);
}

static bool tell(unsigned index, struct outcome *outcome)
{
    return engine_tell(&fake.engine, fake.now, &crowd[index].core, outcome);
}

static void expect(unsigned index, enum outcome_kind kind)
{
    struct outcome outcome;
    assert_true(tell(index, &outcome));
    assert_int_equal(outcome.kind, kind);
}

/* It was handed over, and has asked for nothing; its user takes too long to hear of it. */
CORE_TEST(test_a_lease_may_be_lost_before_its_first_question)
{
    make(0, 0);
    ask(0);
    answer_all(ANSWER_YES);
    expect(0, OUTCOME_ACQUIRED);
    assert_false(tell(0, &(struct outcome){0})); /* so its question is put away */
    wait_in_line(1, 2);
    make_for(2, TTL / 2, WAIT); /* which cannot have the question of the other */
    ask(2);
    end(1);
    fake_step(&fake, &(struct event){.kind = EVENT_RELEASE, .lease = &crowd[0].core});
    expect(2, OUTCOME_ACQUIRED);
    fake.now += TTL / 2;
    expect(2, OUTCOME_LOST);
    end(0);
    end(2);
    answer_all(ANSWER_YES);
}

PROGRAM_OF_CASES(NULL, NULL)
