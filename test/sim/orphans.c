#include "rules.h"

#include "lasting.h"
#include "liar.h"

#define ORPHAN_GRACE MS(2500) /* in peace, to reconnect and to pay what is owed */

static bool is_live(const struct world *w, const struct token *token)
{
    const struct user_lease *lease = token->holder ? token->holder : tokens_owner(w, token);
    if (!lease)
        return false;
    if (lease->let_go)
        return true; /* not carried out yet */
    const struct lease *core = core_of(lease->handle);
    bool is_lost = core->state == LEASE_LOST;
    if (lease->terms.permits && !is_lost && !tokens_has_in_hand(lease, token))
        return false; /* of a place that was given back, or of another slot that it tried */
    return lease_is_acquiring(core) || lease_is_waiting(core) || lease_is_held(core) ||
           (is_lost && lease->stop_by > shell_now(lease->shell));
}

static bool refuses(const struct shell *s, unsigned master)
{
    const struct master *it = shell_master(s, master);
    return it && it->refused;
}

/* Another client of its process may have asked for it there: see movers.h. */
static bool is_of_another_list(const struct token *token, unsigned master)
{
    return token->kind && !(token->kind->has >> master & 1);
}

static void look_at(struct world *w, unsigned master, unsigned name, uint32_t number)
{
    struct token *token = &w->tokens[number];
    bool out_of_reach = token->client < w->clients && (!lasting_reaches(w, token->client, master) ||
                                                       refuses(w->shells[token->client], master));
    if (!number || token->excused || out_of_reach || is_of_another_list(token, master) ||
        is_liar(w, master) || is_live(w, token))
        return;
    if (!token->dead_since)
        token->dead_since = w->now;
    usec since = token->dead_since > w->peace_at ? token->dead_since : w->peace_at;
    if (w->now - since > ORPHAN_GRACE)
        world_violated(w, "orphan", "master %u still has %c = t%u, given up %lld us ago",
                       master + 1, 'a' + name, number, (long long)(w->now - token->dead_since));
}

void orphans_look(struct world *w, unsigned master, unsigned name)
{
    struct model_master *model = &w->servers[master].model;
    usec wall = server_wall(w, master);
    uint32_t number = model_value(model, wall, name);
    for (unsigned i = 0; number == MODEL_MARK && i < model->data.readers_used; i++) {
        const struct model_reader *reader = &model->data.readers[i];
        if (reader->name == name && model_has(model, wall, name, reader->value))
            look_at(w, master, name, reader->value);
    }
    if (number != MODEL_MARK)
        look_at(w, master, name, number);
}

void orphans_excuse_holders(struct world *w, const struct model_data *data)
{
    for (unsigned name = 0; name < MODEL_KEYS; name++)
        if (data->keys[name].value != MODEL_MARK)
            w->tokens[data->keys[name].value].excused = true;
    for (unsigned i = 0; i < data->readers_used; i++)
        w->tokens[data->readers[i].value].excused = true;
}
