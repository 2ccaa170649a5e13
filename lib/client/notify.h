/*
 * notify.h - notification connections: the pushes of masters on this client's channel.
 */
#ifndef REDLOCK_CLIENT_NOTIFY_H
#define REDLOCK_CLIENT_NOTIFY_H

#include "client.h"

/* They carry out EFFECT_SUBSCRIBE (connect and subscribe), EFFECT_PROBE (ask for a sign of life)
 * and EFFECT_UNSUBSCRIBE (end the connection). */
void notify_subscribe(redlock *client, unsigned master);
void notify_probe(redlock *client, unsigned master);
void notify_end(redlock *client, unsigned master);

/* A QUEUE request was sent to the master, which may push up to `messages` for it. */
void notify_expect(redlock *client, unsigned master, unsigned messages);

/* Delivers the pushes that have already come. */
void notify_read(redlock *client);
/* Delivers the events that calls have caused; true if there were any. */
bool notify_pump(redlock *client);
/* Writes what is queued; true if notify_pump() then has something to deliver. */
bool notify_flush(redlock *client);
void notify_free(redlock *client);

#endif
