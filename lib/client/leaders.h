/*
 * leaders.h - what a lease announces, for the call that moves it.
 */
#ifndef REDLOCK_CLIENT_LEADERS_H
#define REDLOCK_CLIENT_LEADERS_H

#include "client.h"

/* The client of the shadow can go on with what the lease announces, if it does.  False when memory
 * is out. */
bool leaders_prepare(redlock_lease *lease, const redlock_lease *shadow);

#endif
