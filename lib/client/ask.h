/*
 * ask.h - queues a call about a lease for the pump, and keeps the loop alive for it.
 */
#ifndef REDLOCK_CLIENT_ASK_H
#define REDLOCK_CLIENT_ASK_H

#include "client.h"

void client_ask(redlock_lease *lease, enum operation operation);

#endif
