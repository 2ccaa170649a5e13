/*
 * list_text.h - lists of masters as texts: as masters tell them, and as clients are opened with
 * them.
 */
#ifndef REDLOCK_TOOLS_LIST_TEXT_H
#define REDLOCK_TOOLS_LIST_TEXT_H

#include "client/lists_in_use.h"
#include "options.h"
#include "text.h"

/* The entries of the options' list, which may have passwords.  The caller frees `file` with
 * redlock_list_free().  NULL: the list cannot be read. */
const char *list_entries(const struct options *options, char **file);
/* Takes the first one off; false: there is none. */
bool list_take_entry(const char **entries, struct client_text *entry);

/* The masters of a client, with commas between them. */
void list_put_nodes(struct text *out, redlock *client);

#endif
