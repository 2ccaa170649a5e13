/*
 * accounts.h - what must be true of the numbers of requests and leases; the hooks of invariants.h
 * call these.
 */
#ifndef SIM_ACCOUNTS_H
#define SIM_ACCOUNTS_H

#include "client_shell.h"

/* A client sends a request. */
void accounts_sent(struct shell *shell, unsigned master, enum request_kind kind);
/* The pump has come to rest: does the core count what is in flight, and the leases? */
void accounts_idle(struct shell *shell);

#endif
