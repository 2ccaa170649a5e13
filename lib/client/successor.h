/*
 * successor.h - the list in place of a client's own, as its masters tell it.
 */
#ifndef REDLOCK_CLIENT_SUCCESSOR_H
#define REDLOCK_CLIENT_SUCCESSOR_H

#include "client.h"

/* The master has told whether our list is over: on_node is due if the list in place of it changed.
 */
void successor_note(redlock *client, unsigned master);
/* As a quorum tells it; empty: none does. */
struct client_text successor_told(const redlock *client);
/* A master of that list is without TLS, and none of ours is, so the client does not follow. */
bool successor_gives_tls_up(const redlock *client);
/* Wipes what redlock_successor() has returned. */
void successor_forget(redlock *client);

#endif
