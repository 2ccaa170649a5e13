/*
 * nodes.h - the masters, as the user sees them.
 */
#ifndef REDLOCK_CLIENT_NODES_H
#define REDLOCK_CLIENT_NODES_H

#include "client.h"

/* Why a master is not up, in words; never "". */
const char *node_trouble(const redlock *client, unsigned index, const struct master_view *master);
void node_fill(const redlock *client, unsigned index, redlock_node *node);

redlock_stats stats_collect(const redlock *client);

/* Logs that a master has changed its state, and notes it for on_node. */
void nodes_note_change(redlock *client, unsigned master);
/* Masters have told of the lists of others. */
void nodes_note_lists(redlock *client);

#endif
