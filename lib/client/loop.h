/*
 * loop.h - the pump on libev: when it runs, and when it keeps the loop alive.
 */
#ifndef REDLOCK_CLIENT_LOOP_H
#define REDLOCK_CLIENT_LOOP_H

#include "client.h"

/* NULL when memory is out.  The pump does not run yet. */
struct loop *loop_new(redlock *client, struct ev_loop *ev_loop);
/* From now on the pump runs each time before the loop blocks. */
void loop_start(redlock *client);

/* To be called when a call may have made work or ended it: the loop lives while there is work. */
void loop_hold(redlock *client);

/* Frees the client: now, or once the pump or on_log, from inside which this is called, is over. */
void loop_end(redlock *client);

/* Frees the loop of a client that was never started. */
void loop_free(struct loop *loop);

#endif
