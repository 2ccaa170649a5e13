#include "memory.h"

#include <stdlib.h>
#include <string.h>

#include "system.h"

#define CHUNK_SIZE 65536

/* A block, and before it what a block of malloc() has there, too: where it belongs. */
struct cell {
    struct chunk *chunk;
    union {
        struct cell *next; /* it is free */
        char bytes[8];
    };
};

/* All its cells are of one size. */
struct chunk {
    struct chunk *prev, *next; /* of those with room */
    struct cell *free;
    unsigned used;  /* cells that are out */
    unsigned fresh; /* where the cells begin that were never used */
    char cells[];   /* 8 bytes off, so that blocks are aligned as those of malloc() are */
};

static unsigned class_of(size_t size)
{
    return (unsigned)((offsetof(struct cell, bytes) + size + POOL_GRAIN - 1) / POOL_GRAIN);
}

static bool is_full(const struct chunk *chunk, unsigned class)
{
    return !chunk->free && chunk->fresh + class * POOL_GRAIN > CHUNK_SIZE;
}

static void enlist(struct chunk **first, struct chunk *chunk)
{
    chunk->prev = NULL;
    chunk->next = *first;
    if (chunk->next)
        chunk->next->prev = chunk;
    *first = chunk;
}

static void unlist(struct chunk **first, struct chunk *chunk)
{
    *(chunk->prev ? &chunk->prev->next : first) = chunk->next;
    if (chunk->next)
        chunk->next->prev = chunk->prev;
}

static struct chunk *make_chunk(struct chunk **first)
{
    struct chunk *chunk = malloc(CHUNK_SIZE);
    if (chunk) {
        *chunk = (struct chunk){.fresh = offsetof(struct chunk, cells) + POOL_GRAIN / 2};
        enlist(first, chunk);
    }
    return chunk;
}

/* malloc() may keep a chunk that lies between leases; but its pages go. */
static void drop_chunk(struct chunk *chunk)
{
    system_forget(chunk, CHUNK_SIZE);
    free(chunk);
}

static struct cell *take_cell(struct chunk *chunk, unsigned class)
{
    struct cell *cell = chunk->free;
    if (cell) {
        chunk->free = cell->next;
    } else {
        cell = (struct cell *)(void *)((char *)chunk + chunk->fresh);
        cell->chunk = chunk;
        chunk->fresh += class * POOL_GRAIN;
    }
    chunk->used++;
    return cell;
}

static void *take_block(void *pool, size_t size)
{
    if (size > POOLED_MOST)
        return calloc(1, size);
    unsigned class = class_of(size);
    struct chunk **first = &((struct pool *)pool)->with_room[class];
    struct chunk *chunk = *first ? *first : make_chunk(first);
    if (!chunk)
        return NULL;
    struct cell *cell = take_cell(chunk, class);
    if (is_full(chunk, class))
        unlist(first, chunk);
    return memset(cell->bytes, 0, size);
}

/* The last chunk with room stays, though it be empty: a lease may come and go. */
static void give_block(void *pool, void *block, size_t size)
{
    if (size > POOLED_MOST) {
        free(block);
        return;
    }
    unsigned class = class_of(size);
    struct chunk **first = &((struct pool *)pool)->with_room[class];
    struct cell *cell = (struct cell *)(void *)((char *)block - offsetof(struct cell, bytes));
    struct chunk *chunk = cell->chunk;
    if (is_full(chunk, class))
        enlist(first, chunk);
    cell->next = chunk->free;
    chunk->free = cell;
    if (--chunk->used || (!chunk->prev && !chunk->next))
        return;
    unlist(first, chunk);
    drop_chunk(chunk);
}

struct memory client_memory(struct pool *pool)
{
    return (struct memory){take_block, give_block, pool};
}

/* A chunk of which a block was not given back is leaked, for a tool to see. */
void pool_end(struct pool *pool)
{
    for (size_t i = 0; i < sizeof pool->with_room / sizeof pool->with_room[0]; i++)
        if (pool->with_room[i] && !pool->with_room[i]->used)
            free(pool->with_room[i]);
}
