#include "ground/deadlines.h"

#include <string.h>

#include "ground/sanity.h"

#define FIRST_CAPACITY 64
#define MOST           ((1U << 29) - 1) /* the largest number that fits a slot */

static void put_entry(struct deadlines *d, uint32_t at, struct deadline_entry entry)
{
    ASSERT(at < d->count);
    d->heap[at] = entry;
    entry.deadline->slot = at + 1;
}

static void sift_up(struct deadlines *d, uint32_t at, struct deadline_entry entry)
{
    while (at > 0 && d->heap[(at - 1) / 2].at > entry.at) {
        put_entry(d, at, d->heap[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
    put_entry(d, at, entry);
}

static void sift_down(struct deadlines *d, uint32_t at, struct deadline_entry entry)
{
    for (;;) {
        uint32_t child = 2 * at + 1;
        if (child >= d->count)
            break;
        if (child + 1 < d->count && d->heap[child + 1].at < d->heap[child].at)
            child++;
        if (d->heap[child].at >= entry.at)
            break;
        put_entry(d, at, d->heap[child]);
        at = child;
    }
    put_entry(d, at, entry);
}

static void place(struct deadlines *d, uint32_t at, struct deadline_entry entry)
{
    if (at > 0 && d->heap[(at - 1) / 2].at > entry.at)
        sift_up(d, at, entry);
    else
        sift_down(d, at, entry);
}

static void take_out(struct deadlines *d, struct deadline *deadline)
{
    uint32_t at = deadline->slot - 1;
    ASSERT(at < d->count && d->heap[at].deadline == deadline);
    deadline->slot = 0;
    struct deadline_entry last = d->heap[--d->count];
    if (at < d->count)
        place(d, at, last);
}

bool deadlines_enter(struct deadlines *d, const struct memory *memory)
{
    if (d->owners == d->capacity) {
        uint32_t capacity = d->capacity ? d->capacity + d->capacity / 4 : FIRST_CAPACITY;
        if (capacity > MOST)
            return false;
        struct deadline_entry *heap = memory->take(memory->pool, capacity * sizeof *heap);
        if (!heap)
            return false;
        if (d->heap) {
            memcpy(heap, d->heap, d->count * sizeof *heap);
            memory->give(memory->pool, d->heap, d->capacity * sizeof *heap);
        }
        d->heap = heap;
        d->capacity = capacity;
    }
    d->owners++;
    return true;
}

void deadlines_leave(struct deadlines *d, struct deadline *deadline)
{
    ASSERT(d->owners > 0);
    if (deadline->slot)
        take_out(d, deadline);
    d->owners--;
}

void deadlines_free(struct deadlines *d, const struct memory *memory)
{
    if (d->heap)
        memory->give(memory->pool, d->heap, d->capacity * sizeof *d->heap);
    *d = (struct deadlines){0};
}

void deadlines_set(struct deadlines *d, struct deadline *deadline, usec at)
{
    struct deadline_entry entry = {at, deadline};
    ASSERT(d->owners > 0 && d->owners <= d->capacity);
    if (at == NEVER) {
        if (deadline->slot)
            take_out(d, deadline);
    } else if (deadline->slot) {
        place(d, deadline->slot - 1, entry);
    } else {
        sift_up(d, d->count++, entry);
    }
}

void deadlines_at_latest(struct deadlines *d, struct deadline *deadline, usec at)
{
    if (!deadline->slot || d->heap[deadline->slot - 1].at > at)
        deadlines_set(d, deadline, at);
}

usec deadlines_next(const struct deadlines *d)
{
    return d->count ? d->heap[0].at : NEVER;
}

struct deadline *deadlines_take(struct deadlines *d, usec now)
{
    if (!d->count || d->heap[0].at > now)
        return NULL;
    struct deadline *first = d->heap[0].deadline;
    take_out(d, first);
    return first;
}
