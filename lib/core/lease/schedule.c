#include "lease/lease_parts.h"

/* For each master that was asked and has not answered: when it is given up. */
static void overdue(const struct engine *e, const struct lease *lease, usec at[MASTERS_MAX])
{
    for (unsigned i = 0; i < lease_masters(e); i++) {
        const struct ballot *ballot = &lease->attempt->round->ballots[i];
        at[i] = NEVER;
        if (ballot->state == BALLOT_ASKED)
            at[i] = master_overdue(e, &e->masters[i], ballot->asked_at, lease->terms.ttl);
    }
}

static usec round_wakes(const struct engine *e, const struct lease *lease)
{
    usec at[MASTERS_MAX];
    overdue(e, lease, at);
    return round_deadline(lease->attempt->round, lease_masters(e), at);
}

bool lease_expire(struct engine *e, struct lease *lease)
{
    usec at[MASTERS_MAX];
    unsigned timeouts = 0;
    overdue(e, lease, at);
    if (!round_expire(lease->attempt->round, lease_masters(e), e->now, at, &timeouts))
        return false;
    e->counters.timeouts += timeouts;
    return true;
}

void lease_schedule(struct engine *e, struct lease *lease)
{
    usec at = NEVER;
    if (lease_round(lease) && lease->state != LEASE_IDLE && lease->state != LEASE_LOST)
        at = round_wakes(e, lease);
    if (lease_is_waiting(lease) || lease_is_held(lease))
        at = lease->wake_at < at ? lease->wake_at : at;
    if (lease_is_held(lease) && holding_lost_at(lease) < at)
        at = holding_lost_at(lease);
    if (at == NEVER)
        deadlines_set(&e->deadlines, &lease->deadline, NEVER);
    else
        deadlines_at_latest(&e->deadlines, &lease->deadline, at);
}
