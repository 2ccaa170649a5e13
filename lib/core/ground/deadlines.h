/*
 * deadlines.h - every timer of the engine in one heap.
 *
 * Room is reserved when an owner is made, so that setting a deadline never fails.
 */
#ifndef REDLOCK_CORE_DEADLINES_H
#define REDLOCK_CORE_DEADLINES_H

#include "ground/event.h"

enum deadline_owner { OWNER_ENGINE, OWNER_MASTER, OWNER_LEASE, OWNER_CLAIM, OWNER_TASK };

struct deadline {
    uint32_t slot : 29; /* place in the heap + 1; 0: not set */
    uint32_t owner : 3;
};

_Static_assert(OWNER_TASK < 8, "three bits");

struct deadline_entry {
    usec at;
    struct deadline *deadline;
};

struct deadlines {
    struct deadline_entry *heap;
    uint32_t count, capacity, owners;
};

/* Reserves room for one more owner; false when memory is out. */
bool deadlines_enter(struct deadlines *deadlines, const struct memory *memory);
/* Gives the room of one owner back; its deadline must not be used any more. */
void deadlines_leave(struct deadlines *deadlines, struct deadline *deadline);
void deadlines_free(struct deadlines *deadlines, const struct memory *memory);

/* NEVER clears the deadline. */
void deadlines_set(struct deadlines *deadlines, struct deadline *deadline, usec at);

/* As deadlines_set(), but leaves an earlier deadline alone: its owner is woken early, and looks at
 * the time again.  That saves moving a deadline that only ever moves out. */
void deadlines_at_latest(struct deadlines *deadlines, struct deadline *deadline, usec at);

/* The earliest deadline; NEVER if there is none. */
usec deadlines_next(const struct deadlines *deadlines);

/* Takes out and returns the earliest deadline that is due; NULL if none is. */
struct deadline *deadlines_take(struct deadlines *deadlines, usec now);

#endif
