/* What very many leases of one client take that stand in line, or ask at one time, and what of it
 * is kept for the next ones. */
#include "core_world.h"

#define LEASES 5000 /* more than room is kept for */
#define WAIT   MS(10000)

static struct actor crowd[LEASES]; /* more than a fake has room for */

static void make(unsigned index, usec wait)
{
    struct terms terms = {.ttl = MS(10000), .margin = MS(500), .wait = wait};
    struct names *names = fake_names(&fake, "job");
    assert_true(lease_init(&fake.engine, &crowd[index].core, names, &terms, NULL, 0));
    names_drop(&fake.memory, names);
}

static void ask(unsigned index)
{
    fake_step(&fake, &(struct event){.kind = EVENT_ACQUIRE, .lease = &crowd[index].core});
}

static void end_all(unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        fake_step(&fake, &(struct event){.kind = EVENT_ABANDON, .lease = &crowd[i].core});
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

static void test_in_line_they_have_no_room_and_share_the_names(void **state)
{
    (void)state;
    wait_in_line(0, 100); /* the first of them has asked */
    size_t before = taken();
    wait_in_line(100, 1100);
    assert_int_equal(taken() - before, 1000 * sizeof(struct attempt));
    end_all(1100);
}

/* They can be counted so often, and claims must be able to share them yet. */
static void test_names_are_not_shared_by_any_number(void **state)
{
    (void)state;
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

static void test_little_room_is_kept_of_those_in_line(void **state)
{
    (void)state;
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

static void test_what_is_kept_for_the_next_is_bounded(void **state)
{
    (void)state;
    size_t before = taken();
    ask_all_at_once(LEASES);
    size_t kept = taken() - before;
    assert_in_range(kept, 1, 4096 * (sizeof(struct attempt) + round_size()));
    ask_all_at_once(LEASES / 5); /* with what is kept, which is kept again */
    assert_int_equal(taken() - before, kept);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CORE_TEST(test_in_line_they_have_no_room_and_share_the_names),
        CORE_TEST(test_names_are_not_shared_by_any_number),
        CORE_TEST(test_little_room_is_kept_of_those_in_line),
        CORE_TEST(test_what_is_kept_for_the_next_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
