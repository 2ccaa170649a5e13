/*
 * calls.h - what the calls about leases check and make, for the calls about other things.
 */
#ifndef REDLOCK_CLIENT_CALLS_H
#define REDLOCK_CLIENT_CALLS_H

#include "client.h"

/* E_FORKED or E_CLOSED if the client takes no calls any more. */
redlock_code calls_check(redlock *client);
/* Likewise of calls about what its leases do, which a client that is left takes until they go. */
redlock_code calls_check_open(redlock *client);
redlock_code calls_check_token(redlock *client, const char *token);
redlock_code calls_check_name(redlock *client, const redlock_name *name);
/* With the client's prefix; NULL when memory is out. */
struct names *calls_make_name(const redlock *client, const redlock_name *name);
/* A lease that is asked for nothing yet.  Drops `names`, which may be NULL.  NULL when memory is
 * out, which is said. */
redlock_lease *calls_enter_lease(redlock *client, struct names *names, const struct terms *terms,
                                 const char *token);
/* A lease that inspects the names, which are the caller's. */
redlock_code calls_new_look(redlock *client, redlock_lease **out, const redlock_name *names,
                            size_t count, const struct terms *terms);

#endif
