#include "rules.h"

#define FAIR_FOR MS(1200) /* a refresh, for each slot that there is */

/* ---- the slot ------------------------------------------------------------------------- */

static void slot_is_known(const struct user_lease *lease)
{
    struct world *w = lease->shell->world;
    int slot = redlock_lease_slot(lease->handle), permits = (int)lease->terms.permits;
    if (permits ? slot < 0 || slot >= permits : slot != -1)
        world_violated(w, "slot", "lease %u of client %u asked for one of %d permits, and has %d",
                       lease->number, CLIENT(lease), permits, slot);
}

/* ---- the order ------------------------------------------------------------------------ */

/* `told` might have left its slot to it. */
static bool wants_it_too(const struct user_lease *waits, const struct user_lease *told)
{
    unsigned slot = told->names[0];
    return waits->known == KNOWN_ASKED && waits->names[0] == model_slot_name(slot) &&
           waits->terms.permits > model_slot_number(slot);
}

/* A later lease may be before it in the queue of each slot until it stands there as well. */
static void is_fair(const struct user_lease *told)
{
    struct world *w = told->shell->world;
    if (w->faults || w->peace)
        return;
    for (unsigned c = 0; c < w->clients; c++)
        for (struct user_lease *it = w->shells[c]->all; it; it = it->next_all)
            if (wants_it_too(it, told))
                order_passes(told, it, FAIR_FOR * w->most_permits);
}

/* ---- a new place ------------------------------------------------------------------------ */

static bool waits_longer(struct world *w, unsigned master, const struct user_lease *waits,
                         usec asked, unsigned name)
{
    const struct model_data *data = &w->servers[master].model.data;
    if (waits->known != KNOWN_ASKED || !waits->enqueued_since || waits->enqueued_since >= asked)
        return false;
    for (unsigned i = 0; i < data->waiters_used; i++)
        for (unsigned slot = 0; slot < MODEL_PERMITS; slot++)
            if (w->tokens[data->waiters[i].value].holder == waits &&
                model_waits(&w->servers[master].model, &data->waiters[i], server_wall(w, master),
                            model_slot(name, slot)))
                return true;
    return false;
}

static unsigned free_slots(struct world *w, unsigned master, unsigned name, unsigned permits)
{
    unsigned count = 0;
    for (unsigned slot = 0; slot < permits; slot++)
        count +=
            !model_value(&w->servers[master].model, server_wall(w, master), model_slot(name, slot));
    return count;
}

/* It was given the slot, and so many that wait longer than it are there: for each a slot is left.
 * Its slot may be another lease's by now, handed over in memory. */
static void leaves_enough(struct world *w, unsigned master, const struct model_call *call)
{
    usec asked = w->tokens[call->value].place_since;
    unsigned name = model_slot_name(call->names[0]), longer = 0;
    unsigned left = free_slots(w, master, name, call->permits);
    for (unsigned c = 0; c < w->clients; c++)
        for (const struct user_lease *it = w->shells[c]->all; it; it = it->next_all)
            longer += waits_longer(w, master, it, asked, name);
    if (longer > left)
        world_violated(w, "turn",
                       "master %u gives slot %u to a new place, t%u, and %u that wait longer are "
                       "left with %u",
                       master + 1, model_slot_number(call->names[0]), call->value, longer, left);
}

void permits_executed(struct world *w, unsigned master, const struct message *message)
{
    const struct model_call *call = &message->call;
    if (call->kind != REQUEST_QUEUE || !model_is_slot(call->names[0]))
        return;
    struct token *token = &w->tokens[call->value];
    bool was_there = token->stood & 1U << master;
    token->stood |= (uint16_t)(1U << master);
    if (!was_there && message->answer.answer == ANSWER_YES && message->answer.push_count)
        leaves_enough(w, master, call);
}

void permits_acquired(struct user_lease *lease)
{
    slot_is_known(lease);
    if (!lease->terms.permits || lease->shell->world->violation.rule)
        return;
    lease->names[0] =
        (uint8_t)model_slot(lease->names[0], (unsigned)redlock_lease_slot(lease->handle));
    is_fair(lease);
}
