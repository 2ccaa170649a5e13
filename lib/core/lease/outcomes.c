#include "lease/further.h"
#include "lease/lease_parts.h"

#define CAUSE_MASK ((UINT64_C(1) << CAUSE_BITS) - 1)

/* The place of its cause among those that are kept, from 1; 0: it has none.  A lease that is
 * inspected is not acquired. */
static const uint8_t places[OUTCOMES] = {
    [OUTCOME_NOT_ACQUIRED] = 1, [OUTCOME_SEEN] = 1, [OUTCOME_NOT_EXTENDED] = 2,
    [OUTCOME_NOT_CHANGED] = 3,  [OUTCOME_LOST] = 4, [OUTCOME_RELEASED] = 5};

void lease_add_outcome(struct engine *e, struct lease *lease, enum outcome_kind kind,
                       enum cause cause)
{
    bool first = lease->untold == 0;
    lease->untold |= BIT(kind);
    ASSERT(places[kind] || !cause);
    if (places[kind]) {
        unsigned shift = CAUSE_BITS * (places[kind] - 1U);
        lease->causes &= ~(CAUSE_MASK << shift);
        lease->causes |= (uint64_t)cause << shift;
    }
    if (first)
        engine_emit(e, EFFECT_TELL, 0, lease);
}

/* The last outcome, unless RELEASED follows: no request concerns the lease any more. */
void lease_end(struct engine *e, struct lease *lease, enum outcome_kind kind, enum cause cause)
{
    if (lease->further) { /* the outcome goes to its owner */
        further_end(e, lease);
        return;
    }
    lease_become(lease, LEASE_IDLE);
    engine_list(e, &e->idle, lease);
    deadlines_set(&e->deadlines, &lease->deadline, NEVER);
    if (kind == OUTCOME_NOT_ACQUIRED && cause == CAUSE_HELD)
        e->counters.contended++;
    else if (kind == OUTCOME_NOT_ACQUIRED &&
             (cause == CAUSE_UNAVAILABLE || cause == CAUSE_TOO_SLOW || cause == CAUSE_OVERLOAD))
        e->counters.unavailable++;
    lease_add_outcome(e, lease, kind, cause);
}

usec lease_fence(const struct lease *lease)
{
    const struct lease_extra *extra = lease_extra(lease);
    return !extra || lease->untold & BIT(OUTCOME_ACQUIRED) ? 0 : extra->fence;
}

usec lease_valid_until(const struct lease *lease)
{
    bool told = lease_is_held(lease) && !(lease->untold & BIT(OUTCOME_ACQUIRED));
    return told ? lease->valid_until : 0;
}

bool lease_is_extending(const struct lease *lease)
{
    return lease->extending || lease->untold & (BIT(OUTCOME_EXTENDED) | BIT(OUTCOME_NOT_EXTENDED));
}

bool lease_is_changing(const struct lease *lease)
{
    return lease->state == LEASE_UPGRADING || lease->downgrading ||
           lease->untold & (BIT(OUTCOME_CHANGED) | BIT(OUTCOME_NOT_CHANGED));
}

usec lease_wait_until(const struct lease *lease)
{
    usec wait = lease->attempt->wait;
    return wait == NEVER ? NEVER : lease->asked_at + wait;
}

enum cause lease_cause_of(const struct lease *lease, enum outcome_kind kind)
{
    if (!places[kind])
        return CAUSE_NONE;
    return (enum cause)(lease->causes >> CAUSE_BITS * (places[kind] - 1U) & CAUSE_MASK);
}
