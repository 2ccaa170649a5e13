/*
 * tokens.h - what must be true of tokens: each belongs to one round of one lease, and is given back
 * before the next round; the hooks of invariants.h call these.
 */
#ifndef SIM_TOKENS_H
#define SIM_TOKENS_H

#include "user_lease.h"

/* A client asks nothing about, and writes nothing of, the claim of what it has detached. */
void tokens_not_left(struct shell *shell, uint32_t number, const void *claim, const char *does);
/* A client sends a request about a token. */
void tokens_sent(struct shell *shell, unsigned master, uint32_t token,
                 const struct request *request);
/* It is about to take in the answer. */
void tokens_heard(struct shell *shell, unsigned master, const struct message *message);
/* ACQUIRED is told: with which token? */
void tokens_acquired(struct user_lease *lease);
/* Users may give one token to several processes: one of them gives it back, or shares its names,
 * which ends what the others have. */
void tokens_undermine(struct world *world, uint32_t token, const struct user_lease *by);
/* RELEASED is told, with OK. */
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

#endif
