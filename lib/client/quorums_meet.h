/*
 * quorums_meet.h - whether quorums of two clients' lists share more masters than may be wrong.
 */
#ifndef REDLOCK_CLIENT_QUORUMS_MEET_H
#define REDLOCK_CLIENT_QUORUMS_MEET_H

#include "client.h"

/* They do, by the addresses, and by the processes that both clients hear now at two ports of a
 * host.
 */
bool quorums_meet(const redlock *one, const redlock *other);
/* They might, if entries that the other client has not tried yet are ours, but with or without TLS.
 */
bool quorums_may_meet(const redlock *one, const redlock *other);

#endif
