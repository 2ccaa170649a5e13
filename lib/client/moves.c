#include "moves.h"

#include <stdlib.h>

bool moves_begin(redlock_lease *lease, redlock_lease *shadow)
{
    struct move *move = malloc(sizeof *move);
    if (!move)
        return false;
    *move = (struct move){
        .lease = lease, .data = lease->data, .waits = lease_may_go_over(core_of(lease))};
    lease->data = shadow->data = move;
    lease->moves = shadow->moves = true;
    return true;
}

static void forget(redlock_lease *lease)
{
    struct move *move = lease->data;
    lease->data = move->data;
    lease->moves = false;
    move->lease = NULL;
}

/* The shadow has the struct to itself once the lease needs it no more. */
void moves_end(redlock_lease *lease)
{
    struct move *move = move_of(lease);
    if (move && move->lease)
        forget(move->lease);
    if (lease->moves) {
        lease->moves = false;
        free(move);
    }
}
