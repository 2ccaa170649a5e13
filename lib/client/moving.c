#include "moving.h"

#include "events.h"
#include "queues.h"
#include "step.h"
#include "tasks.h"

/* Where the lease stays, the other client announces nothing for it. */
static void end_move(redlock_lease *shadow)
{
    struct move *move = move_of(shadow);
    if (move)
        client_tasks_forget(move->announcer);
    moves_end(shadow);
}

/* The core releases no shadow before ACQUIRED was taken out: see lease_abandon(). */
void moving_drop(redlock_lease *shadow)
{
    redlock *to = shadow->client;
    end_move(shadow);
    to->telling = NULL;
    client_step(to, &(struct event){.kind = EVENT_ABANDON, .lease = core_of(shadow)});
    queues_drop(shadow);
}

/* The client of the lease closes: what it announced is taken back, and the lease released soon. */
static bool is_taken_back(const redlock_lease *lease)
{
    const struct client_task *announcer = announcer_of(lease);
    return announcer && !announcer->core;
}

bool moving_is_vain(const redlock_lease *shadow, usec now)
{
    const struct move *move = move_of(shadow);
    const redlock_lease *lease = move->lease;
    if (!lease)
        return true;
    usec until = lease_valid_until(core_of(lease));
    bool is_over = until ? until <= now : !move->waits;
    return is_over || is_taken_back(lease);
}

static enum cause why_it_waits_here(const redlock_lease *shadow)
{
    const redlock *to = shadow->client;
    bool waits = lease_may_go_over(core_of(move_of(shadow)->lease));
    return to->closing || to->close_asked ? CAUSE_CLOSED : waits ? CAUSE_NONE : CAUSE_CANCELLED;
}

static bool cannot_announce(const redlock_lease *shadow)
{
    const struct client_task *announcer = move_of(shadow)->announcer;
    return announcer && !announcer->core;
}

bool moving_take_outcome(const redlock_lease *shadow, struct outcome *outcome)
{
    bool waits = move_of(shadow)->waits;
    if (!waits && !cannot_announce(shadow))
        return false;
    *outcome = (struct outcome){.kind = OUTCOME_NOT_ACQUIRED,
                                .cause = waits ? why_it_waits_here(shadow) : CAUSE_CLOSED};
    if (!outcome->cause)
        outcome->kind = OUTCOME_ACQUIRED;
    return true;
}

bool moving_must_wait(const redlock_lease *shadow)
{
    const redlock_lease *lease = move_of(shadow)->lease;
    bool is_told = lease->untold || lease->client->telling == lease;
    return lease->client->pumping || is_told || lease->operations;
}

static void tell(redlock_lease *lease, const redlock_lease *by, const struct outcome *outcome)
{
    redlock_event event;
    event_fill(by->client, by, outcome, &event);
    lease->callback(lease, &event, lease->data);
}

/* The votes are the shadow's, until it is dropped. */
static void tell_stays(redlock_lease *lease, redlock_lease *shadow, const struct outcome *outcome)
{
    struct outcome stays = *outcome;
    stays.kind = OUTCOME_NOT_MOVED;
    usec until = lease_valid_until(core_of(lease));
    stays.ends = stays.valid = until ? until - shadow->client->now : 0;
    stays.fence = lease_fence(core_of(lease));
    end_move(shadow);
    tell(lease, shadow, &stays);
    moving_drop(shadow);
}

static void move_waiter(redlock_lease *lease, redlock_lease *shadow)
{
    redlock *from = lease->client, *to = shadow->client;
    engine_move_waiter(from->engine, core_of(lease), to->engine, core_of(shadow), to->now);
    lease->operations |= OP_ACQUIRE;
    queue_asked(to, lease);
}

static void move_held(redlock_lease *lease, redlock_lease *shadow)
{
    redlock *from = lease->client, *to = shadow->client;
    engine_move(from->engine, core_of(lease), to->engine, core_of(shadow), to->now);
    client_tasks_go_over(lease, move_of(shadow)->announcer);
    queue_untold(to, lease);
}

/* It has something to send, or nothing is left of it. */
static void go_on_soon(redlock *from)
{
    from->leave_at = 0;
    from->stir(from);
}

static void tell_moved(redlock_lease *lease, redlock_lease *shadow, const struct outcome *outcome)
{
    struct outcome moved = *outcome;
    bool waits = move_of(shadow)->waits;
    (waits ? move_waiter : move_held)(lease, shadow);
    moves_end(shadow);
    shadow->client->telling = NULL;
    go_on_soon(lease->client);
    lease->client = shadow->client;
    queues_drop(shadow);
    moved.kind = OUTCOME_MOVED;
    moved.fence = lease_fence(core_of(lease));
    tell(lease, lease, &moved);
}

void moving_tell(redlock_lease *shadow, const struct outcome *outcome)
{
    redlock_lease *lease = move_of(shadow)->lease;
    if (outcome->kind == OUTCOME_ACQUIRED)
        tell_moved(lease, shadow, outcome);
    else
        tell_stays(lease, shadow, outcome);
}
