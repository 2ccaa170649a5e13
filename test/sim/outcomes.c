/* rule: C1, C7, C8 */
#include "rules.h"

#include "change.h"
#include "liar.h"
#include "movers.h"

#define WAIT_GRACE MS(3000) /* at least, for the last round, and for asking for the holder */

static bool may_end_move(const struct user_lease *lease)
{
    return lease->moves_to && !lease->released && !lease->moves_to->closed_told;
}

static bool may_be_told(const struct user_lease *lease, redlock_event_kind kind)
{
    switch (kind) {
    case REDLOCK_ACQUIRED:
    case REDLOCK_NOT_ACQUIRED:
        return lease->known == KNOWN_ASKED;
    case REDLOCK_EXTENDED:
    case REDLOCK_NOT_EXTENDED:
        return lease->known == KNOWN_HELD && lease->extends;
    case REDLOCK_CHANGED:
    case REDLOCK_NOT_CHANGED:
        return lease->known == KNOWN_HELD && lease->changes;
    case REDLOCK_AT_RISK:
    case REDLOCK_HEALTHY:
    case REDLOCK_LOST:
    case REDLOCK_ANNOUNCED:
        return lease->known == KNOWN_HELD;
    case REDLOCK_RELEASED:
        return (lease->released || lease->shell->client->closing) &&
               (lease->known == KNOWN_HELD || lease->known == KNOWN_LOST ||
                lease->known == KNOWN_ASKED_BACK);
    case REDLOCK_MOVED:
        return lease->known == (lease->moves_waiting ? KNOWN_ASKED : KNOWN_HELD) &&
               may_end_move(lease);
    case REDLOCK_NOT_MOVED:
        return (lease->known == KNOWN_HELD || lease->moves_waiting) && may_end_move(lease);
    }
    return kind == TOLD_SEEN && lease->known == KNOWN_INSPECTING;
}

/* Each once, in an order that makes sense, and none after the end. */
static void once(const struct user_lease *lease, const redlock_event *event)
{
    struct shell *s = lease->shell;
    if (lease->let_go || !may_be_told(lease, event->kind))
        world_violated(s->world, "once", "lease %u of client %u hears %s (known: %d)",
                       lease->number, CLIENT(lease), redlock_event_name(event->kind), lease->known);
    if (s->closed_told)
        world_violated(s->world, "once", "client %u hears %s after it was closed", s->index + 1,
                       redlock_event_name(event->kind));
}

/* In peace a quorum of masters grants a name that nobody has. */
static void probe_got_it(const struct user_lease *lease, const redlock_event *event)
{
    struct world *w = lease->shell->world;
    if (lease->is_probe && event->kind == REDLOCK_NOT_ACQUIRED && !liar_took_a_vote(w) &&
        event->code != REDLOCK_E_DIFFERS)
        world_violated(w, "progress", "in peace, with all masters up, client %u got nothing: %s",
                       CLIENT(lease), event->text);
}

void outcomes_told(const struct user_lease *lease, const redlock_event *event)
{
    once(lease, event);
    probe_got_it(lease, event);
    change_told(lease, event);
}

void outcomes_remember(struct user_lease *lease, const redlock_event *event)
{
    usec now = shell_now(lease->shell);
    movers_remember(lease, event);
    if (event->kind == TOLD_SEEN) {
        lease->known = KNOWN_ENDED;
        lease->ended = true;
        return;
    }
    switch (event->kind) {
    case REDLOCK_ACQUIRED:
        lease->known = KNOWN_HELD;
        lease->end = lease->farthest_end = lease_valid_until(core_of(lease->handle));
        break;
    case REDLOCK_EXTENDED:
    case REDLOCK_NOT_EXTENDED:
        lease->extends--;
        break;
    case REDLOCK_CHANGED:
    case REDLOCK_NOT_CHANGED:
        lease->changes--;
        lease->upgrading = false;
        user_lease_has_changed(lease);
        break;
    case REDLOCK_LOST:
        lease->known = KNOWN_LOST;
        lease->extends = lease->changes = 0;
        lease->stop_by = now + MS(event->valid_ms);
        break;
    case REDLOCK_NOT_ACQUIRED:
    case REDLOCK_RELEASED:
        lease->known = KNOWN_ENDED;
        lease->ended = true;
        lease->extends = lease->changes = 0;
        break;
    default:
        break;
    }
}

/* A master may take a quarter of the ttl over each request: to grant, to prolong, to name the
 * holder, and with a fence to store that. */
static usec wait_grace(const struct user_lease *lease)
{
    bool tries_again = lease->terms.permits; /* for this time, and then once more */
    usec questions = lease->terms.ttl / 4 * (3 + lease->terms.fence + 2 * tries_again);
    return questions > WAIT_GRACE ? questions : WAIT_GRACE;
}

/* An acquire is answered when its wait is over, whatever the masters do. */
void outcomes_due(const struct user_lease *lease)
{
    struct shell *s = lease->shell;
    movers_due(lease);
    if (lease->known != KNOWN_ASKED || user_lease_has_calls(lease) || shell_is_stopped(s))
        return;
    usec grace = wait_grace(lease);
    if (lease->terms.wait > NEVER / 2)
        return;
    /* From the pump's next turn on. */
    usec due = core_of(lease->handle)->asked_at + lease->terms.wait;
    due = (due > s->ran_again_local ? due : s->ran_again_local) + grace;
    if (shell_now(s) > due)
        world_violated(s->world, "waiting", "lease %u of client %u still waits for an answer",
                       lease->number, CLIENT(lease));
}
