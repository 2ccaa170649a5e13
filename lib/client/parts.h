/*
 * parts.h - makes and frees the parts of a client: links, notification connections, core, and
 * leases.
 */
#ifndef REDLOCK_CLIENT_PARTS_H
#define REDLOCK_CLIENT_PARTS_H

#include "client.h"

/* REDLOCK_OK or REDLOCK_E_MEMORY; in either case parts_free() frees the parts that there are. */
redlock_code parts_make(redlock *client);
/* Frees the parts, and the client with them. */
void parts_free(redlock *client);

#endif
