#include "pump.h"

#include <limits.h>

#include "events.h"
#include "link.h"
#include "moving.h"
#include "notify.h"
#include "queues.h"
#include "step.h"
#include "tasks.h"
#include "views.h"

/* Rounds of the pump before other watchers of the loop get their turn. */
#define PUMP_ROUNDS       64
#define DEADLINES_A_ROUND 1024
/* Calls before the loop writes their requests, and reads.  A master's time to answer runs from the
 * call, and a master cannot answer a request that was not sent. */
#ifndef CALLS_A_TURN /* the users of the simulator make few calls: it has a variable here */
#define CALLS_A_TURN 1024
#endif
/* If the pump is this late, it reads the replies that have come before it judges a master. */
#define LATE MS(20)

/* ---- events that links still have to deliver ------------------------------- */

static bool pump_links(redlock *client)
{
    bool any = false;
    for (unsigned i = 0; i < client->masters; i++)
        any |= link_pump(client->links[i]);
    return any | notify_pump(client);
}

/* ---- calls that the user made ---------------------------------------------- */

/* The end of a freed one is not reported.  It may not have begun. */
static void count_looks(const redlock_lease *lease, unsigned operations)
{
    bool freed = operations & OP_FREE, begins = operations & OP_INSPECT;
    if (begins && !freed)
        queues_begin_look(lease->client);
    else if (!begins && !lease->ended)
        lease->client->looking--;
}

static void carry_out_calls_of(redlock *client, redlock_lease *lease)
{
    static const enum event_kind events[] = {/* in the order of enum operation */
                                             EVENT_ACQUIRE,   EVENT_INSPECT, EVENT_EXTEND,
                                             EVENT_DOWNGRADE, EVENT_UPGRADE, EVENT_RELEASE,
                                             EVENT_DETACH,    EVENT_ABANDON};
    unsigned operations = lease->operations;
    lease->operations = 0;
    bool freed = operations & (OP_DETACH | OP_FREE);
    if (lease->inspects)
        count_looks(lease, operations);
    if (announcer_of(lease) && operations & OPS_ENDING_ANNOUNCEMENTS)
        client_tasks_end_of(lease);
    if (freed)
        operations &= OP_RELEASE | OP_DETACH | OP_FREE;
    for (; operations; operations &= operations - 1)
        client_step(client, &(struct event){.kind = events[__builtin_ctz(operations)],
                                            .lease = core_of(lease),
                                            .ttl = MS(lease->extend_ttl)});
    if (!freed)
        return;
    queues_drop(lease);
    client->leave_at = 0; /* it may have been the last one that held a left client up */
}

/* Carries out `room` calls of a queue at most; returns how many more there is room for. */
static unsigned carry_out_those(redlock *client, struct lease_queue *calls, unsigned room)
{
    for (redlock_lease *lease; room && (lease = queue_take_asked(calls)); room--)
        carry_out_calls_of(client, lease);
    return room;
}

/* Each when its turn has come: see LOOKS_MOST. */
static unsigned carry_out_looks(redlock *client, unsigned room)
{
    for (; room && queues_may_look(client); room--)
        carry_out_calls_of(client, queue_take_asked(&client->looks));
    return room;
}

/* Detached leases come first: the library must not renew them, as another process may give them
 * back at any time; and they send nothing.  Releases come before the rest, so that the releases for
 * one master go in one command, but not all, as more may come for ever.  The calls about one lease
 * keep their order; calls about two leases have none. */
static bool carry_out_calls(redlock *client)
{
    bool any = queues_have_calls(client);
    queues_sort(client);
    carry_out_those(client, &client->left, UINT_MAX);
    unsigned most = CALLS_A_TURN, others = most / 4;
    unsigned room = carry_out_those(client, &client->releases, most - others) + others;
    room = carry_out_those(client, &client->asked, room);
    room = carry_out_looks(client, room);
    carry_out_those(client, &client->releases, room);
    if (queues_have_calls(client))
        client->pump.rounds = PUMP_ROUNDS; /* this round is the last of its turn */
    return any;
}

/* Releases go before, as the core may be closed when it has none.  The other calls do not: what
 * they ask for would be cancelled, and callbacks may make more of them for ever. */
static bool may_close(const redlock *client)
{
    return client->close_asked && !client->closing && !client->releases.first;
}

static bool is_left(const redlock *client)
{
    return client->heir && !client->close_asked;
}

static void leave(redlock *client)
{
    if (is_left(client) && client->leave_at <= client->now)
        client->leave(client);
}

static bool carry_out_all(redlock *client)
{
    bool any = client->adopt;
    leave(client);
    for (unsigned i = 0; client->adopt; i++) {
        if (client->adopt & 1U << i)
            client_step(client, &(struct event){.kind = EVENT_ADOPT, .master = i});
        client->adopt &= ~(1U << i);
    }
    any |= carry_out_calls(client);
    if (client->tasks_asked.first) {
        client_tasks_carry_out(client);
        any = true;
    }
    if (may_close(client)) {
        client->closing = true;
        client_tasks_close(client);
        client_step(client, &(struct event){.kind = EVENT_CLOSE});
        any = true;
    }
    return any;
}

/* ---- time ------------------------------------------------------------------ */

static void read_what_has_come(redlock *client)
{
    for (unsigned i = 0; i < client->masters; i++)
        link_read(client->links[i]);
    notify_read(client);
}

static bool wake_all(redlock *client)
{
    usec due = engine_next_deadline(client->engine);
    if (due > client_look(client))
        return false;
    if (client->now - due > LATE)
        read_what_has_come(client);
    for (unsigned i = 0;
         i < DEADLINES_A_ROUND && engine_next_deadline(client->engine) <= client->now; i++)
        client_step(client, &(struct event){.kind = EVENT_TIMER});
    return true;
}

/* ---- telling.  Each function calls the user once; false if there is nothing to tell. ---- */

/* A look that others made late, perhaps, is not reported: it goes again. */
static bool repeat_look(redlock *client, redlock_lease *lease, const struct outcome *outcome)
{
    bool again = outcome->cause == CAUSE_UNAVAILABLE && client->looks_forgiven;
    queues_end_look(client, outcome->cause == CAUSE_NONE);
    if (again) {
        lease->operations |= OP_INSPECT;
        queue_asked(client, lease);
    }
    return again;
}

static void tell_event(redlock *client, redlock_lease *lease, const struct outcome *outcome)
{
    redlock_event event;
    if (lease->permit && outcome->kind == OUTCOME_ACQUIRED)
        lease->slot = (int16_t)lease_slot(core_of(lease));
    event_fill(client, lease, outcome, &event);
    if (outcome->kind == OUTCOME_NOT_ACQUIRED || outcome->kind == OUTCOME_RELEASED)
        lease->ended = true;
    lease->lost |= outcome->kind == OUTCOME_LOST;
    lease->told = true;
    void *data = data_of(lease);
    if (lease->ended || lease->lost)
        moves_end(lease);
    lease->callback(lease, &event, data);
}

static void tell_look(redlock *client, redlock_lease *lease, const struct outcome *outcome)
{
    struct sight sight;
    views_fill(client, lease, outcome, &sight);
    lease->ended = true;
    lease->look_callback(look_of(lease), &sight.result, lease->data);
}

/* Afresh: a callback may have taken long. */
static usec time_of_telling(redlock *client)
{
    return client_look(client);
}

/* A lease that is released before its outcome was reported is cancelled first. */
static bool must_wait(const redlock_lease *lease)
{
    if (moves_is_shadow(lease))
        return moving_must_wait(lease);
    return lease->operations & OP_RELEASE && !lease->told;
}

static bool is_outcome_wanted(const redlock_lease *lease)
{
    return !(lease->operations & (OP_FREE | OP_DETACH));
}

static bool take_outcome(redlock *client, redlock_lease *lease, struct outcome *outcome)
{
    if (moves_is_shadow(lease) && moving_take_outcome(lease, outcome))
        return true;
    return engine_tell(client->engine, time_of_telling(client), core_of(lease), outcome);
}

/* Reports all outcomes of one lease, then those of the next one; nothing of a lease that a callback
 * frees. */
static bool tell_lease(redlock *client)
{
    struct outcome outcome;
    while (client->telling || (client->telling = queues_take_untold(client))) {
        redlock_lease *lease = client->telling;
        if (moves_is_shadow(lease) && moving_is_vain(lease, time_of_telling(client))) {
            moving_drop(lease);
            continue;
        }
        bool waits = must_wait(lease);
        if (is_outcome_wanted(lease) && !waits && take_outcome(client, lease, &outcome)) {
            if (moves_is_shadow(lease))
                moving_tell(lease, &outcome);
            else if (!lease->inspects)
                tell_event(client, lease, &outcome);
            else if (!repeat_look(client, lease, &outcome))
                tell_look(client, lease, &outcome);
            return true;
        }
        client->telling = NULL;
        if (waits) { /* for a round in which the release is carried out; others do not */
            queue_cancelled(client, lease);
            client->pump.any = true;
        }
    }
    return false;
}

static bool tell_changed(redlock *client)
{
    if (!client->changed)
        return false;
    unsigned master = (unsigned)__builtin_ctz(client->changed);
    client->changed &= ~(1U << master);
    client->on_node(client, master, client->data);
    return true;
}

static bool tell_ready(redlock *client)
{
    if (!client->ready)
        return false;
    client->ready = false;
    if (client->on_ready) {
        char text[1024];
        enum cause cause = engine_readiness(client->engine, system_now());
        event_readiness(client, cause, text, sizeof text);
        client->on_ready(client, code_of(cause), text, client->data);
    }
    return true;
}

void pump_write(redlock *client)
{
    for (unsigned i = 0; i < client->masters; i++)
        link_flush(client->links[i]);
}

/* Comes last: after all outcomes, and after the calls that were made in their callbacks. */
static bool tell_closed(redlock *client)
{
    if (!client->closing || client->closed_told || queues_have_calls(client))
        return false;
    if (!client->closed) {
        if (client_look(client) < client->close_by)
            return false;
        client_step(client, &(struct event){.kind = EVENT_GIVE_UP});
        if (client->untold.first || client->tasks_untold.first)
            return true;
    }
    client->closed_told = true;
    pump_write(client);
    if (client->on_closed)
        client->on_closed(client, engine_owed(client->engine), client->closed_data);
    return true;
}

/* ---- the pump --------------------------------------------------------------- */

static bool flush_all(redlock *client)
{
    bool breaks = false;
    for (unsigned i = 0; i < client->masters; i++) {
        link_flush(client->links[i]);
        breaks |= link_breaks(client->links[i]);
    }
    return breaks | notify_flush(client);
}

static enum stage stage_events(redlock *client)
{
    struct pump *pump = &client->pump;
    client_look(client);
    queues_begin_round(client);
    pump->any = pump_links(client);
    pump->any |= carry_out_all(client);
    pump->any |= wake_all(client);
    return STAGE_TELL;
}

static enum stage stage_tell(redlock *client)
{
    struct pump *pump = &client->pump;
    if (client_is_stopped(client))
        return STAGE_REST;
    if (tell_lease(client) || tell_changed(client) || tell_ready(client) ||
        client_tasks_tell(client) || tell_closed(client)) {
        pump->any = true;
        return STAGE_TELL;
    }
    return pump->any && ++pump->rounds < PUMP_ROUNDS ? STAGE_EVENTS : STAGE_FLUSH;
}

bool pump_step(redlock *client)
{
    struct pump *pump = &client->pump;
    switch (pump->stage) {
    case STAGE_REST:
        pump->rounds = 0;
        /* fall through */
    case STAGE_EVENTS:
        pump->stage = stage_events(client);
        break;
    case STAGE_TELL:
        pump->stage = stage_tell(client);
        break;
    case STAGE_FLUSH:
        pump->more = flush_all(client) | pump->any;
        pump->stage = STAGE_REST;
        break;
    }
    return pump->stage != STAGE_REST;
}

usec pump_next_wake(const redlock *client)
{
    usec at = client->pump.more ? 0 : engine_next_deadline(client->engine);
    if (client->closing && !client->closed_told && client->close_by < at)
        at = client->close_by;
    if (is_left(client) && client->leave_at < at)
        at = client->leave_at;
    return at;
}

bool pump_holds_loop(const redlock *client)
{
    if (client->dying)
        return true;
    if (client->closed_told)
        return false;
    return engine_is_busy(client->engine) || queues_have_calls(client) || client->untold.first ||
           client->close_asked || client->heir || client->adopt || client->tasks_asked.first ||
           client->tasks_untold.first;
}
