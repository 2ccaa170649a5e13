/*
 * names.h - the names of one lease, each with its mode: bytes that the lease and the claims that
 * it leaves behind hold together by reference count.
 */
#ifndef REDLOCK_CORE_NAMES_H
#define REDLOCK_CORE_NAMES_H

#include "ground/event.h"

#define NAMES_COUNT_BITS 7
#define NAME_SHARED      (UINT32_C(1) << 31)

struct names {
    uint32_t references : 30 -
        NAMES_COUNT_BITS; /* more than rounds can be tried in a day, the longest ttl */
    uint32_t any_shared : 1;
    uint32_t slot : 1; /* the one name is a slot: see slots.h */
    uint32_t count : NAMES_COUNT_BITS;
    uint32_t ends[]; /* end of name i in the bytes that follow, and its mode in the highest bit */
};

/* `count` slices, each after `prefix`, and each exclusive; NULL when memory is out. */
struct names *names_new(const struct memory *memory, struct slice prefix,
                        const struct slice *slices, unsigned count);
struct names *names_share(struct names *names);
/* Copies them to other memory; NULL when that is out. */
struct names *names_copy(const struct memory *memory, const struct names *names);
/* Half of all references are left for claims. */
static inline bool names_may_share(const struct names *names)
{
    return names->references < UINT32_C(1) << (29 - NAMES_COUNT_BITS);
}
void names_drop(const struct memory *memory, struct names *names);
/* Compares the bytes, and not the modes. */
bool names_are_same(const struct names *a, const struct names *b);
uint32_t names_hash(const struct names *names);
uint32_t slice_hash(struct slice slice);
static inline uint32_t names_end(const struct names *names, unsigned index)
{
    return names->ends[index] & ~NAME_SHARED;
}

/* Each request comes by here, with each of its names. */
static inline struct slice names_at(const struct names *names, unsigned index)
{
    uint32_t start = index ? names_end(names, index - 1) : 0;
    const char *bytes = (const char *)(names->ends + names->count);
    return (struct slice){bytes + start, names_end(names, index) - start};
}

/* A shared name may be held by several leases that all have it shared. */
void names_set_shared(struct names *names, unsigned index);
static inline bool names_is_shared(const struct names *names, unsigned index)
{
    return names->ends[index] & NAME_SHARED;
}

static inline bool names_any_shared(const struct names *names)
{
    return names->any_shared;
}

/* A request asks for one of its names, or for any of them, to be shared. */
static inline bool request_shares(const struct request *request, unsigned index)
{
    if (request->tag.kind == REQUEST_UPGRADE)
        return false;
    return request->tag.mode == MODE_SHARED ||
           (request->tag.mode == MODE_AS_NAMED && names_is_shared(request->names, index));
}

/* The request goes by the script for a slot. */
static inline bool request_is_for_slot(const struct request *request)
{
    return request->names->slot && request_has_slot(request->tag.kind);
}

static inline bool request_shares_any(const struct request *request)
{
    return request->tag.mode == MODE_SHARED ||
           (request->tag.mode == MODE_AS_NAMED && names_any_shared(request->names));
}

#endif
