/*
 * view.h - a lease as the shell has it: made, looked at, dropped.  All that happens in between goes
 * through engine_step(); lease.h has the struct.
 */
#ifndef REDLOCK_CORE_LEASE_VIEW_H
#define REDLOCK_CORE_LEASE_VIEW_H

#include "ground/names.h"

struct engine;

/* The bytes that the shell finds for a lease with these terms, aligned as a usec; and those of a
 * lease that was made, even if it was dropped since. */
size_t lease_size(const struct terms *terms);
size_t lease_size_of(const struct lease *lease);

/* The answer of one master to a lease's question. */
struct vote_view {
    enum vote vote;
    int64_t remaining_ms; /* VOTE_HELD, VOTE_ABSTAINS: -1 unknown, -2 never */
    const char *text;     /* VOTE_HELD: the holder's token; else why; "": not known */
};

/* Makes a lease ready for EVENT_ACQUIRE, ATTACH, RELEASE (by token) or INSPECT.  It shares `names`.
 * `token` is that of a lease acquired elsewhere, or NULL.  False when memory is out; then nothing
 * has to be undone. */
bool lease_init(struct engine *engine, struct lease *lease, struct names *names,
                const struct terms *terms, const char *token, size_t token_length);
/* The names of a lease on one slot of the one name in `names`; NULL when memory is out. */
struct names *lease_names_of_slot(const struct memory *memory, const struct names *names,
                                  unsigned slot);
/* Frees what the lease has in the core. */
void lease_drop(struct engine *engine, struct lease *lease);

/* The names that it asks for or holds; NULL: it is over. */
struct names *lease_names(const struct lease *lease);
/* It is held, was never changed, and may be renewed now. */
bool lease_may_move(const struct lease *lease, usec now);
/* The lease is held, and is to move: the terms of its shadow.  From now on it is released as one
 * that others may have asked to renew. */
struct terms lease_begin_move(const struct engine *engine, struct lease *lease);
/* It waits for its turn, or for its next try, as its user knows. */
bool lease_may_go_over(const struct lease *lease);
/* The terms and names of a lease that waits, as its user asked for them. */
struct terms lease_terms_of_waiter(const struct lease *lease);
/* NULL when memory is out. */
struct names *lease_names_of_waiter(const struct memory *memory, const struct lease *lease);
/* Until when a lease is valid that is held, and told so; else 0. */
usec lease_valid_until(const struct lease *lease);
usec lease_margin(const struct lease *lease);
/* The fencing token that came with ACQUIRED; 0: none. */
usec lease_fence(const struct lease *lease);
/* The slot of a lease that is held, and told so, with one of the permits of a name; else -1. */
int lease_slot(const struct lease *lease);
/* An extend was asked for, and its outcome is not reported yet. */
bool lease_is_extending(const struct lease *lease);
/* A downgrade or an upgrade was asked for, and its outcome is not reported yet. */
bool lease_is_changing(const struct lease *lease);
/* It has one of its names shared, as far as its user knows; or all of them. */
bool lease_is_shared(const struct lease *lease);
bool lease_is_all_shared(const struct lease *lease);
/* A downgrade or an upgrade was asked for, at any time. */
bool lease_was_changed(const struct lease *lease);
/* Its token was given: what its former holder asked for may be on its way to the masters. */
bool lease_is_foreign(const struct lease *lease);
/* Writes the token of its claim; "" if there is none, or none is drawn yet. */
void lease_token(const struct engine *engine, const struct lease *lease, char token[TOKEN_MAX + 1]);

/* The user leaves the lease to its ttl: EVENT_DETACH follows, perhaps much later.  Another process
 * may have taken the lease over by then, or given it back, so it is released no more, lost or not,
 * and no master is asked about it.  True if a request of it is unanswered: it may be unwritten. */
bool lease_leave(struct lease *lease);

/* The votes of all masters in the question that is open, or in the last one; nothing if the lease
 * is merely held, or over.  A master that abstains is shown as such, whatever it said of a name
 * that it may have forgotten.  They stay until the next step. */
void lease_votes(const struct engine *engine, const struct lease *lease, struct vote_view *votes);
/* The lease that awaits this answer to its inspection; NULL: none. */
struct lease *lease_inspecting(const struct tag *tag);
/* For a waiter: the number of waiters ahead of it, here and on the masters, and the time until the
 * holder's lease expires unless renewed (NEVER: unknown).  False if it is not known. */
bool place_look(const struct engine *engine, const struct lease *lease, unsigned *position,
                usec *expires);

#endif
