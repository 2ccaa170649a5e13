/*
 * change_watches.c - the lists that `redlock masters change` looks at.
 */
#include "change_parts.h"

void change_drop(struct change *change, struct list_watch *watch)
{
    if (watch->client == change->session.client)
        watch->client = NULL;
    list_watch_free(watch);
}

bool change_watch(struct change *change, struct list_watch *watch, unsigned list, bool says)
{
    change_drop(change, watch);
    plan_put_entries(&watch->entries, &change->plan, list);
    if (list + 1 < change->plan.chain.count)
        plan_put_told(&watch->successor, &change->plan, list + 1);
    if (list_watch_open(watch, change->session.loop, &change->plan.options, says))
        return true;
    session_end(&change->session, EXIT_INTERNAL, 0);
    return false;
}

void change_look_anew(struct change *change)
{
    if (change_watch(change, &change->now, change->step - 1, false))
        change_watch(change, &change->next, change->step, false);
}
