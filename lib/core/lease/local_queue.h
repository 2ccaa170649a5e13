/*
 * local_queue.h - the waiters of one set of names within this client, in the order in which
 * they asked.
 *
 * Only the first waiter asks the masters; the others wait here, in memory.  A waiter with a shared
 * name is alone in a queue that no other finds, and is enqueued on the masters for itself: readers
 * must not wait behind each other.  Where the client keeps strict order, each waiter is alone in
 * that way.  A waiter for one of the permits of a name is enqueued for itself, too.  All waiters
 * for the permits of a name are in one queue: a holder may hand its slot to any of them.
 */
#ifndef REDLOCK_CORE_LOCAL_QUEUE_H
#define REDLOCK_CORE_LOCAL_QUEUE_H

#include "ground/index.h"
#include "ground/names.h"

struct engine;
struct lease;

struct local_queue {
    struct indexed indexed; /* by names; not if it is apart */
    struct names *names;
    struct lease *first, *last;
    usec drawn_at; /* when a waiter of it last asked for a ticket; 0: none yet */
    bool apart;    /* for one waiter alone: with a shared name, or in strict order */
};

/* Each waiter asks the masters for itself. */
static inline bool local_queue_is_of_permits(const struct local_queue *queue)
{
    return queue->names->slot;
}

/* Puts the lease at the end of the queue for its names; false when memory is out. */
bool local_queue_enter(struct engine *engine, struct lease *lease);
/* Takes the lease out, wherever it stands; the queue is freed with its last lease. */
void local_queue_leave(struct engine *engine, struct lease *lease);
/* The queue for exactly these names, all exclusive, or for all slots of that name; NULL if there is
 * no waiter. */
struct local_queue *local_queue_of(const struct engine *engine, const struct names *names);
/* The number of waiters ahead of the lease. */
unsigned local_queue_position(const struct lease *lease);

#endif
