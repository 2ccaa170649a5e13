/*
 * list_text.h - lists of masters as texts: as masters tell them, and as clients are opened with
 * them.
 */
#ifndef REDLOCK_TOOLS_LIST_TEXT_H
#define REDLOCK_TOOLS_LIST_TEXT_H

#include "client/lists_in_use.h"
#include "options.h"
#include "text.h"

bool list_has_node(struct client_text list, const char *node, size_t length);
/* They have the same masters, in any order. */
bool lists_are_same(struct client_text one, struct client_text other);

/* The list in place of a client's own, as at least that many masters tell; NULL: they do not. */
const struct client_text *list_told_by(const struct lists_used *used, unsigned masters);

/* The entries of the options' list, which may have passwords.  The caller frees `file` with
 * redlock_list_free().  NULL: the list cannot be read. */
const char *list_entries(const struct options *options, char **file);
/* Takes the first one off; false: there is none. */
bool list_take_entry(const char **entries, struct client_text *entry);

/* The masters of a client, with commas between them. */
void list_put_nodes(struct text *out, redlock *client);
/* A list that masters tell, which has no logins.  Each entry gets the scheme, the login and the
 * terms of TLS of an entry of the options' list.  That is its own one, or one of the same host, or
 * the first one.  False if that list cannot be read any more. */
bool list_put_entries(struct text *out, const struct options *options, struct client_text list);

#endif
