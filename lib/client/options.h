/*
 * options.h - reads and checks what the user configured, with its defaults.
 */
#ifndef REDLOCK_CLIENT_OPTIONS_H
#define REDLOCK_CLIENT_OPTIONS_H

#include "client.h"

/* Fills the client from the options; a sentence in `why` on failure. */
redlock_code options_read(redlock *client, const redlock_options *options, char *why,
                          size_t why_size);
/* Reads the terms of a lease, or checks a ttl alone; a sentence in client->error on failure. */
redlock_code terms_read(redlock *client, const redlock_lease_options *options, struct terms *terms);
redlock_code ttl_check(redlock *client, int64_t ttl_ms, usec margin);
/* NEVER if `ms` is too large for a usec, or nearly so. */
usec in_usec(int64_t ms);

#endif
