/* The replies that a connection still owes. */
#include "expected.h"

#include "unit.h"

void *__real_realloc(void *block, size_t size);
void *__wrap_realloc(void *block, size_t size);

static bool no_memory;

void *__wrap_realloc(void *block, size_t size)
{
    return no_memory ? NULL : __real_realloc(block, size);
}

static struct expected_queue queue;

static int set_up(void **state)
{
    (void)state;
    no_memory = false;
    return expected_init(&queue) ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    expected_free(&queue);
    return 0;
}

static void add(unsigned round, enum step step)
{
    struct tag tag = {.kind = REQUEST_RELEASE, .round = round};
    expected_make_room(&queue);
    expected_add(&queue, &tag, step);
}

static void drop(unsigned round, enum step step)
{
    const struct expected *first = expected_first(&queue);
    assert_non_null(first);
    assert_int_equal(first->tag.round, round);
    assert_int_equal(first->step, step);
    expected_drop_first(&queue);
}

#define TEST(name) CASE_WITH(name, set_up, tear_down)

TEST(first_in_first_out)
{
    assert_null(expected_first(&queue));
    add(1, STEP_AUTH);
    add(1, STEP_FINAL);
    add(2, STEP_FINAL);
    assert_int_equal(queue.requests, 2);
    drop(1, STEP_AUTH);
    assert_int_equal(queue.requests, 2);
    drop(1, STEP_FINAL);
    drop(2, STEP_FINAL);
    assert_int_equal(queue.requests, 0);
    assert_null(expected_first(&queue));
}

TEST(several_may_share_a_reply)
{
    for (unsigned turn = 0; turn < 50; turn++) { /* also where they span the ring's end */
        add(1, STEP_FINAL);
        add(2, STEP_FINAL);
        add(3, STEP_FINAL);
        expected_share(&queue, 2);
        add(4, STEP_FINAL);
        assert_int_equal(queue.requests, 4);
        const unsigned sharing[] = {0, 2, 0, 0};
        for (unsigned i = 0; i < COUNT(sharing); i++) {
            assert_int_equal(expected_first(&queue)->sharing, sharing[i]);
            drop(i + 1, STEP_FINAL);
        }
    }
}

/* It may grow wherever its beginning is in the ring. */
TEST(order_survives_growth_from_any_start)
{
    for (unsigned start = 0; start < 70; start++) {
        tear_down(state);
        set_up(state);
        unsigned capacity = queue.capacity;
        for (unsigned i = 0; i < start; i++) {
            add(i, STEP_FINAL);
            drop(i, STEP_FINAL);
        }
        for (unsigned i = 0; i < 500; i++)
            add(i, STEP_FINAL);
        assert_true(queue.capacity >= 8 * capacity);
        for (unsigned i = 0; i < 500; i++)
            drop(i, STEP_FINAL);
    }
}

TEST(a_steady_load_needs_no_more_memory)
{
    no_memory = true;
    for (unsigned i = 0; i < 1000; i++) {
        assert_true(expected_make_room(&queue));
        add(i, STEP_FINAL);
        drop(i, STEP_FINAL);
    }
}

TEST(half_of_it_is_left_when_memory_is_out)
{
    unsigned count = 0;
    no_memory = true;
    while (expected_make_room(&queue))
        add(count++, STEP_FINAL);
    assert_true(queue.capacity - count >= queue.capacity / 2 + STEPS_MAX - 1);
    while (count < queue.capacity)
        add(count++, STEP_FINAL);
    add(count, STEP_FINAL);
    assert_int_equal(queue.count, queue.capacity);
    for (unsigned i = 0; i < count; i++)
        drop(i, STEP_FINAL);
    assert_null(expected_first(&queue));
}

TEST(it_grows_again_when_memory_is_back)
{
    no_memory = true;
    for (unsigned i = 0; i < queue.capacity; i++)
        add(i, STEP_FINAL);
    no_memory = false;
    for (unsigned i = 64; i < 200; i++)
        add(i, STEP_FINAL);
    for (unsigned i = 0; i < 200; i++)
        drop(i, STEP_FINAL);
}

PROGRAM_OF_CASES(NULL, NULL)
