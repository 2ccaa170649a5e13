/*
 * resolve.h - names to addresses without blocking the loop.
 */
#ifndef REDLOCK_IO_RESOLVE_H
#define REDLOCK_IO_RESOLVE_H

#include <netdb.h>

struct io_loop;

/* A lookup on its way, in a thread of its own. */
struct resolve;

/* Gets either a list, to be freed with freeaddrinfo(), or NULL and the reason.  The
 * loop calls it, once; the lookup is over then and may not be cancelled any more. */
typedef void resolve_callback(void *owner, struct addrinfo *list, const char *why);

/* The address that `host` spells out in digits, at once; NULL if `host` is a name. */
struct addrinfo *resolve_numeric(const char *host, int port);

/* Starts to look a name up.  The lookup does not keep the loop alive.  NULL: memory,
 * threads or descriptors are out; errno tells which. */
struct resolve *resolve_start(struct io_loop *loop, const char *host, int port,
                              resolve_callback *callback, void *owner);

/* Ends the lookup without its callback.  Does not wait for the thread. */
void resolve_cancel(struct resolve *resolve);

#endif
