/* The bytes that wait to be written. */
#include "buffer.h"

#include "unit.h"

static int reallocs, failing;
static struct buffer buffer; /* of the case */

void *__real_realloc(void *block, size_t size);
void *__wrap_realloc(void *block, size_t size);

void *__wrap_realloc(void *block, size_t size)
{
    reallocs++;
    return failing ? NULL : __real_realloc(block, size);
}

static int set_up(void **state)
{
    (void)state;
    reallocs = failing = 0;
    buffer = (struct buffer){0};
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    buffer_free(&buffer);
    return 0;
}

#define TEST(name) CASE_WITH(name, set_up, tear_down)

TEST(keeps_what_is_appended)
{
    buffer_append(&buffer, "abc", 3);
    buffer_append(&buffer, "", 0);
    buffer_append(&buffer, "defg", 4);
    assert_int_equal(buffer.length, 7);
    assert_memory_equal(buffer.data, "abcdefg", 7);
}

TEST(nothing_needs_no_memory)
{
    buffer_append(&buffer, "", 0);
    assert_null(buffer.data);
    assert_false(buffer.failed);
}

TEST(reserved_room_can_be_filled)
{
    buffer_append(&buffer, "x", 1);
    char *room = buffer_reserve(&buffer, 100000);
    memset(room, 'y', 100000);
    assert_int_equal(buffer.length, 1);
    buffer_advance(&buffer, 60000);
    assert_int_equal(buffer.length, 60001);
    assert_int_equal(buffer.data[0], 'x');
    assert_int_equal(buffer.data[60000], 'y');
    assert_true(buffer.capacity >= 100001);
}

TEST(consumes_from_the_front)
{
    buffer_append(&buffer, "0123456789", 10);
    buffer_consume(&buffer, 3);
    assert_int_equal(buffer.length, 7);
    assert_memory_equal(buffer.data, "3456789", 7);
    buffer_append(&buffer, "ab", 2);
    buffer_consume(&buffer, 8);
    assert_int_equal(buffer.length, 1);
    assert_memory_equal(buffer.data, "b", 1);
    buffer_consume(&buffer, 1);
    assert_int_equal(buffer.length, 0);
}

TEST(keeps_its_memory_between_uses)
{
    for (int i = 0; i < 1000; i++) {
        buffer_append(&buffer, "0123456789", 10);
        buffer_consume(&buffer, 10);
    }
    assert_int_equal(reallocs, 1);
    buffer_append(&buffer, "0123456789", 10);
    buffer_clear(&buffer);
    assert_int_equal(buffer.length, 0);
    assert_non_null(buffer.data);
    buffer_free(&buffer);
    assert_null(buffer.data);
}

TEST(grows_by_doubling)
{
    for (int i = 0; i < 1000000; i++)
        buffer_append(&buffer, "0123456789", 10);
    assert_int_equal(buffer.length, 10000000);
    assert_memory_equal(buffer.data + 9999990, "0123456789", 10);
    assert_true(reallocs <= 13);
}

TEST(says_when_memory_is_out)
{
    buffer_append(&buffer, "kept", 4);
    failing = 1;
    assert_null(buffer_reserve(&buffer, 1 << 20));
    assert_true(buffer.failed);
    assert_int_equal(buffer.length, 4);
    assert_memory_equal(buffer.data, "kept", 4);
    buffer_clear(&buffer);
    assert_false(buffer.failed);
}

TEST(an_impossible_size_fails)
{
    buffer_append(&buffer, "x", 1);
    assert_null(buffer_reserve(&buffer, SIZE_MAX - 2));
    assert_true(buffer.failed);
}

PROGRAM_OF_CASES(NULL, NULL)
