#include "lists_in_use.h"

#include <string.h>

#include "client.h"
#include "nodes_file.h"

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
    for (unsigned i = 0; i < list->masters; i++) {
        to->nodes[i] = text_of(list->processes[i].address);
        to->run_ids[i] = text_of(list->processes[i].run_id);
    }
}

static bool has_node(const struct list_used *list, const char *node)
{
    bool has = false;
    size_t length = strlen(node);
    for (unsigned i = 0; i < list->masters; i++)
        has |= list->nodes[i].length == length && memcmp(list->nodes[i].bytes, node, length) == 0;
    return has;
}

static bool has_masters_of(const struct list_used *list, const redlock *client)
{
    bool has = list->masters == client->masters;
    for (unsigned i = 0; has && i < client->masters; i++)
        has = has_node(list, client->addresses[i].shown);
    return has;
}

void redlock_lists_used(const redlock *client, struct lists_used *used)
{
    struct list_in_use lists[LISTS_IN_USE_MOST];
    *used = (struct lists_used){.fleet = client->config.fleet,
                                .count = engine_lists(client->engine, lists)};
    for (unsigned i = 0; i < used->count; i++) {
        fill_list(&used->lists[i], &lists[i]);
        used->lists[i].has_our_masters = has_masters_of(&used->lists[i], client);
    }
    for (unsigned i = 0; i < client->masters; i++) {
        struct master_view master = engine_master(client->engine, i);
        used->asked |= (unsigned)master.was_asked << i;
        used->tell |= (unsigned)master.remembers << i;
        used->over |= (unsigned)master.ended_ours << i;
        used->changes[i] = master.changes;
        used->successors[i] = text_of(master.successor);
    }
}

void redlock_list_end(redlock *client, const char *successor, unsigned masters)
{
    engine_end_list(client->engine, successor, (uint16_t)masters);
}

void redlock_list_revive(redlock *client, const int64_t *changes)
{
    engine_revive_list(client->engine, changes);
}

char *redlock_list_read(const char *path, char *why, size_t why_size)
{
    return nodes_file_read(path, false, why, why_size);
}

void redlock_list_free(char *list)
{
    nodes_file_free(list);
}

/* ---- Comparing ------------------------------------------------------------------ */

bool redlock_list_take_node(struct client_text *list, struct client_text *node)
{
    if (!list->length)
        return false;
    const char *comma = memchr(list->bytes, ',', list->length);
    *node = (struct client_text){list->bytes, comma ? (size_t)(comma - list->bytes) : list->length};
    list->bytes += node->length + (comma != NULL);
    list->length -= node->length + (comma != NULL);
    return true;
}

static bool are_same_nodes(struct client_text one, struct client_text other)
{
    return one.length == other.length && memcmp(one.bytes, other.bytes, one.length) == 0;
}

bool redlock_list_has_node(struct client_text list, struct client_text node)
{
    for (struct client_text its; redlock_list_take_node(&list, &its);)
        if (are_same_nodes(its, node))
            return true;
    return false;
}

static bool has_all(struct client_text list, struct client_text nodes)
{
    for (struct client_text node; redlock_list_take_node(&nodes, &node);)
        if (!redlock_list_has_node(list, node))
            return false;
    return true;
}

bool redlock_lists_are_same(struct client_text one, struct client_text other)
{
    return one.length == other.length && has_all(one, other) && has_all(other, one);
}
