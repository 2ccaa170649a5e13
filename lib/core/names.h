/*
 * names.h - the set of names that one lease is about: bytes, shared by reference
 * count between the lease and the claims it leaves behind.
 */
#ifndef REDLOCK_CORE_NAMES_H
#define REDLOCK_CORE_NAMES_H

#include "event.h"

struct names {
    uint32_t references : 25; /* more than rounds can be tried in a day, the longest ttl */
    uint32_t count : 7;
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
struct slice names_at(const struct names *names, unsigned index);

#endif
