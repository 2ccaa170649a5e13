/*
 * resolve.h - names to addresses without blocking the loop.
 */
#ifndef REDLOCK_IO_RESOLVE_H
#define REDLOCK_IO_RESOLVE_H

#include <netdb.h>

struct ev_loop;

/* A lookup on its way, in a thread of its own. */
struct resolve;

/* Either a list, to be freed with freeaddrinfo(), or NULL and why not.  Comes from
 * the loop, once; the lookup is over and may not be cancelled any more. */
typedef void resolve_callback(void *owner, struct addrinfo *list, const char *why);

/* The address that `host` spells out in digits, at once; NULL if it is a name. */
struct addrinfo *resolve_numeric(const char *host, int port);

/* Starts to look a name up.  Does not keep the loop alive.  NULL: memory or
 * threads are out. */
struct resolve *resolve_start(struct ev_loop *loop, const char *host, int port,
                              resolve_callback *callback, void *owner);

/* No callback any more.  Does not wait for the thread. */
void resolve_cancel(struct resolve *resolve);

#endif
