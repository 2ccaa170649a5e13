/*
 * order.h - what must be true of waiting in turn; the hooks of invariants.h call these, but for
 * order_answered().
 */
#ifndef SIM_ORDER_H
#define SIM_ORDER_H

#include "client_shell.h"

/* A client asks for the names, or is enqueued for them. */
void order_sent(struct user_lease *lease, uint32_t token, usec ticket);
/* A master has answered, whether or not it is a liar: a ticket may be drawn from what it told. */
void order_answered(struct world *world, unsigned master, const struct message *message);
/* A master has carried out a request: checks its queue and its handovers. */
void order_executed(struct world *world, unsigned master, const struct message *message);

/* ACQUIRED: checks how long others have been waiting for the names. */
void order_told(const struct user_lease *told);
/* `told` has what `waits` waits for.  If it asked long after that was enqueued on a quorum, leases
 * of its client pass the other one, which they may for no longer than `longest`. */
void order_passes(const struct user_lease *told, struct user_lease *waits, usec longest);

#endif
