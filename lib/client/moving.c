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
    const redlock_lease *lease = move_of(shadow)->lease;
    return !lease || lease_valid_until(core_of(lease)) <= now || is_taken_back(lease);
}

bool moving_cannot_announce(const redlock_lease *shadow)
{
    const struct client_task *announcer = move_of(shadow)->announcer;
    return announcer && !announcer->core;
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
    stays.ends = stays.valid = lease_valid_until(core_of(lease)) - shadow->client->now;
    stays.fence = lease_fence(core_of(lease));
    end_move(shadow);
    tell(lease, shadow, &stays);
    moving_drop(shadow);
}

static void tell_moved(redlock_lease *lease, redlock_lease *shadow, const struct outcome *outcome)
{
    struct outcome moved = *outcome;
    redlock *from = lease->client, *to = shadow->client;
    engine_move(from->engine, core_of(lease), to->engine, core_of(shadow), to->now);
    client_tasks_go_over(lease, move_of(shadow)->announcer);
    moves_end(shadow);
    to->telling = NULL;
    queues_drop(shadow);
    lease->client = to;
    queue_untold(to, lease);
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
