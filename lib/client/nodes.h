/*
 * nodes.h - the masters, as the user sees them.
 */
#ifndef REDLOCK_CLIENT_NODES_H
#define REDLOCK_CLIENT_NODES_H

#include "client.h"

void node_fill(const redlock *client, unsigned index, redlock_node *node);

/* Logs that a master has changed its state, and notes it for on_node. */
void nodes_note_change(redlock *client, unsigned master);

#endif
