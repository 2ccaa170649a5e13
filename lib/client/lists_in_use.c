#include "lists_in_use.h"

#include "client.h"

_Static_assert(LISTS_MOST == LISTS_IN_USE_MOST, "all lists of the core have room");

static struct client_text text_of(struct slice slice)
{
    return (struct client_text){slice.bytes, slice.length};
}

static void fill_list(struct list_used *to, const struct list_in_use *from)
{
    const struct told_list *list = &from->list;
    *to = (struct list_used){.masters = list->masters,
                             .quorum = list->quorum,
                             .spare = list->spare,
                             .clients = list->clients,
                             .max_ttl_ms = list->max_ttl_ms,
                             .first_ms = list->first_ago / 1000,
                             .last_ms = list->last_ago / 1000,
                             .label = text_of(list->label),
                             .told_by = from->told,
                             .unsafe = from->unsafe,
                             .is_ours = list->place == '='};
    for (unsigned i = 0; i < list->masters; i++)
        to->nodes[i] = text_of(list->processes[i].address);
}

void redlock_lists_used(const redlock *client, struct lists_used *used)
{
    struct list_in_use lists[LISTS_IN_USE_MOST];
    *used = (struct lists_used){.fleet = client->config.fleet,
                                .count = engine_lists(client->engine, lists)};
    for (unsigned i = 0; i < used->count; i++)
        fill_list(&used->lists[i], &lists[i]);
    for (unsigned i = 0; i < client->masters; i++) {
        struct master_view master = engine_master(client->engine, i);
        used->asked |= (unsigned)master.was_asked << i;
        used->tell |= (unsigned)master.remembers << i;
    }
}
