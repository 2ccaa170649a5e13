#include "rules.h"

#include "foreign.h"
#include "lists.h"
#include "wrong.h"

bool exclusion_counts_holder(const struct user_lease *lease)
{
    if (lease->undermined)
        return false;
    if (lease->known == KNOWN_HELD)
        return user_lease_is_held(lease);
    return lease->known == KNOWN_LOST && !lease->released && !lease->shell->client->closing &&
           !lease->let_go && lease->stop_by > shell_now(lease->shell);
}

bool exclude_each_other(const struct user_lease *a, const struct user_lease *b)
{
    for (unsigned i = 0; i < a->count; i++)
        for (unsigned j = 0; j < b->count; j++)
            if (a->names[i] == b->names[j] && !(a->shared >> i & b->shared >> j & 1))
                return true;
    return false;
}

static void one_holder(const struct user_lease *new)
{
    struct world *w = new->shell->world;
    if (w->faults & 1U << FAULT_EVICT || new->undermined)
        return;
    for (unsigned c = 0; c < w->clients; c++)
        for (const struct user_lease *old = w->shells[c]->all; old; old = old->next_all)
            if (old != new && old->token != new->token && exclusion_counts_holder(old) &&
                exclude_each_other(old, new) && lists_exclude(old, new) &&
                wrong_pair_tolerated(w, old->shell->quorum, new->shell->quorum))
                world_violated(
                    w, "exclusion", "client %u holds lease %u (t%u), and client %u lease %u (t%u)",
                    CLIENT(old), old->number, old->token, CLIENT(new), new->number, new->token);
}

/* Other libraries do not abstain with a restarted master, so only where nothing is
 * ever forgotten can they be expected to exclude and to be excluded. */
static bool foreigners_matter(const struct world *w)
{
    uint32_t forgetful = 1U << FAULT_CRASH_EMPTY | 1U << FAULT_CRASH_OLD | 1U << FAULT_EVICT;
    return !(w->faults & forgetful);
}

static void no_foreign_holder(const struct user_lease *new)
{
    struct world *w = new->shell->world;
    bool matters = foreigners_matter(w) && !new->undermined;
    for (unsigned f = 0; f < w->foreigners && matters; f++)
        for (unsigned i = 0; i < new->count; i++)
            if (foreigner_holds(w, f) && w->foreign[f]->name == new->names[i])
                world_violated(w, "exclusion",
                               "another library's client (t%u) and client %u hold %c",
                               w->foreign[f]->token, CLIENT(new), 'a' + new->names[i]);
}

void exclusion_acquired(const struct user_lease *lease)
{
    one_holder(lease);
    no_foreign_holder(lease);
}

void exclusion_foreigner(struct world *w, unsigned number)
{
    const struct foreigner *it = w->foreign[number];
    if (!foreigners_matter(w))
        return;
    for (unsigned c = 0; c < w->clients; c++)
        for (const struct user_lease *lease = w->shells[c]->all; lease; lease = lease->next_all)
            for (unsigned i = 0; i < lease->count; i++)
                if (lease->names[i] == it->name && exclusion_counts_holder(lease))
                    world_violated(w, "exclusion",
                                   "client %u and another library's client (t%u) hold %c",
                                   CLIENT(lease), it->token, 'a' + it->name);
    for (unsigned f = 0; f < w->foreigners; f++)
        if (f != number && foreigner_holds(w, f) && w->foreign[f]->name == it->name)
            world_violated(w, "model", "two clients of another library hold %c", 'a' + it->name);
}
