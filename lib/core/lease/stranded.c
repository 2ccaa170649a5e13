#include "lease/further.h"
#include "lease/lease_parts.h"
#include "masters/agreement.h"

/* Times the time to connect: by then a quorum of the next list votes, or there is none. */
#define GOES_WITHIN 2

/* The next list is known.  A further place ends: its owner draws others there. */
static bool may_go_over_soon(const struct engine *e, const struct lease *lease)
{
    struct slice successor;
    return agreement_successor(e, &successor) && successor.length && !e->closing &&
           lease->attempt->wait && !lease->attached && !lease->further &&
           e->now < lease_wait_until(lease);
}

/* Its token is released, so it is never granted again.  The ticket stays. */
static void give_back(struct engine *e, struct lease *lease)
{
    struct attempt *attempt = lease->attempt;
    if (!lease->claim->abandoned)
        claim_abandon(e, lease->claim, 0);
    claim_let_go(&lease->claim);
    place_note_answers(e, attempt);
    round_close(attempt->round, lease_masters(e));
    attempt->unfounded |= attempt->fence != 0;
    if (lease_is_acquiring(lease) && lease->state != LEASE_FAILING)
        lease_become(lease, LEASE_FAILING);
    lease_become(lease, LEASE_PAUSING);
}

bool stranded_enter(struct engine *e, struct lease *lease)
{
    if (!may_go_over_soon(e, lease))
        return false;
    if (lease->attempt->permit)
        further_withdraw(e, lease);
    if (lease->claim)
        give_back(e, lease);
    engine_list(e, &e->stranded, lease);
    lease->wake_at = e->now + GOES_WITHIN * e->config.connect_timeout;
    lease_wake_by(lease, lease_wait_until(lease));
    lease_schedule(e, lease);
    return true;
}

void lease_restore(struct engine *e, struct lease *lease, unsigned master)
{
    (void)master;
    engine_list(e, &e->busy, lease);
    lease->wake_at = e->now;
    lease_schedule(e, lease);
}
