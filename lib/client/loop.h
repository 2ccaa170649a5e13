/*
 * loop.h - the pump on an event loop: when it runs, and when it keeps the loop alive.
 */
#ifndef REDLOCK_CLIENT_LOOP_H
#define REDLOCK_CLIENT_LOOP_H

#include "client.h"

/* A place on libev's loop, or one of our own for NULL, becomes client->io.  REDLOCK_OK, E_MEMORY or
 * E_SYSTEM.  The pump does not run yet. */
redlock_code loop_make(redlock *client, struct ev_loop *ev_loop);
/* From now on the pump runs each time before the loop blocks. */
void loop_start(redlock *client);

/* To be called when a call may have made work or ended it: the loop lives while there is work. */
void loop_hold(redlock *client);

/* Runs the pump, and frees the client if that was asked for meanwhile.  A callback may run the
 * loop, so it may be called from inside the pump: then it does nothing. */
void loop_turn(redlock *client);

/* Frees the client: now, or once the pump or on_log, from inside which this is called, is over. */
void loop_end(redlock *client);

/* Frees a client that was never started. */
void loop_drop(redlock *client);

#endif
