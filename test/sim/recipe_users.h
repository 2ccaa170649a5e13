/*
 * recipe_users.h - users of the recipes beside their leases, and rules of what they hear.
 */
#ifndef SIM_RECIPE_USERS_H
#define SIM_RECIPE_USERS_H

#include "user_lease.h"

/* ---- leaders.c: leaders and observers ---- */

/* A user hears of a lease, and may announce. */
void leaders_user_told(struct user_lease *lease, const redlock_event *event);
/* A user may begin to observe, or end that. */
void leaders_user_acts(struct shell *shell);
/* A lease is to have a fence, so that it can announce. */
bool leaders_want(const struct shell *shell);
/* In peace: ends observers that have heard the end. */
void leaders_tidy_up(struct shell *shell);
/* Somebody of the client still observes. */
bool leaders_observe(const struct shell *shell);
/* The client is freed, and with it all its observers. */
void leaders_drop(struct shell *shell);

void leaders_announced(struct user_lease *lease);
/* MOVED is reported, and the lease is of its new client. */
void leaders_moved(const struct user_lease *lease);
void leaders_sent(struct shell *shell, const struct message *message,
                  const struct request *request);
void leaders_executed(struct world *world, unsigned master, const struct message *message);

/* ---- wishes.c: askers, and holders that heed ---- */

/* The name of the wishes for a name, in runs where nobody hoards. */
static inline unsigned wishes_of(unsigned name)
{
    return MODEL_NAMES + name;
}
static inline bool wishes_are(unsigned name)
{
    return name >= wishes_of(0) && name < wishes_of(MODEL_NAMES);
}
/* That of breaks, if the holder heeds no wishes. */
static inline unsigned takens_of(unsigned name)
{
    return wishes_of(MODEL_NAMES) + name;
}
static inline bool takens_are(unsigned name)
{
    return name >= takens_of(0) && name < takens_of(MODEL_NAMES);
}

void wishes_draw(struct world *world);
/* A user hears of a lease: it may begin to heed, or end that. */
void wishes_user_told(struct user_lease *lease, const redlock_event *event);
/* A user may ask, or end that. */
void wishes_user_acts(struct shell *shell);
/* In peace: heeders end with their leases, and askers that would ask for ever. */
void wishes_tidy_up(struct shell *shell);
/* Somebody of the client heeds, or has not heard how it went. */
bool wishes_wait(const struct shell *shell);
/* The client is freed, and with it all its handles. */
void wishes_drop(struct shell *shell);

/* ---- wishes_rules.c ---- */

void wishes_sent(struct shell *shell, const struct message *message);
void wishes_executed(struct world *world, unsigned master, const struct message *message);
/* A client takes in a push. */
void wishes_pushed(const struct shell *shell, unsigned master, const struct heard *heard);
/* This push gets lost. */
bool wishes_lose(struct world *world, const struct model_push *push);
/* Now and then: is a wish overdue? */
void wishes_due(struct world *world);

/* ---- breaks_rules.c ---- */

void breaks_executed(struct world *world, unsigned master, const struct message *message);
/* A client sends a renewal, or a part of one. */
void breaks_sent(const struct user_lease *lease, uint32_t round);
/* LOST comes. */
void breaks_lost(const struct user_lease *lease);

/* ---- works.c: work that is done once ---- */

/* The name of the latch of a name's work; at most half of the names are those of leases. */
#define WORK_KEY  "k"
#define WORK_NAME " once " WORK_KEY /* behind the name of a lease */
static inline unsigned works_of(unsigned name)
{
    return MODEL_NAMES / 2 + name;
}
static inline bool works_are(unsigned name)
{
    return name >= works_of(0) && name < MODEL_NAMES;
}

/* A user hears of a lease, and may look whether the work was done. */
void works_user_told(struct user_lease *lease, const redlock_event *event);
/* A user has done its work by now, or fails. */
void works_user_acts(struct shell *shell);
/* The lease is about to be let go, or all of the client are. */
void works_end(const struct user_lease *lease);
void works_drop(struct shell *shell);
void works_sent(struct world *world, const struct message *message);

/* ---- barriers.c: parties that meet ---- */

/* A client tells a master that a barrier was passed: it was decided by then. */
void barriers_decided(struct world *world, int64_t generation);

/* A user may arrive at a barrier, or leave one. */
void barriers_user_acts(struct shell *shell);
/* In peace: parties that still wait leave. */
void barriers_tidy_up(struct shell *shell);
/* Somebody of the client has not heard how it went. */
bool barriers_wait(const struct shell *shell);
/* The client is freed, and with it all its parties. */
void barriers_drop(struct shell *shell);

/* ---- latches.c: makers of latches, arrivals and waiters ---- */

/* A master has put the latch where it had none. */
void latches_put(struct world *world, uint32_t id, unsigned name);
/* A user may do something about a latch. */
void latches_user_acts(struct shell *shell);
/* In peace: clients that still wait hear the end. */
void latches_tidy_up(struct shell *shell);
/* Somebody of the client has not heard how it went. */
bool latches_wait(const struct shell *shell);
/* The client is freed, and with it all its calls. */
void latches_drop(struct shell *shell);

#endif
