/* rule: H9 */
#include "wishes.h"

#include "recipe_users.h"
#include "rules.h"
#include "trace.h"

#define LISTENS_AFTER MS(100)
#define LOST_WITHIN   MS(300)
#define AGAIN_AFTER   MS(1000)
#define PUNCTUAL      MS(4)

/* A word may have been lost, or a master may not answer. */
static bool is_calm(const struct world *w)
{
    return w->asks && !w->faults && !w->deaf;
}

/* Of several leases of a client that have one token, a word has one renewed. */
static bool is_had_twice(const struct user_heeder *it)
{
    unsigned count = 0;
    for (const struct user_lease *lease = it->shell->all; lease; lease = lease->next_all)
        count += lease->token == it->token && !lease->ended && !lease->let_go && !lease->released;
    return count > 1;
}

static void note_break(struct user_heeder *it, unsigned master)
{
    const struct shell *s = it->shell;
    usec now = s->world->now;
    if (now < it->began + LISTENS_AFTER || is_had_twice(it))
        return;
    it->broken.on |= (uint16_t)(1U << master);
    if (!it->broken.at && s->masters - (unsigned)__builtin_popcount(it->broken.on) < s->quorum)
        it->broken.at = now;
}

void breaks_executed(struct world *w, unsigned master, const struct message *message)
{
    const struct model_call *call = &message->call;
    bool breaks = call->kind == REQUEST_RELEASE && call->ttl_ms && call->count == 1 &&
                  message->answer.answer == ANSWER_YES;
    for (unsigned c = 0; breaks && is_calm(w) && c < w->clients; c++)
        for (struct user_heeder *it = w->shells[c]->heeders; it; it = it->next)
            if (it->token == call->value && it->name == call->names[0])
                note_break(it, master);
}

static const struct user_lease *find_lease(const struct user_heeder *it)
{
    const struct user_lease *lease = it->shell->all;
    while (lease && lease->number != it->lease)
        lease = lease->next_all;
    return lease;
}

/* Of an upgrade the answers do not tell; and for a lie the lease may have been renewed just now. */
void breaks_due(struct user_heeder *it)
{
    struct world *w = it->shell->world;
    const struct user_lease *lease = find_lease(it);
    if (lease && lease->changes && it->broken.at)
        it->broken.at = w->now;
    usec lied_until = w->tokens[it->token].lied_until;
    usec due = lied_until ? lied_until + 2 * AGAIN_AFTER : 0;
    due = (due > it->broken.at ? due : it->broken.at) + LOST_WITHIN;
    if (!it->broken.at || w->now < due || !lease || lease->let_go || lease->released ||
        lease->known != KNOWN_HELD || !lease->terms.renew || lease->terms.max_hold)
        return;
    world_violated(w, "taken", "lease %u does not hear that masters %#x have had t%u taken away",
                   lease->number, it->broken.on, it->token);
}

/* Nothing but a word lets such a lease renew before a third of its ttl, where nobody upgrades. */
static bool renews_in_turn(const struct user_lease *lease)
{
    const struct lease *core = core_of(lease->handle);
    return lease->known == KNOWN_HELD && !lease->extends && !lease->shell->world->readers &&
           core->risk == RISK_NONE && core->terms.ttl >= 5 * AGAIN_AFTER &&
           core->terms.margin <= core->terms.ttl / 4;
}

/* One of three may be in its turn.  A lease that was just acquired may be confirmed, and heals. */
static void note_renewal(struct user_heeder *it, const struct user_lease *lease)
{
    bool counts = renews_in_turn(lease) && it->shell->world->now > it->began + AGAIN_AFTER;
    usec now = it->shell->client->engine->now, now_or_none = counts ? now : 0;
    if (now_or_none && it->broken.renewed[0] && now < it->broken.renewed[0] + AGAIN_AFTER)
        world_violated(it->shell->world, "taken", "lease %u renews three times in %lld us",
                       lease->number, (long long)(now - it->broken.renewed[0]));
    it->broken.renewed[0] = now_or_none ? it->broken.renewed[1] : 0;
    it->broken.renewed[1] = now_or_none;
}

/* Each handle has its own limit, also that of a former lease with this token. */
void breaks_sent(const struct user_lease *lease, uint32_t round)
{
    struct user_heeder *found = NULL;
    unsigned count = 0;
    for (struct user_heeder *it = lease->shell->heeders; it; it = it->next)
        if (it->token == lease->token) {
            found = it;
            count++;
        }
    if (count != 1 || found->lease != lease->number || found->broken.round == round)
        return;
    found->broken.round = round;
    note_renewal(found, lease);
}

static unsigned count_masters_with(const struct user_lease *lease)
{
    struct world *w = lease->shell->world;
    unsigned count = 0;
    for (unsigned i = 0; i < w->masters; i++) {
        bool has = w->servers[i].up;
        for (unsigned k = 0; k < lease->count; k++)
            has &=
                model_has(&w->servers[i].model, server_wall(w, i), lease->names[k], lease->token);
        count += has;
    }
    return count;
}

void breaks_lost(const struct user_lease *lease)
{
    struct shell *s = lease->shell;
    usec due = lease->end - lease->terms.margin;
    bool is_long =
        core_of(lease->handle)->terms.ttl >= MS(1000); /* or clocks that run apart end it */
    if (!is_calm(s->world) || !is_long || lease->undermined || lease->released || s->close_asked ||
        shell_now(s) >= due - PUNCTUAL)
        return;
    unsigned masters = count_masters_with(lease);
    if (masters >= s->quorum)
        world_violated(s->world, "taken", "lease %u hears LOST, and %u masters have its t%u",
                       lease->number, masters, lease->token);
}
