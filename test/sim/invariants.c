#include "invariants.h"

#include "rules.h"
#include "change.h"
#include "client_rules.h"
#include "lists.h"
#include "movers.h"
#include "recipe_users.h"
#include "queues.h"
#include "trace.h"

/* ---- what users hear --------------------------------------------------------------- */

static void acquired(struct user_lease *lease, const redlock_event *event)
{
    tokens_acquired(lease);
    permits_acquired(lease);
    fences_acquired(lease, event);
    validity_acquired(lease);
    order_told(lease);
    lists_acquired(lease);
    change_acquired(lease);
    exclusion_acquired(lease);
    period_is_kept(lease);
    period_begins(lease);
}

/* By the other list, from now on. */
static void moved(struct user_lease *lease)
{
    validity_moved(lease);
    exclusion_acquired(lease);
}

static void changed(struct user_lease *lease, const redlock_event *event)
{
    if (lease->shared)
        fences_told(lease, event);
    else
        fences_upgraded(lease, event);
    validity_shared(lease);
    if (!lease->shared) {
        exclusion_acquired(lease);
        period_is_kept(lease);
    }
}

/* As the core counts the outcomes, of which a look has one too. */
static uint64_t outcome_number(redlock_event_kind kind)
{
    unsigned number = (unsigned)kind;
    if (kind == TOLD_SEEN)
        return OUTCOME_SEEN;
    return number < OUTCOME_SEEN ? number : number + 1;
}

void check_told(struct user_lease *lease, const redlock_event *event)
{
    struct world *w = lease->shell->world;
    TRACE(w, "client %u hears: lease %u %s: %s", CLIENT(lease), lease->number,
          event->kind == TOLD_SEEN ? "seen" : redlock_event_name(event->kind), event->text);
    world_mark(w, (uint64_t)w->now + lease->number,
               outcome_number(event->kind) << 40 | (uint64_t)event->valid_ms);
    outcomes_told(lease, event);
    check_words(lease, event);
    if (event->kind == REDLOCK_LOST)
        breaks_lost(lease);
    if (event->kind == REDLOCK_LOST)
        validity_lost(lease, event);
    if (event->kind == REDLOCK_LOST || event->kind == REDLOCK_RELEASED)
        period_released(lease, event);
    if (event->kind == REDLOCK_EXTENDED)
        validity_extended(lease);
    outcomes_remember(lease, event);
    if (event->kind == REDLOCK_RELEASED && event->code == REDLOCK_OK)
        tokens_released(lease);
    if (event->kind == REDLOCK_ANNOUNCED)
        leaders_announced(lease);
    bool has_moved = event->kind == REDLOCK_MOVED && lease->known == KNOWN_HELD;
    if (has_moved)
        leaders_moved(lease);
    if (event->kind == REDLOCK_ACQUIRED)
        acquired(lease, event);
    else if (event->kind == REDLOCK_CHANGED)
        changed(lease, event);
    else
        fences_told(lease, event);
    if (has_moved)
        moved(lease);
}

void check_freed(struct user_lease *lease)
{
    tokens_freed(lease);
}

/* ---- what is sent, carried out and heard ------------------------------------------- */

void check_sent(struct shell *s, unsigned master, const struct message *message,
                const struct request *request)
{
    enum request_kind kind = request->tag.kind;
    uint32_t number = message->call.value;
    accounts_sent(s, master, kind);
    if (request_is_of_task(kind)) {
        leaders_sent(s, message, request);
        wishes_sent(s, message);
        works_sent(s->world, message);
        return;
    }
    if (!number)
        return;
    struct user_lease *lease = user_lease_of(lease_of_claim(request->tag.claim));
    bool released = s->world->tokens[number].released;
    check_batch(s, lease, request,
                kind == REQUEST_RELEASE ? !released : lease && !lease->first_sent);
    if (kind == REQUEST_GRANT || kind == REQUEST_QUEUE)
        fences_sent(s->world, number);
    if (lease && (takes(kind) || kind == REQUEST_QUEUE))
        order_sent(lease, number, message->call.ticket);
    tokens_sent(s, master, number, request);
    if (kind == REQUEST_RENEW && lease)
        breaks_sent(lease, request->tag.round);
    if (kind == REQUEST_RENEW && lease && lease_is_acquiring(core_of(lease->handle)))
        fences_confirmed(s->world, number);
}

void check_executed(struct world *w, unsigned master, const struct message *message)
{
    if (message->call.value > w->token_count)
        return; /* a mutant has had it carried out on another connection */
    if (request_is_of_task(message->call.kind)) {
        leaders_executed(w, master, message);
        wishes_executed(w, master, message);
        return;
    }
    fences_executed(w, master, message);
    order_executed(w, master, message);
    permits_executed(w, master, message);
    grants_executed(w, master, message);
    breaks_executed(w, master, message);
}

static void compare_clocks(struct shell *s, struct shell_link *link, const struct message *message)
{
    usec vague = (shell_now(s) - message->sent_local) / 2;
    if (vague > link->vague)
        link->vague = vague;
    link->compared = s->world->now;
}

void check_heard(struct shell *s, unsigned master, const struct message *message)
{
    if (message->answer.answer == ANSWER_HELLO)
        compare_clocks(s, &s->links[master], message);
    if (!request_is_of_task(message->call.kind))
        tokens_heard(s, master, message);
}

void check_foreigner(struct world *w, unsigned foreigner)
{
    exclusion_foreigner(w, foreigner);
}

/* ---- time goes on ------------------------------------------------------------------- */

void check_step(struct shell *s)
{
    usec now = shell_now(s);
    lists_step(s);
    for (struct user_lease *lease = s->all; lease; lease = lease->next_all)
        validity_looked_at(lease, now);
}

void check_idle(struct shell *s)
{
    bool waits = queues_have_calls(s->client) || movers_waits(s); /* for the next turn */
    if (s->client->pump.any && !waits)
        world_violated(s->world, "progress", "client %u: the pump does not come to rest",
                       s->index + 1);
    check_written(s);
    check_notified(s);
    check_held(s);
    accounts_idle(s);
    change_idle(s);
}

void check_waiting(struct world *w)
{
    for (unsigned c = 0; c < w->clients; c++)
        for (const struct user_lease *lease = w->shells[c]->all; lease; lease = lease->next_all)
            outcomes_due(lease);
    wishes_due(w);
}

void check_orphans(struct world *w)
{
    unsigned names = w->options.habit == HABIT_CROWD ? MODEL_KEYS : w->names;
    for (unsigned i = 0; i < w->masters; i++)
        for (unsigned name = 0; name < names; name++)
            orphans_look(w, i, name);
    for (unsigned i = 0; i < w->masters && w->permits; i++)
        for (unsigned name = MODEL_SLOTS_AT; name < MODEL_KEYS; name++)
            orphans_look(w, i, name);
}

void check_ended(struct shell *s)
{
    works_drop(s);
    tokens_ended(s);
}
