/* The heap of timers against a table of times. */
#include "unit.h"

#include "ground/deadlines.h"

#define OWNERS 300

struct world {
    struct deadlines heap;
    struct deadline deadline[OWNERS];
    usec at[OWNERS]; /* the model; NEVER: not set */
    bool entered[OWNERS];
};

static usec earliest(const struct world *world)
{
    usec first = NEVER;
    for (unsigned i = 0; i < OWNERS; i++)
        if (world->entered[i] && world->at[i] < first)
            first = world->at[i];
    return first;
}

static void enter_or_leave(struct world *world, unsigned i)
{
    if (world->entered[i]) {
        deadlines_leave(&world->heap, &world->deadline[i]);
    } else {
        world->deadline[i] = (struct deadline){0};
        assert_true(deadlines_enter(&world->heap, &unit_memory));
    }
    world->entered[i] = !world->entered[i];
    world->at[i] = NEVER;
}

static void take(struct world *world, usec now)
{
    struct deadline *due = deadlines_take(&world->heap, now);
    usec first = earliest(world);
    if (first > now || first == NEVER) {
        assert_null(due);
        return;
    }
    assert_non_null(due);
    assert_int_equal(due->slot, 0);
    unsigned i = (unsigned)(due - world->deadline);
    assert_int_equal(world->at[i], first);
    world->at[i] = NEVER;
}

static void change(struct world *world, unsigned i)
{
    usec at = (usec)(unit_chance() % 1000); /* equal ones among them */
    if (!world->entered[i] || unit_chance() % 16 == 0) {
        enter_or_leave(world, i);
        return;
    }
    switch (unit_chance() % 5) {
    case 0:
        take(world, at);
        break;
    case 1:
        deadlines_set(&world->heap, &world->deadline[i], NEVER);
        world->at[i] = NEVER;
        break;
    case 2:
        deadlines_at_latest(&world->heap, &world->deadline[i], at);
        if (at < world->at[i])
            world->at[i] = at;
        break;
    default:
        deadlines_set(&world->heap, &world->deadline[i], at);
        world->at[i] = at;
    }
}

static void check(const struct world *world)
{
    const struct deadlines *heap = &world->heap;
    unsigned set = 0;
    assert_int_equal(deadlines_next(heap), earliest(world));
    for (unsigned i = 0; i < OWNERS; i++) {
        if (!world->entered[i])
            continue;
        uint32_t slot = world->deadline[i].slot;
        assert_int_equal(slot != 0, world->at[i] != NEVER);
        set += slot != 0;
        if (slot)
            assert_ptr_equal(heap->heap[slot - 1].deadline, &world->deadline[i]);
    }
    assert_int_equal(heap->count, set);
}

CASE(test_random_operations)
{
    static struct world world;
    world = (struct world){0};
    for (unsigned i = 0; i < OWNERS; i++)
        world.at[i] = NEVER;
    for (unsigned turn = 0; turn < 100000; turn++) {
        change(&world, (unsigned)(unit_chance() % OWNERS));
        if (turn % 7 == 0)
            check(&world);
    }
    deadlines_free(&world.heap, &unit_memory);
}

CASE(test_at_latest_leaves_an_earlier_one)
{
    struct deadlines heap = {0};
    struct deadline deadline = {0};
    assert_true(deadlines_enter(&heap, &unit_memory));
    assert_int_equal(deadlines_next(&heap), NEVER);
    deadlines_at_latest(&heap, &deadline, 50);
    deadlines_at_latest(&heap, &deadline, 70);
    assert_int_equal(deadlines_next(&heap), 50);
    deadlines_at_latest(&heap, &deadline, 30);
    assert_int_equal(deadlines_next(&heap), 30);
    assert_null(deadlines_take(&heap, 29));
    assert_ptr_equal(deadlines_take(&heap, 30), &deadline);
    assert_null(deadlines_take(&heap, NEVER - 1));
    deadlines_free(&heap, &unit_memory);
}

CASE(test_no_memory_changes_nothing)
{
    struct deadlines heap = {0};
    assert_false(deadlines_enter(&heap, &unit_no_memory));
    assert_int_equal(heap.owners, 0);
    while (heap.owners == 0 || heap.owners < heap.capacity)
        assert_true(deadlines_enter(&heap, &unit_memory));
    uint32_t owners = heap.owners;
    assert_false(deadlines_enter(&heap, &unit_no_memory));
    assert_int_equal(heap.owners, owners);
    assert_true(deadlines_enter(&heap, &unit_memory));
    deadlines_free(&heap, &unit_memory);
}

PROGRAM_OF_CASES(NULL, NULL)
