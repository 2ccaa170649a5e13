#include "list_text.h"

#include <string.h>

#define BETWEEN ", \t\n\v\f\r" /* as the library reads a list */

void list_put_nodes(struct text *out, redlock *client)
{
    redlock_node node = {.size = sizeof node};
    for (unsigned i = 0; i < redlock_node_count(client); i++)
        if (redlock_node_get(client, i, &node) == REDLOCK_OK)
            text_format(out, "%s%s", i ? "," : "", node.node);
}

bool list_take_entry(const char **entries, struct client_text *entry)
{
    *entries += strspn(*entries, BETWEEN);
    *entry = (struct client_text){*entries, strcspn(*entries, BETWEEN)};
    *entries += entry->length;
    return entry->length > 0;
}

const char *list_entries(const struct options *options, char **file)
{
    char why[500];
    *file = options->nodes_file ? redlock_list_read(options->nodes_file, why, sizeof why) : NULL;
    return *file ? *file : options->nodes;
}
