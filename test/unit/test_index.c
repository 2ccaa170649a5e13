/* The index against a list of things, the last one first. */
#include "unit.h"

#include "ground/index.h"

#define THINGS 1000

struct thing {
    struct indexed indexed;
    unsigned entered; /* when; 0: it is not in the index */
};

struct world {
    struct index index;
    struct thing things[THINGS];
    unsigned turn;
};

static bool without_memory;

static void *take_or_not(void *pool, size_t size)
{
    return without_memory ? NULL : unit_memory.take(pool, size);
}

/* Each third thing shares its hash with many, and many share a bucket. */
static uint32_t hash_of(unsigned i)
{
    return i % 3 ? i * 64 : 7;
}

static void change(struct world *world, unsigned i)
{
    const struct memory memory = {take_or_not, unit_memory.give, NULL};
    struct thing *thing = &world->things[i];
    without_memory = unit_chance() % 4 > 0;
    if (thing->entered)
        index_leave(&world->index, &thing->indexed);
    else
        index_enter(&world->index, &memory, &thing->indexed, hash_of(i));
    thing->entered = thing->entered ? 0 : ++world->turn;
}

static struct thing *latest_before(struct world *world, uint32_t hash, unsigned before)
{
    struct thing *latest = NULL;
    for (unsigned i = 0; i < THINGS; i++) {
        struct thing *thing = &world->things[i];
        bool fits = thing->entered && thing->entered < before && hash_of(i) == hash;
        if (fits && (!latest || thing->entered > latest->entered))
            latest = thing;
    }
    return latest;
}

static void check(struct world *world, uint32_t hash)
{
    unsigned before = UINT32_MAX;
    for (struct indexed *it = index_first(&world->index, hash);; it = index_next(it)) {
        struct thing *thing = latest_before(world, hash, before);
        assert_ptr_equal(it, thing ? &thing->indexed : NULL);
        if (!it)
            return;
        before = thing->entered;
    }
}

CASE(test_random_operations)
{
    static struct world world;
    for (unsigned turn = 0; turn < 20000; turn++) {
        change(&world, (unsigned)(unit_chance() % THINGS));
        if (turn % 100 == 0)
            check(&world, hash_of((unsigned)(unit_chance() % THINGS)));
    }
    index_free(&world.index, &unit_memory);
}

CASE(test_buckets_grow_with_what_is_there)
{
    static struct world world;
    for (unsigned i = 0; i < THINGS; i++)
        index_enter(&world.index, &unit_memory, &world.things[i].indexed, i);
    assert_int_equal(world.index.buckets, 1024);
    for (unsigned i = 0; i < 1024; i++) {
        const struct indexed *first = world.index.many[i];
        assert_true(i < THINGS ? first && !first->next : !first);
    }
    index_free(&world.index, &unit_memory);
}

CASE(test_to_leave_twice_does_nothing)
{
    struct index index = {0};
    struct indexed it = {0};
    index_leave(&index, &it);
    index_enter(&index, &unit_memory, &it, 1);
    index_leave(&index, &it);
    index_leave(&index, &it);
    assert_int_equal(index.count, 0);
    assert_null(index_first(&index, 1));
}

PROGRAM_OF_CASES(NULL, NULL)
