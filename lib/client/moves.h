/*
 * moves.h - a lease that is to go to another client, and the one with its token there.
 */
#ifndef REDLOCK_CLIENT_MOVES_H
#define REDLOCK_CLIENT_MOVES_H

#include "client.h"

/* While a lease moves, this is its data, and that of its shadow: the lease of the other client
 * which attaches its token.  That of a lease that waits only has its terms. */
struct move {
    redlock_lease *lease;          /* NULL: its user heard of its end, or freed it */
    void *data;                    /* of its user */
    bool waits;                    /* the lease waits: its shadow asks for nothing */
    struct client_task *announcer; /* is to go on with what it announces; NULL: nothing */
};

/* False when memory is out. */
bool moves_begin(redlock_lease *lease, redlock_lease *shadow);
/* The lease goes nowhere, or is the other client's now; or the shadow is gone.  Nothing if the
 * lease does not move. */
void moves_end(redlock_lease *lease);

/* NULL: it may be moved now, as far as the lease itself is concerned. */
const char *moves_why_not(const redlock_lease *lease);

static inline struct move *move_of(const redlock_lease *lease)
{
    return lease->moves ? lease->data : NULL;
}

static inline bool moves_is_shadow(const redlock_lease *lease)
{
    return lease->moves && move_of(lease)->lease != lease;
}

/* The user's, for the callback. */
static inline void *data_of(const redlock_lease *lease)
{
    return lease->moves ? move_of(lease)->data : lease->data;
}

#endif
