#include "ground/names.h"

#include <string.h>

#include "ground/sanity.h"

static size_t length_of_names(const struct names *names)
{
    return names->count ? names_end(names, names->count - 1) : 0;
}

static size_t size_of_names(const struct names *names)
{
    return sizeof *names + names->count * sizeof names->ends[0] + length_of_names(names);
}

static const char *bytes_of_names(const struct names *names)
{
    return (const char *)(names->ends + names->count);
}

struct names *names_new(const struct memory *memory, struct slice prefix,
                        const struct slice *slices, unsigned count)
{
    ASSERT(count > 0 && count < 1U << NAMES_COUNT_BITS);
    size_t bytes = 0;
    for (unsigned i = 0; i < count; i++)
        bytes += prefix.length + slices[i].length;
    ASSERT(bytes < NAME_SHARED);
    struct names *names =
        memory->take(memory->pool, sizeof *names + count * sizeof names->ends[0] + bytes);
    if (!names)
        return NULL;
    names->references = 1;
    names->count = count;
    char *to = (char *)(names->ends + count), *start = to;
    for (unsigned i = 0; i < count; i++) {
        if (prefix.length)
            memcpy(to, prefix.bytes, prefix.length);
        memcpy(to + prefix.length, slices[i].bytes, slices[i].length);
        to += prefix.length + slices[i].length;
        names->ends[i] = (uint32_t)(to - start);
    }
    return names;
}

struct names *names_share(struct names *names)
{
    names->references++;
    ASSERT(names->references); /* it did not overflow */
    return names;
}

struct names *names_copy(const struct memory *memory, const struct names *names)
{
    struct names *copy = memory->take(memory->pool, size_of_names(names));
    if (!copy)
        return NULL;
    memcpy(copy, names, size_of_names(names));
    copy->references = 1;
    return copy;
}

void names_drop(const struct memory *memory, struct names *names)
{
    ASSERT(!names || names->references);
    if (names && --names->references == 0)
        memory->give(memory->pool, names, size_of_names(names));
}

void names_set_shared(struct names *names, unsigned index)
{
    ASSERT(index < names->count);
    names->ends[index] |= NAME_SHARED;
    names->any_shared = true;
}

static bool ends_are_same(const struct names *a, const struct names *b)
{
    for (unsigned i = 0; i < a->count; i++)
        if (names_end(a, i) != names_end(b, i))
            return false;
    return true;
}

bool names_are_same(const struct names *a, const struct names *b)
{
    return a == b || (a->count == b->count && ends_are_same(a, b) &&
                      memcmp(bytes_of_names(a), bytes_of_names(b), length_of_names(a)) == 0);
}

uint32_t slice_hash(struct slice slice)
{
    uint32_t hash = 2166136261; /* FNV-1a */
    for (size_t i = 0; i < slice.length; i++)
        hash = (hash ^ (uint8_t)slice.bytes[i]) * 16777619;
    return hash;
}

uint32_t names_hash(const struct names *names)
{
    return slice_hash((struct slice){bytes_of_names(names), length_of_names(names)});
}
