/*
 * logins.h - a login that a master denied is read anew, from the file with the list.
 */
#ifndef REDLOCK_CLIENT_LOGINS_H
#define REDLOCK_CLIENT_LOGINS_H

#include "client.h"

/* To be called before the link connects.  Where the master denied the login of the last connection,
 * the one that the file has for this master by now is taken; of the file nothing else is. */
void logins_renew(redlock *client, unsigned master, const struct link *link);

#endif
