/*
 * pump.h - the pump: user calls → events → step → callbacks.  It knows no event loop, no
 * clock and no socket but by link.h and system.h, which the simulator stands in for.
 *
 * User calls are only queued; the pump carries them out, once per iteration of the loop,
 * just before the loop blocks:
 *
 *     EVENTS  what links still have to deliver → adoptions and queued calls → due
 *             deadlines
 *     TELL    callbacks, one a step
 *             … until nothing is left, or other watchers of the loop must get a turn
 *     FLUSH   one write for each link
 *     REST
 *
 * A reply goes to the core as soon as it is read.  No other file calls the user, but for
 * on_log (report.c).
 */
#ifndef REDLOCK_CLIENT_PUMP_H
#define REDLOCK_CLIENT_PUMP_H

#include "client.h"

/* Does one stage, or calls the user once.  False when the pump rests.  It also rests once the
 * client is stopped: it was freed, or this is a child that a callback forked. */
bool pump_step(redlock *client);

/* Writes at once what the links have to write: as much as the sockets take. */
void pump_write(redlock *client);

/* The time at which the pump must run again, at the latest, unless a link wakes it. */
usec pump_next_wake(const redlock *client);

/* True if something other than idle connections is under way, so that the loop should go on. */
bool pump_holds_loop(const redlock *client);

#endif
