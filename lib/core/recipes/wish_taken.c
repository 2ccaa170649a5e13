/*
 * wish_taken.c - masters tell that another process has released the token of a lease.
 *
 * That is a word, and ends no lease.  If the masters that do not say so are no quorum, the lease
 * is renewed at once, and learns from the answers whether it is lost.
 */
#include "lease/lease.h"
#include "recipes/wish.h"

#define AGAIN_AFTER MS(1000) /* a lie makes a lease renew no more often */

bool taken_is_told(const struct said *said, const char *token)
{
    return slices_are_same(said->value, slice_of("taken")) &&
           slices_are_same(said->token, slice_of(token));
}

void taken_note(struct taken *taken, unsigned master)
{
    taken->masters |= (uint16_t)(1U << master);
}

usec taken_renew_when_due(struct engine *e, struct taken *taken, const char *token)
{
    unsigned others = e->config.masters - (unsigned)__builtin_popcount(taken->masters);
    if (others >= e->quorum)
        return NEVER;
    if (e->now < taken->renew_from)
        return taken->renew_from;
    taken->renew_from = e->now + AGAIN_AFTER;
    if (!lease_renew_soon(e, slice_of(token)))
        return taken->renew_from;
    taken->masters = 0;
    return NEVER;
}
