/*
 * rules.h - what must be true, a file for each idea: the hooks of invariants.h call these.
 */
#ifndef SIM_RULES_H
#define SIM_RULES_H

#include "user_lease.h"

/* ---- exclusion.c: holders: one of each name at a time, of other libraries too ---- */

/* ACQUIRED comes: is there another holder? */
void exclusion_acquired(const struct user_lease *lease);
/* Likewise, of a client of the published algorithm that has just got its lock. */
void exclusion_foreigner(struct world *world, unsigned foreigner);

/* By its own arithmetic, on its own clock. */
bool exclusion_counts_holder(const struct user_lease *lease);
/* They want one name both, and not both as readers. */
bool exclude_each_other(const struct user_lease *a, const struct user_lease *b);

/* ---- validity.c: the time for which a lease is held ---- */

/* The core was stepped: when does the lease end now? */
void validity_looked_at(struct user_lease *lease, usec now);
/* These outcomes come. */
void validity_acquired(struct user_lease *lease);
void validity_moved(struct user_lease *lease);
/* A master keeps its names for it, but not alone any more; or all is exclusive now. */
void validity_shared(struct user_lease *lease);
void validity_extended(struct user_lease *lease);
void validity_lost(struct user_lease *lease, const redlock_event *event);

/* ---- outcomes.c: what a user hears of a lease: each once, in order, and in time ------ */

/* May this outcome come now? */
void outcomes_told(const struct user_lease *lease, const redlock_event *event);
/* From now on the user knows it. */
void outcomes_remember(struct user_lease *lease, const redlock_event *event);
/* Now and then: is an outcome overdue? */
void outcomes_due(const struct user_lease *lease);

/* ---- grants.c: what masters grant, renew and heal: when they may, and how long it is kept ---- */

/* A master has carried out a request about a token. */
void grants_executed(struct world *world, unsigned master, const struct message *message);

/* ---- period.c: names of leases with at_least, which nobody else has for that time ---- */

/* ACQUIRED or CHANGED comes: the names may be kept for a former holder. */
void period_begins(struct user_lease *lease);
void period_is_kept(const struct user_lease *lease);
/* RELEASED or LOST comes, or the lease is freed: the masters keep what they have. */
void period_released(struct user_lease *lease, const redlock_event *event);
void period_let_go(struct user_lease *lease);

/* ---- accounts.c: the numbers of requests and leases ---- */

/* A client sends a request. */
void accounts_sent(struct shell *shell, unsigned master, enum request_kind kind);
/* The pump has come to rest: does the core count what is in flight, and the leases? */
void accounts_idle(struct shell *shell);

/* ---- order.c: waiting in turn ---- */

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

/* ---- fences.c: fencing tokens ---- */

/* A client sends a fenced acquire. */
void fences_sent(struct world *world, uint32_t token);
/* A master gives the token what it did not have, with this number. */
void fences_granted(struct world *world, unsigned master, uint32_t token, usec clock);
/* A grant is prolonged before ACQUIRED comes. */
void fences_confirmed(struct world *world, uint32_t token);
/* A master has carried out a request about a token. */
void fences_executed(struct world *world, unsigned master, const struct message *message);
/* ACQUIRED comes: its fence is new, stored on a quorum, and above those before it. */
void fences_acquired(struct user_lease *lease, const redlock_event *event);
/* Likewise with CHANGED: it is a writer's. */
void fences_upgraded(struct user_lease *lease, const redlock_event *event);
/* Any later outcome: its fence is still the same. */
void fences_told(struct user_lease *lease, const redlock_event *event);

/* The master's logical clock is further ahead of the walls than any honest one. */
bool fences_clock_is_ahead(const struct world *world, unsigned master);

/* ---- tokens.c: tokens: each belongs to one round of one lease, and is given back before the next
 * round ---- */

/* A client asks nothing about, and writes nothing of, the claim of what it has detached. */
void tokens_not_left(struct shell *shell, uint32_t number, const void *claim, const char *does);
/* A client sends a request about a token. */
void tokens_sent(struct shell *shell, unsigned master, uint32_t token,
                 const struct request *request);
/* It is about to take in the answer. */
void tokens_heard(struct shell *shell, unsigned master, const struct message *message);
/* ACQUIRED comes: with which token? */
void tokens_acquired(struct user_lease *lease);
/* Users may give one token to several processes: one of them gives it back, or shares its names,
 * which ends what the others have. */
void tokens_undermine(struct world *world, uint32_t token, const struct user_lease *by);
/* RELEASED comes, with OK. */
void tokens_released(const struct user_lease *lease);
/* The handle is about to be freed. */
void tokens_freed(struct user_lease *lease);
/* A client's process has ended. */
void tokens_ended(struct shell *shell);

/* The lease that has this token in hand; NULL if there is none. */
const struct user_lease *tokens_owner(const struct world *world, const struct token *token);
/* One that waits for a permit may have several in hand. */
bool tokens_has_in_hand(const struct user_lease *lease, const struct token *token);

static inline struct token *token_of(const struct user_lease *lease)
{
    return &lease->shell->world->tokens[lease->token];
}

static inline bool takes(enum request_kind kind)
{
    return kind == REQUEST_ACQUIRE || kind == REQUEST_GRANT;
}

/* ---- orphans.c: keys: in peace none outlives what it stood for ---- */

void orphans_look(struct world *world, unsigned master, unsigned name);
/* The holder of a name in this data may keep it for longer, and no client can know of that. */
void orphans_excuse_holders(struct world *world, const struct model_data *data);

/* ---- permits.c: leases that are one of the permits of a name ---- */

/* A master has carried out a request. */
void permits_executed(struct world *world, unsigned master, const struct message *message);
/* ACQUIRED came: from now on the lease is about its slot. */
void permits_acquired(struct user_lease *lease);

#endif
