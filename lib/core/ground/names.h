/*
 * names.h - the names of one lease: bytes that the lease and the claims that it leaves
 * behind share by reference count.
 */
#ifndef REDLOCK_CORE_NAMES_H
#define REDLOCK_CORE_NAMES_H

#include "ground/event.h"

#define NAMES_COUNT_BITS 7

struct names {
    uint32_t references : 32 -
        NAMES_COUNT_BITS; /* more than rounds can be tried in a day, the longest ttl */
    uint32_t count : NAMES_COUNT_BITS;
    uint32_t ends[]; /* end of name i in the bytes that follow */
};

struct slice {
    const char *bytes;
    size_t length;
};

/* `count` slices, each after `prefix`; NULL when memory is out. */
struct names *names_new(const struct memory *memory, struct slice prefix,
                        const struct slice *slices, unsigned count);
struct names *names_share(struct names *names);
void names_drop(const struct memory *memory, struct names *names);
bool names_are_same(const struct names *a, const struct names *b);
uint32_t names_hash(const struct names *names);
/* Each request comes by here, with each of its names. */
static inline struct slice names_at(const struct names *names, unsigned index)
{
    uint32_t start = index ? names->ends[index - 1] : 0;
    const char *bytes = (const char *)(names->ends + names->count);
    return (struct slice){bytes + start, names->ends[index] - start};
}

#endif
