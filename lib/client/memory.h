/*
 * memory.h - the core's memory.
 *
 * Blocks of one size lie together in chunks: what many leases need only while they are acquired
 * leaves no holes between them.
 */
#ifndef REDLOCK_CLIENT_MEMORY_H
#define REDLOCK_CLIENT_MEMORY_H

#include "engine.h"

/* A debug build has no chunks: there a sanitizer sees each block. */
#ifdef REDLOCK_ASSERTS
#define POOLED_MOST 0
#else
#define POOLED_MOST 1016 /* bytes: a round with the most masters */
#endif
#define POOL_GRAIN 16

struct pool {
    struct chunk *with_room[POOLED_MOST / POOL_GRAIN + 2]; /* for each size */
};

/* The pool must outlive what is taken. */
struct memory client_memory(struct pool *pool);
/* All was given back. */
void pool_end(struct pool *pool);

#endif
