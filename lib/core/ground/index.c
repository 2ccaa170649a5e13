#include "ground/index.h"

#include <stddef.h>

static uint32_t count_buckets(const struct index *index)
{
    return index->many ? index->buckets : INDEX_FEW;
}

static struct indexed **buckets_of(struct index *index)
{
    return index->many ? index->many : index->few;
}

static void link_at(struct indexed **at, struct indexed *it)
{
    it->at = at;
    *at = it;
}

/* The things of one bucket of `size` go into two, each in its order. */
static void split_bucket(struct indexed *first, struct indexed **low, struct indexed **high,
                         uint32_t size)
{
    for (struct indexed *it = first, *next; it; it = next) {
        struct indexed ***end = it->hash & size ? &high : &low;
        next = it->next;
        link_at(*end, it);
        *end = &it->next;
    }
    *low = *high = NULL;
}

static void grow(struct index *index, const struct memory *memory)
{
    uint32_t size = count_buckets(index);
    struct indexed **old = buckets_of(index);
    struct indexed **new = memory->take(memory->pool, (size_t)2 * size * sizeof(struct indexed *));
    if (!new)
        return;
    for (uint32_t i = 0; i < size; i++)
        split_bucket(old[i], &new[i], &new[i + size], size);
    index_free(index, memory);
    index->many = new;
    index->buckets = 2 * size;
}

void index_enter(struct index *index, const struct memory *memory, struct indexed *it,
                 uint32_t hash)
{
    if (index->count++ == count_buckets(index))
        grow(index, memory);
    struct indexed **bucket = &buckets_of(index)[hash & (count_buckets(index) - 1)];
    it->hash = hash;
    it->next = *bucket;
    if (it->next)
        it->next->at = &it->next;
    link_at(bucket, it);
}

void index_leave(struct index *index, struct indexed *it)
{
    if (!it->at)
        return;
    *it->at = it->next;
    if (it->next)
        it->next->at = it->at;
    it->at = NULL;
    index->count--;
}

static struct indexed *with_hash(struct indexed *it, uint32_t hash)
{
    while (it && it->hash != hash)
        it = it->next;
    return it;
}

struct indexed *index_first(const struct index *index, uint32_t hash)
{
    uint32_t bucket = hash & (count_buckets(index) - 1);
    return with_hash(index->many ? index->many[bucket] : index->few[bucket], hash);
}

struct indexed *index_next(const struct indexed *it)
{
    return with_hash(it->next, it->hash);
}

void index_free(struct index *index, const struct memory *memory)
{
    if (index->many)
        memory->give(memory->pool, index->many, index->buckets * sizeof(struct indexed *));
    index->many = NULL;
}
