/* rule: W35 */
#include "rules.h"

#include <string.h>

/* A lease that asks this long after another was enqueued is behind it, ... */
#define FAIR_LATER MS(200)
/* ... but not for this time, in which leases of its client may share an older place. */
#define FAIR_FOR MS(1000)

static bool was_told(const struct world *w, const struct token *token, usec clock)
{
    for (unsigned i = 0; i < w->masters; i++)
        if (token->told_clock[i] == clock)
            return true;
    return false;
}

/* By the request whose answer had it, with a refusal or with a fence: the first one, as the clock
 * of another master may come to the same number later. */
static usec drawn(const struct world *w, usec ticket)
{
    usec first = NEVER;
    for (uint32_t i = w->token_count; i; i--) {
        const struct token *token = &w->tokens[i];
        if (was_told(w, token, ticket) && token->place_since < first)
            first = token->place_since;
    }
    return first;
}

/* The first request for the place with this ticket.  A place may be taken over from another
 * lease of the same client, and its ticket outlives its tokens. */
static usec *since(struct world *w, usec ticket)
{
    unsigned kept = w->places_made < PLACES ? w->places_made : PLACES;
    for (unsigned back = 1; back <= kept; back++) {
        struct place *place = &w->places[(w->places_made - back) % PLACES];
        if (place->ticket == ticket)
            return &place->since;
    }
    struct place *place = &w->places[w->places_made++ % PLACES];
    *place = (struct place){.ticket = ticket, .since = drawn(w, ticket)};
    return &place->since;
}

/* In strict order no waiter has a ticket that another one drew. */
static void draws_its_own(const struct user_lease *lease, usec ticket)
{
    if (lease->shell->strict && ticket && !lease->first_sent)
        world_violated(lease->shell->world, "strict",
                       "lease %u of client %u is enqueued, and never asked for a ticket",
                       lease->number, CLIENT(lease));
}

void order_sent(struct user_lease *lease, uint32_t number, usec ticket)
{
    struct world *w = lease->shell->world;
    draws_its_own(lease, ticket);
    lease->asked_for_place |= ticket != 0;
    struct token *token = &w->tokens[number];
    /* A waiter that never asked for a ticket has that of a lease before it in the same local
     * queue, which may not have used it yet. */
    usec own = ticket && !lease->first_sent ? lease->began : w->now;
    usec asked = token->place_since ? token->place_since : own;
    if (!lease->first_sent || asked < lease->first_sent)
        lease->first_sent = asked;
    if (ticket && *since(w, ticket) < lease->first_sent)
        lease->first_sent = *since(w, ticket);
    if (ticket)
        *since(w, ticket) = lease->first_sent;
    token->place_since = lease->first_sent;
}

static struct user_lease *lease_of(struct world *w, uint32_t token)
{
    return w->tokens[token].holder;
}

/* A waiter that yields is in no queue until it is enqueued with another token: those behind it may
 * come in then, once.  One for a permit has several tokens. */
static void note_yielded(struct user_lease *lease, uint32_t token)
{
    if (lease->enqueued_by != token && !lease->terms.permits)
        memset(lease->passed_since, 0, sizeof lease->passed_since);
    lease->enqueued_by = token;
}

/* Since when does a quorum of masters know its place? */
static void note_enqueued(struct world *w, unsigned master, uint32_t token)
{
    struct user_lease *lease = lease_of(w, token);
    if (!lease || lease->known != KNOWN_ASKED)
        return;
    note_yielded(lease, token);
    lease->enqueued_on |= (uint16_t)(1U << master);
    if (!lease->enqueued_since && (unsigned)__builtin_popcount(lease->enqueued_on) >= w->quorum)
        lease->enqueued_since = w->now;
}

static bool has_shared(const struct user_lease *lease, unsigned name)
{
    for (unsigned i = 0; i < lease->count; i++)
        if (lease->names[i] == name)
            return lease->shared >> i & 1;
    return false;
}

/* `token` was given a name: no live waiter for it there may have been enqueued on a quorum
 * before its lease first asked. */
static void nobody_is_overtaken(struct world *w, unsigned master, uint32_t token, unsigned name)
{
    const struct user_lease *given = lease_of(w, token);
    usec asked = w->tokens[token].place_since; /* a later lease of its client may have it now */
    const struct model_master *model = &w->servers[master].model;
    usec wall = server_wall(w, master);
    for (unsigned i = 0; i < model->data.waiters_used; i++) {
        const struct model_waiter *waiter = &model->data.waiters[i];
        if (!model_waits(model, waiter, wall, name))
            continue;
        const struct user_lease *waits = lease_of(w, waiter->value);
        if (!given || !waits || waits == given || !waits->enqueued_since ||
            waits->known != KNOWN_ASKED || waits->enqueued_since >= asked ||
            (has_shared(given, name) && has_shared(waits, name)))
            continue;
        world_violated(w, "turn",
                       "master %u gives %c to lease %u of client %u, which asked %lld us after "
                       "lease %u of client %u was enqueued on a quorum",
                       master + 1, 'a' + name, given->number, CLIENT(given),
                       (long long)(asked - waits->enqueued_since), waits->number, CLIENT(waits));
        return;
    }
}

void order_answered(struct world *w, unsigned master, const struct message *message)
{
    const struct model_call *call = &message->call;
    if (call->kind == REQUEST_GRANT && call->value <= w->token_count &&
        (message->answer.answer == ANSWER_HELD || message->answer.answer == ANSWER_YES))
        w->tokens[call->value].told_clock[master] = message->answer.clock;
}

void order_executed(struct world *w, unsigned master, const struct message *message)
{
    const struct model_call *call = &message->call;
    const struct model_answer *answer = &message->answer;
    if (call->kind == REQUEST_QUEUE && answer->answer == ANSWER_QUEUED)
        note_enqueued(w, master, call->value);
    for (unsigned i = 0; i < answer->push_count; i++)
        for (unsigned k = 0; k < answer->pushes[i].count; k++)
            nobody_is_overtaken(w, master, answer->pushes[i].value, answer->pushes[i].names[k]);
    if (call->kind != REQUEST_GRANT || answer->answer != ANSWER_YES)
        return;
    for (unsigned i = 0; i < call->count; i++)
        nobody_is_overtaken(w, master, call->value, call->names[i]);
    for (unsigned slot = 0; w->permits && model_is_slot(call->names[0]) && slot < MODEL_PERMITS;
         slot++)
        nobody_is_overtaken(w, master, call->value,
                            model_slot(model_slot_name(call->names[0]), slot));
}

/* ---- fair ----------------------------------------------------------------------- */

/* One whose wait is over has left the queue, and asks for the holder only. */
static bool stands_in_line(const struct user_lease *lease)
{
    return lease->known == KNOWN_ASKED && !user_lease_has_calls(lease) && lease->enqueued_since &&
           core_of(lease->handle)->state != LEASE_FAILING;
}

void order_passes(const struct user_lease *told, struct user_lease *waits, usec longest)
{
    struct world *w = told->shell->world;
    usec *since = &waits->passed_since[told->shell->index];
    if (told->shell == waits->shell || !stands_in_line(waits) ||
        told->began <= waits->enqueued_since + FAIR_LATER)
        return;
    if (!*since)
        *since = w->now;
    if (w->now - *since > longest)
        world_violated(w, "fair",
                       "lease %u of client %u asked %lld ms after lease %u of client %u was "
                       "enqueued on a quorum, and others of it have passed that for %lld ms",
                       told->number, CLIENT(told),
                       (long long)(told->began - waits->enqueued_since) / 1000, waits->number,
                       CLIENT(waits), (long long)(w->now - *since) / 1000);
}

/* Nor does a lease go on from one to another in memory, where "turn" would not see it. */
static void is_given_by_masters(const struct user_lease *told)
{
    const struct shell *s = told->shell;
    if (s->strict && s->client->engine->counters.handed_here)
        world_violated(s->world, "strict", "lease %u of client %u was handed over in memory",
                       told->number, CLIENT(told));
}

/* The waiters of one client share a place, and hand the names on, but not for long.  With one
 * name there is one place for each client that may be before another one.  A fault may lose a
 * place.  An attach by token passes no waiter: the lease is held already. */
void order_told(const struct user_lease *told)
{
    struct world *w = told->shell->world;
    is_given_by_masters(told);
    if (w->faults || w->names > 1 || w->peace || told->by_token || told->terms.permits)
        return;
    for (unsigned c = 0; c < w->clients; c++)
        for (struct user_lease *it = w->shells[c]->all; it; it = it->next_all)
            if (!it->terms.permits && exclude_each_other(told, it))
                order_passes(told, it, FAIR_FOR);
}
