#include "lease/lease_parts.h"

#define TO(state) (1U << LEASE_##state)

/* A lease that waits or is being acquired may be refused, too late or cancelled. */
#define NOT_HAD (TO(FAILING) | TO(IDLE))
/* A holder of this client may hand over to it, with or without a renewal under way. */
#define HANDED_OVER (TO(HELD) | TO(RENEWING))
/* FAILING: its time was over before ACQUIRED was reported. */
#define NO_MORE_HELD (TO(RELEASING) | TO(LOST) | TO(FAILING) | TO(IDLE))

static const uint16_t after[LEASE_STATES] = {
    /* PAUSING: a further place of another lease */
    [LEASE_IDLE] = TO(PAUSING) | TO(BEHIND) | TO(ASKING) | TO(ATTACHING) | TO(INSPECTING) |
                   TO(RELEASING) | TO(IDLE),
    [LEASE_BEHIND] = TO(BEHIND) | TO(PAUSING) | TO(QUEUED) | TO(ASKING) | HANDED_OVER | NOT_HAD,
    [LEASE_PAUSING] = TO(BEHIND) | TO(PAUSING) | TO(QUEUED) | TO(ASKING) | HANDED_OVER | NOT_HAD,
    [LEASE_QUEUED] = TO(GATHERING) | TO(PAUSING) | HANDED_OVER | NOT_HAD,
    [LEASE_ASKING] = TO(STORING) | HANDED_OVER | NOT_HAD,
    [LEASE_ATTACHING] = TO(HELD) | NOT_HAD,
    [LEASE_GATHERING] = TO(HELD) | TO(STORING) | TO(CONFIRMING) | NOT_HAD,
    [LEASE_STORING] = TO(HELD) | TO(CONFIRMING) | NOT_HAD,
    [LEASE_CONFIRMING] = TO(HELD) | NOT_HAD,
    [LEASE_FAILING] = TO(PAUSING) | TO(IDLE),
    [LEASE_HELD] = TO(HELD) | TO(RENEWING) | TO(UPGRADING) | NO_MORE_HELD,
    [LEASE_RENEWING] = TO(HELD) | TO(RENEWING) | TO(UPGRADING) | NO_MORE_HELD,
    [LEASE_UPGRADING] = TO(HELD) | TO(RENEWING) | NO_MORE_HELD,
    [LEASE_LOST] = TO(IDLE),
    [LEASE_RELEASING] = TO(IDLE),
    [LEASE_INSPECTING] = TO(IDLE),
};

bool lease_may_become(const struct lease *lease, enum lease_state state)
{
    return after[lease->state] >> state & 1;
}
