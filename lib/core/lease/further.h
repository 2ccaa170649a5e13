/*
 * further.h - the further places of a lease that waits for one of the permits of a name.
 *
 * A lease stands in the queue of one slot.  A further place is a lease of the core's own in the
 * queue of another slot, with a token of its own and the ticket of its owner.  The first place that
 * is given its slot becomes the owner's, and all other places are withdrawn.  The shell sees no
 * further place.
 */
#ifndef REDLOCK_CORE_FURTHER_H
#define REDLOCK_CORE_FURTHER_H

#include "lease/lease.h"

struct further_place {
    struct lease lease;       /* the first member: see further_owner() */
    struct lease_extra extra; /* behind it: see lease_extra() */
    struct lease *owner;
    struct further_place *next;
};

_Static_assert(offsetof(struct further_place, extra) == sizeof(struct lease), "right behind it");

static inline struct lease *further_owner(const struct lease *lease)
{
    return ((const struct further_place *)(const void *)lease)->owner;
}

/* A new place for the owner, which has an attempt at a permit, in the queue of `names`.  It is in
 * no list yet.  NULL when memory is out. */
struct lease *further_new(struct engine *engine, struct lease *owner, struct names *names);
/* The place has nothing on the masters any more, and is freed when this step is over. */
void further_end(struct engine *engine, struct lease *lease);
/* Gives all further places of the lease back. */
void further_withdraw(struct engine *engine, struct lease *owner);
/* Frees those that have ended. */
void further_free_withdrawn(struct engine *engine);
/* Frees those of a lease that is dropped while it waits for a permit; nothing is sent. */
void further_drop(struct engine *engine, struct lease *owner);

#endif
