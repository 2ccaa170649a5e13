#include "list_text.h"

#include <string.h>

#define BETWEEN ", \t\n\v\f\r" /* as the library reads a list */

/* ---- Comparing ------------------------------------------------------------------ */

/* Takes the first node off the list; false: there is none. */
static bool take_node(struct client_text *list, struct client_text *node)
{
    if (!list->length)
        return false;
    const char *comma = memchr(list->bytes, ',', list->length);
    *node = (struct client_text){list->bytes, comma ? (size_t)(comma - list->bytes) : list->length};
    list->bytes += node->length + (comma != NULL);
    list->length -= node->length + (comma != NULL);
    return true;
}

static bool are_same(struct client_text one, struct client_text other)
{
    return one.length == other.length && memcmp(one.bytes, other.bytes, one.length) == 0;
}

bool list_has_node(struct client_text list, const char *node, size_t length)
{
    for (struct client_text its; take_node(&list, &its);)
        if (are_same(its, (struct client_text){node, length}))
            return true;
    return false;
}

static bool has_all(struct client_text list, struct client_text nodes)
{
    for (struct client_text node; take_node(&nodes, &node);)
        if (!list_has_node(list, node.bytes, node.length))
            return false;
    return true;
}

bool lists_are_same(struct client_text one, struct client_text other)
{
    return one.length == other.length && has_all(one, other) && has_all(other, one);
}

const struct client_text *list_told_by(const struct lists_used *used, unsigned masters)
{
    for (unsigned i = 0; i < REDLOCK_MASTERS_MAX; i++) {
        const struct client_text *list = &used->successors[i];
        unsigned tell = 0;
        for (unsigned j = 0; list->length && j < REDLOCK_MASTERS_MAX; j++)
            tell += used->over >> j & 1 && lists_are_same(used->successors[j], *list);
        if (tell >= masters)
            return list;
    }
    return NULL;
}

void list_put_nodes(struct text *out, redlock *client)
{
    redlock_node node = {.size = sizeof node};
    for (unsigned i = 0; i < redlock_node_count(client); i++)
        if (redlock_node_get(client, i, &node) == REDLOCK_OK)
            text_format(out, "%s%s", i ? "," : "", node.node);
}

/* ---- Logins --------------------------------------------------------------------- */

/* Parts of an entry: "redis://user:password@", "host:port", "/1", "?ca=PATH". */
struct parts {
    struct client_text before, place, query;
};

static struct parts parts_of(const char *entry, size_t length)
{
    const char *end = entry + length, *sign = memmem(entry, length, "://", 3);
    const char *place = sign ? sign + 3 : entry, *at = memrchr(entry, '@', length);
    place = at && at >= place ? at + 1 : place;
    const char *query = memchr(place, '?', (size_t)(end - place));
    query = query ? query : end;
    const char *slash = memchr(place, '/', (size_t)(query - place));
    return (struct parts){{entry, (size_t)(place - entry)},
                          {place, (size_t)((slash ? slash : query) - place)},
                          {query, (size_t)(end - query)}};
}

/* Without its port. */
static size_t host_of(struct client_text place)
{
    const char *colon = memrchr(place.bytes, ':', place.length);
    const char *bracket = memrchr(place.bytes, ']', place.length);
    return colon && colon > bracket ? (size_t)(colon - place.bytes) : place.length;
}

/* How well the entry fits the place: the same one, of the same host, or any. */
static unsigned fit_of(struct client_text entry, struct client_text place)
{
    struct client_text its_host = {entry.bytes, host_of(entry)},
                       host = {place.bytes, host_of(place)};
    return are_same(entry, place) ? 3 : are_same(its_host, host) ? 2 : 1;
}

bool list_take_entry(const char **entries, struct client_text *entry)
{
    *entries += strspn(*entries, BETWEEN);
    *entry = (struct client_text){*entries, strcspn(*entries, BETWEEN)};
    *entries += entry->length;
    return entry->length > 0;
}

/* Of the entry whose terms that place gets. */
static struct parts find_terms(const char *entries, struct client_text place)
{
    struct parts best = {.before.bytes = NULL};
    unsigned fit = 0;
    for (struct client_text entry; list_take_entry(&entries, &entry);) {
        struct parts parts = parts_of(entry.bytes, entry.length);
        if (fit_of(parts.place, place) > fit) {
            fit = fit_of(parts.place, place);
            best = parts;
        }
    }
    return best;
}

static void put_entry(struct text *out, const char *entries, const char *node, size_t length)
{
    static const char unix_path[] = "unix:";
    size_t head = sizeof unix_path - 1;
    if (length > head && memcmp(node, unix_path, head) == 0) {
        text_format(out, "unix://%.*s", (int)(length - head), node + head);
        return;
    }
    struct parts terms = find_terms(entries, parts_of(node, length).place);
    text_format(out, "%.*s%.*s%.*s", (int)terms.before.length, terms.before.bytes, (int)length,
                node, (int)terms.query.length, terms.query.bytes);
}

static void put_all(struct text *out, const char *entries, struct client_text list)
{
    for (struct client_text node; take_node(&list, &node);) {
        text_format(out, "%s", out->length ? "," : "");
        put_entry(out, entries, node.bytes, node.length);
    }
}

const char *list_entries(const struct options *options, char **file)
{
    char why[500];
    *file = options->nodes_file ? redlock_list_read(options->nodes_file, why, sizeof why) : NULL;
    return *file ? *file : options->nodes;
}

bool list_put_entries(struct text *out, const struct options *options, struct client_text list)
{
    char *file;
    const char *entries = list_entries(options, &file);
    if (entries)
        put_all(out, entries, list);
    redlock_list_free(file);
    return entries;
}
