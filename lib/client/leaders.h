/*
 * leaders.h - what leases announce, for the pump.
 */
#ifndef REDLOCK_CLIENT_LEADERS_H
#define REDLOCK_CLIENT_LEADERS_H

#include "client.h"

/* Ends what the lease announces: it is given back, left or shared now. */
void leaders_end_of(redlock_lease *lease);

#endif
