#include "lease/lease_parts.h"

/* Masters that granted an upgrade which came to nothing are told that it is a reader's. */
bool leaving_ask(struct engine *e, struct lease *lease)
{
    if (lease->state == LEASE_UPGRADING)
        claim_not_upgraded(lease->claim);
    lease_become(lease, LEASE_RELEASING);
    lease->untold &= (uint16_t)~WHILE_HELD;
    if (!lease_make_room(e, lease))
        return false;
    lease_open_round(e, lease, REQUEST_RENEW);
    lease_ask_those_up(e, lease);
    return true;
}

void leaving_end(struct engine *e, struct lease *lease)
{
    claim_forget(e, lease->claim);
    claim_let_go(&lease->claim);
}
