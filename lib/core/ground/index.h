/*
 * index.h - things that are found by a hash: the more there are, the more buckets they have.
 */
#ifndef REDLOCK_CORE_INDEX_H
#define REDLOCK_CORE_INDEX_H

#include "ground/event.h"

#define INDEX_FEW 64 /* buckets that cost no memory of their own */

/* A part of each thing; all zeros: it is in no index. */
struct indexed {
    struct indexed *next, **at; /* in its bucket: the next, and the pointer to this one */
    uint32_t hash;
};

/* All zeros: it is empty. */
struct index {
    struct indexed **many; /* the buckets; NULL: `few` has them */
    uint32_t buckets;      /* of `many` */
    uint32_t count;
    struct indexed *few[INDEX_FEW];
};

/* Puts it before all others of its hash.  Where memory is out, buckets have more things instead. */
void index_enter(struct index *index, const struct memory *memory, struct indexed *it,
                 uint32_t hash);
/* Does nothing if it is in no index. */
void index_leave(struct index *index, struct indexed *it);
/* The first with this hash, and the next one with the hash of `it`; NULL if there is none. */
struct indexed *index_first(const struct index *index, uint32_t hash);
struct indexed *index_next(const struct indexed *it);
void index_free(struct index *index, const struct memory *memory);

#endif
