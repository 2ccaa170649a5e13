/*
 * deadlines.h - every timer of the engine in one heap.
 *
 * Room is reserved when an owner is made, so that setting a deadline never fails.
 */
#ifndef REDLOCK_CORE_DEADLINES_H
#define REDLOCK_CORE_DEADLINES_H

#include "event.h"

enum deadline_owner { OWNER_ENGINE, OWNER_MASTER, OWNER_LEASE, OWNER_CLAIM };

struct deadline {
    uint32_t slot : 30; /* place in the heap + 1; 0: not set */
    uint32_t owner : 2;
};

struct deadline_entry {
    usec at;
    struct deadline *deadline;
};

struct deadlines {
    struct deadline_entry *heap;
    uint32_t count, capacity, owners;
};

/* One owner more; false when memory is out. */
bool deadlines_enter(struct deadlines *deadlines, const struct memory *memory);
/* One owner less; its deadline must not be used any more. */
void deadlines_leave(struct deadlines *deadlines, struct deadline *deadline);
void deadlines_free(struct deadlines *deadlines, const struct memory *memory);

/* NEVER takes it out. */
void deadlines_set(struct deadlines *deadlines, struct deadline *deadline, usec at);

/* As set, but leaves an earlier one alone: whoever it wakes looks at the time
 * again.  Saves moving a deadline that only ever moves out. */
void deadlines_at_latest(struct deadlines *deadlines, struct deadline *deadline, usec at);

/* The earliest; NEVER if there is none. */
usec deadlines_next(const struct deadlines *deadlines);

/* Takes out and returns the earliest one due, or NULL. */
struct deadline *deadlines_take(struct deadlines *deadlines, usec now);

#endif
