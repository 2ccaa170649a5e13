/* The core's memory: blocks of one size in chunks. */
#include "client/memory.h"

#include "system.h"
#include "unit.h"

#define SIZE 300
#define MANY 1000 /* blocks: more than four chunks */

static struct pool pool; /* of the case, as all that follows */
static struct memory memory;
static unsigned chunks, dropped, freed;
static bool failing;
static char *blocks[MANY];

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void __real_free(void *block);
void __wrap_free(void *block);
void __real_system_forget(void *bytes, size_t size);
void __wrap_system_forget(void *bytes, size_t size);

void *__wrap_malloc(size_t size)
{
    chunks += !failing;
    return failing ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    chunks++;
    return __real_calloc(count, size);
}

void __wrap_free(void *block)
{
    freed++;
    __real_free(block);
}

void __wrap_system_forget(void *bytes, size_t size)
{
    dropped++;
    __real_system_forget(bytes, size);
}

static int set_up(void **state)
{
    (void)state;
    pool = (struct pool){0};
    memory = client_memory(&pool);
    chunks = dropped = freed = 0;
    failing = false;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    pool_end(&pool);
    assert_int_equal(freed, chunks);
    return 0;
}

#define TEST(name) CASE_WITH(name, set_up, tear_down)

static char *take(size_t size)
{
    return memory.take(memory.pool, size);
}

static void give(char *block, size_t size)
{
    memory.give(memory.pool, block, size);
}

static void take_many(void)
{
    for (unsigned i = 0; i < MANY; i++) {
        blocks[i] = take(SIZE);
        memset(blocks[i], (int)i & 0xff, SIZE);
    }
}

static void assert_all_hold_theirs(void)
{
    for (unsigned i = 0; i < MANY; i++)
        for (unsigned at = 0; at < SIZE; at++)
            assert_int_equal((unsigned char)blocks[i][at], i & 0xff);
}

static void assert_zero(const char *block, size_t size)
{
    for (size_t i = 0; i < size; i++)
        assert_int_equal(block[i], 0);
}

TEST(a_block_of_any_size_is_zero_and_aligned)
{
    for (size_t size = 1; size < 3000; size += size < 1100 ? 1 : 100) {
        for (int again = 0; again < 2; again++) {
            char *block = take(size);
            assert_int_equal((uintptr_t)block % _Alignof(max_align_t), 0);
            assert_zero(block, size);
            memset(block, 'x', size);
            give(block, size);
        }
    }
}

TEST(blocks_do_not_overlap)
{
    take_many();
    assert_all_hold_theirs();
    for (unsigned i = 0; i < MANY; i += 2)
        give(blocks[i], SIZE);
    for (unsigned i = 0; i < MANY; i += 2) {
        blocks[i] = take(SIZE);
        assert_zero(blocks[i], SIZE);
        memset(blocks[i], (int)i & 0xff, SIZE);
    }
    assert_all_hold_theirs();
    for (unsigned i = 0; i < MANY; i++)
        give(blocks[i], SIZE);
}

TEST(what_was_given_back_is_taken_again)
{
    take_many();
    unsigned before = chunks;
    for (unsigned round = 0; round < 3; round++) {
        for (unsigned i = 1; i < MANY; i += 3)
            give(blocks[i], SIZE);
        for (unsigned i = 1; i < MANY; i += 3)
            blocks[i] = take(SIZE);
    }
    assert_int_equal(chunks, before);
    for (unsigned i = 0; i < MANY; i++)
        give(blocks[i], SIZE);
}

TEST(chunks_go_but_for_the_last)
{
    take_many();
    assert_true(chunks > 4);
    for (unsigned i = 0; i < MANY; i++)
        give(blocks[i], SIZE);
    assert_int_equal(dropped, chunks - 1);
    blocks[0] = take(SIZE);
    give(blocks[0], SIZE);
    assert_int_equal(dropped, chunks - 1);
}

TEST(a_lease_that_stays_keeps_one_chunk)
{
    take_many();
    for (unsigned i = 0; i < MANY; i++)
        if (i != MANY / 2)
            give(blocks[i], SIZE);
    assert_int_equal(dropped, chunks - 1);
    for (unsigned at = 0; at < SIZE; at++)
        assert_int_equal((unsigned char)blocks[MANY / 2][at], (MANY / 2) & 0xff);
    give(blocks[MANY / 2], SIZE);
}

TEST(where_memory_is_out_there_is_no_block)
{
    failing = true;
    assert_null(take(SIZE));
    failing = false;
    char *block = take(SIZE);
    failing = true;
    char *other = take(SIZE);
    assert_non_null(other);
    give(block, SIZE);
    give(other, SIZE);
}

TEST(a_block_that_is_out_keeps_its_chunk)
{
    char *block = take(SIZE);
    pool_end(&pool);
    assert_int_equal(freed, 0);
    give(block, SIZE);
}

PROGRAM_OF_CASES(NULL, NULL)
