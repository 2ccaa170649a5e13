#include "lease/lease_parts.h"

/* The masters of `from` are asked nothing more, as after a detach.  But no list rests on what they
 * have promised: here the promises of `to` count at once. */
static void leave(struct engine *from, struct lease *lease)
{
    lease->acquired = false; /* it is held on: its time is counted when it ends */
    lease_abandon(from, lease, true);
}

/* Its room among the deadlines is the lease's now. */
static void empty(struct engine *to, struct lease *shadow)
{
    shadow->attempt = NULL;
    shadow->acquired = false;
    lease_unmake(to, shadow);
    bool room = deadlines_enter(&to->deadlines, &to->memory);
    ASSERT(room);
    (void)room;
}

/* The user knows since when it is held, for how long, and with which fence: that stays. */
static void take(struct lease *lease, const struct lease *was, const struct lease *shadow)
{
    *lease = *was;
    lease->claim = NULL;
    lease->attempt = shadow->attempt;
    lease->place = PLACE_NONE;
    lease->deadline = (struct deadline){.owner = OWNER_LEASE};
    lease->state = shadow->state;
    lease->valid_until = shadow->valid_until;
    lease->wake_at = shadow->wake_at;
    lease->untold = shadow->untold;
    lease->causes = shadow->causes;
    lease->risk = shadow->risk;
}

void lease_move(struct engine *from, struct lease *lease, struct engine *to, struct lease *shadow)
{
    ASSERT(lease_is_held(lease) && !lease->untold && from->now < lease->valid_until);
    ASSERT(lease_is_held(shadow) && !shadow->further && !claim_was_changed(lease->claim));
    struct lease was = *lease, has = *shadow;
    leave(from, lease);
    take(lease, &was, &has);
    claim_pass(&shadow->claim, &lease->claim);
    empty(to, shadow);
    engine_list(to, &to->held, lease);
    to->at_risk += lease->risk != RISK_NONE;
    lease_schedule(to, lease);
}

/* It has another token there, so what the former client still gives back is not the lease's. */
void lease_go_over(struct engine *from, struct lease *lease, struct engine *to, struct lease *fresh)
{
    ASSERT(lease_may_go_over(lease) && fresh->state == LEASE_IDLE);
    usec asked_at = lease->asked_at;
    struct queue_place place = lease->attempt->place;
    lease_abandon(from, lease, false);
    *lease = *fresh;
    if (lease->has_extra)
        *lease_extra(lease) = *lease_extra(fresh);
    lease->place = PLACE_NONE;
    lease->claim = NULL;
    claim_pass(&fresh->claim, &lease->claim);
    empty(to, fresh);
    engine_list(to, &to->idle, lease);
    lease->asked_at = asked_at;
    lease->attempt->place.ticket = place.ticket;
    lease->attempt->place.drawn_at = place.drawn_at;
}
