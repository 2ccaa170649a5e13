/* Names are bytes, any bytes, in one block that leases and claims share. */
#include "unit.h"

#include "ground/slots.h"

/* Counts what is out, and that sizes are given back as they were taken. */
struct pool {
    size_t blocks, bytes;
};

static void *take(void *pool, size_t size)
{
    struct pool *counts = pool;
    counts->blocks++;
    counts->bytes += size;
    return calloc(1, size);
}

static void give(void *pool, void *block, size_t size)
{
    struct pool *counts = pool;
    counts->blocks--;
    counts->bytes -= size;
    free(block);
}

static void assert_name(const struct names *names, unsigned index, const char *bytes, size_t length)
{
    struct slice name = names_at(names, index);
    assert_int_equal(name.length, length);
    assert_memory_equal(name.bytes, bytes, length);
}

CASE(test_prefix_before_each)
{
    struct pool pool = {0};
    struct memory memory = {take, give, &pool};
    struct slice slices[] = {{"job", 3}, {"a\0b", 3}, {"\xff\n", 2}, {"x", 1}};
    struct names *names = names_new(&memory, (struct slice){"app:", 4}, slices, 4);
    assert_non_null(names);
    assert_int_equal(names->count, 4);
    assert_name(names, 0, "app:job", 7);
    assert_name(names, 1, "app:a\0b", 7);
    assert_name(names, 2, "app:\xff\n", 6);
    assert_name(names, 3, "app:x", 5);
    names_drop(&memory, names);
    assert_int_equal(pool.blocks, 0);
    assert_int_equal(pool.bytes, 0);
}

static void *take_nothing(void *pool, size_t size)
{
    (void)pool, (void)size;
    return NULL;
}

CASE(test_a_copy_is_its_own)
{
    struct pool pool = {0};
    struct memory memory = {take, give, &pool}, none = {take_nothing, give, &pool};
    struct names *names = slot_new(&unit_memory, (struct slice){"name", 4}, 7);
    names_set_shared(names, 0);
    names_share(names);
    assert_null(names_copy(&none, names));
    struct names *copy = names_copy(&memory, names);
    assert_true(names_are_same(copy, names) && names_is_shared(copy, 0));
    assert_int_equal(slot_number(copy), 7);
    names_drop(&memory, copy);
    assert_int_equal(pool.blocks, 0);
    assert_int_equal(pool.bytes, 0);
    names_drop(&unit_memory, names);
    names_drop(&unit_memory, names);
}

CASE(test_a_mode_for_each_name)
{
    struct slice slices[] = {{"job", 3}, {"", 0}, {"x", 1}};
    struct names *names = names_new(&unit_memory, (struct slice){"app:", 4}, slices, 3);
    struct names *same = names_new(&unit_memory, (struct slice){"app:", 4}, slices, 3);
    assert_false(names_any_shared(names));
    names_set_shared(names, 2);
    assert_true(names_any_shared(names));
    assert_false(names_is_shared(names, 0) || names_is_shared(names, 1));
    assert_true(names_is_shared(names, 2));
    names_set_shared(names, 0);
    assert_name(names, 0, "app:job", 7);
    assert_name(names, 1, "app:", 4);
    assert_name(names, 2, "app:x", 5);
    assert_true(names_are_same(names, same));
    assert_int_equal(names_hash(names), names_hash(same));
    names_drop(&unit_memory, names);
    names_drop(&unit_memory, same);
}

CASE(test_held_until_the_last_one_drops)
{
    struct pool pool = {0};
    struct memory memory = {take, give, &pool};
    struct names *names = names_new(&memory, (struct slice){NULL, 0}, &(struct slice){"job", 3}, 1);
    assert_ptr_equal(names_share(names), names);
    names_drop(&memory, names);
    assert_int_equal(pool.blocks, 1);
    assert_name(names, 0, "job", 3);
    names_drop(&memory, names);
    assert_int_equal(pool.blocks, 0);
    assert_int_equal(pool.bytes, 0);
    names_drop(&memory, NULL);
}

CASE(test_largest)
{
    enum { LENGTH = 65536, NAMES = 64 };
    static char bytes[LENGTH];
    struct slice slices[NAMES];
    memset(bytes, 'n', sizeof bytes);
    for (unsigned i = 0; i < NAMES; i++)
        slices[i] = (struct slice){bytes, LENGTH - i};
    struct names *names = names_new(&unit_memory, (struct slice){"", 0}, slices, NAMES);
    for (unsigned i = 0; i < NAMES; i++)
        assert_name(names, i, bytes, LENGTH - i);
    names_drop(&unit_memory, names);
}

CASE(test_other_names)
{
    static const struct slice pairs[][2][2] = {{{{"ab", 2}, {"c", 1}}, {{"a", 1}, {"bc", 2}}},
                                               {{{"ab", 2}, {"c", 1}}, {{"ab", 2}, {"d", 1}}},
                                               {{{"ab", 2}}, {{"ab", 2}, {"c", 1}}}};
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        struct names *both[2];
        for (unsigned k = 0; k < 2; k++)
            both[k] = names_new(&unit_memory, (struct slice){"", 0}, pairs[i][k],
                                pairs[i][k][1].length ? 2 : 1);
        assert_false(names_are_same(both[0], both[1]));
        assert_false(names_are_same(both[1], both[0]));
        names_drop(&unit_memory, both[0]);
        names_drop(&unit_memory, both[1]);
    }
}

static struct names *slot_of(const char *name, unsigned slot)
{
    return slot_new(&unit_memory, (struct slice){name, strlen(name)}, slot);
}

static bool are_of_one_name(const char *name, const char *other)
{
    struct names *a = slot_of(name, 3), *b = slot_of(other, 10);
    bool are = slots_are_of_one_name(a, b);
    names_drop(&unit_memory, a);
    names_drop(&unit_memory, b);
    return are;
}

CASE(test_slots_of_one_name)
{
    assert_true(are_of_one_name("pool", "pool"));
    assert_false(are_of_one_name("po", "pool") || are_of_one_name("pool", "po"));
    assert_false(are_of_one_name("pool", "poll"));
}

CASE(test_no_memory)
{
    assert_null(names_new(&unit_no_memory, (struct slice){"", 0}, &(struct slice){"job", 3}, 1));
}

PROGRAM_OF_CASES(NULL, NULL)
