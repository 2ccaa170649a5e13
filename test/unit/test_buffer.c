/* The bytes that wait to be written. */
#include "buffer.h"

#include "unit.h"

static int reallocs, failing;

void *__real_realloc(void *block, size_t size);
void *__wrap_realloc(void *block, size_t size);

void *__wrap_realloc(void *block, size_t size)
{
    reallocs++;
    return failing ? NULL : __real_realloc(block, size);
}

static int reset(void **state)
{
    (void)state;
    reallocs = failing = 0;
    return 0;
}

CASE_WITH(keeps_what_is_appended, reset, NULL)
{
    struct buffer buffer = {0};
    buffer_append(&buffer, "abc", 3);
    buffer_append(&buffer, "", 0);
    buffer_append(&buffer, "defg", 4);
    assert_int_equal(buffer.length, 7);
    assert_memory_equal(buffer.data, "abcdefg", 7);
    buffer_free(&buffer);
}

CASE_WITH(nothing_needs_no_memory, reset, NULL)
{
    struct buffer buffer = {0};
    buffer_append(&buffer, "", 0);
    assert_null(buffer.data);
    assert_false(buffer.failed);
    buffer_free(&buffer);
}

CASE_WITH(reserved_room_can_be_filled, reset, NULL)
{
    struct buffer buffer = {0};
    buffer_append(&buffer, "x", 1);
    char *room = buffer_reserve(&buffer, 100000);
    memset(room, 'y', 100000);
    assert_int_equal(buffer.length, 1);
    buffer_advance(&buffer, 60000);
    assert_int_equal(buffer.length, 60001);
    assert_int_equal(buffer.data[0], 'x');
    assert_int_equal(buffer.data[60000], 'y');
    assert_true(buffer.capacity >= 100001);
    buffer_free(&buffer);
}

CASE_WITH(consumes_from_the_front, reset, NULL)
{
    struct buffer buffer = {0};
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
    buffer_free(&buffer);
}

CASE_WITH(keeps_its_memory_between_uses, reset, NULL)
{
    struct buffer buffer = {0};
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

CASE_WITH(grows_by_doubling, reset, NULL)
{
    struct buffer buffer = {0};
    for (int i = 0; i < 1000000; i++)
        buffer_append(&buffer, "0123456789", 10);
    assert_int_equal(buffer.length, 10000000);
    assert_memory_equal(buffer.data + 9999990, "0123456789", 10);
    assert_true(reallocs <= 13);
    buffer_free(&buffer);
}

CASE_WITH(says_when_memory_is_out, reset, NULL)
{
    struct buffer buffer = {0};
    buffer_append(&buffer, "kept", 4);
    failing = 1;
    assert_null(buffer_reserve(&buffer, 1 << 20));
    assert_true(buffer.failed);
    assert_int_equal(buffer.length, 4);
    assert_memory_equal(buffer.data, "kept", 4);
    buffer_clear(&buffer);
    assert_false(buffer.failed);
    buffer_free(&buffer);
}

CASE_WITH(an_impossible_size_fails, reset, NULL)
{
    struct buffer buffer = {0};
    buffer_append(&buffer, "x", 1);
    assert_null(buffer_reserve(&buffer, SIZE_MAX - 2));
    assert_true(buffer.failed);
    buffer_free(&buffer);
}

int main(void)
{
    return RUN_CASES(NULL, NULL);
}
