/*
 * lists.h - clients with two lists of masters at once: the profile agree.
 *
 * The servers of the world are a pool; a list has some of them, under one name or another.  The
 * numbers of servers are those of the world, and entries count within a list.  Two lists may meet
 * if any two quorums of theirs share a server, and one more for each vote that both can spare.
 *
 * - agree: clients of lists that may not meet hold no name at once.  Each has had a word of each
 *   common master since before it asked for its lease.  Where only the processes tell the lists
 *   apart, all has been calm for SETTLED by then.
 * - early: no client has a lease before it has heard a master by which it would be refused.  A
 * lease that has waited for as long as for connections is free, and so is one that was handed over.
 * - alarm: nobody is refused whose list may meet the other one.
 */
#ifndef SIM_LISTS_H
#define SIM_LISTS_H

#include "user_lease.h"

/* ---- lists.c: the lists of a run, and which client has which ---- */

/* Draws the lists of a run, if it has several. */
void lists_draw(struct world *world);
/* The numbers that follow from which masters a list has. */
void lists_finish(struct list_kind *kind, unsigned spare);
/* How long one of the faults lasts. */
usec lists_a_while(struct world *world);
/* When the next client begins. */
usec lists_begins_after(struct world *world);
bool lists_begins_late(const struct shell *shell);
bool lists_have_begun(const struct world *world);
/* The list of the process that starts now. */
void lists_choose(struct shell *shell, redlock_options *options);
/* Under which host this client knows a server: 0 or 1. */
unsigned lists_host(const struct shell *shell, unsigned server);
/* The words of a client, as the model has them; to be freed. */
struct model_agree *lists_say(const struct shell *shell, const struct agree_request *agree);
/* The master's answer, as text; until the next call. */
struct slice lists_spell(const struct model_agree *agree, usec time);

/* ---- lists_lies.c ---- */

/* Puts lies in place of what a master tells. */
void lists_lie(struct world *world, struct model_agree *agree);

/* ---- lists_users.c ---- */

void lists_act(struct shell *shell);
/* Their callback; false: it is not theirs. */
bool lists_told(struct user_lease *lease, const redlock_event *event);

/* ---- lists_rules.c ---- */

/* Any two quorums of theirs share an honest server. */
bool lists_may_meet(const struct list_kind *a, const struct list_kind *b);
void lists_step(struct shell *shell);
void lists_acquired(const struct user_lease *lease);
/* Two leases of one name exclude each other; else it is counted why they need not. */
bool lists_exclude(const struct user_lease *old, const struct user_lease *new);
/* Between two lists these rules promise nothing. */
bool lists_may_break(const struct world *world, const char *rule);
const char *lists_why(enum beside why);

#endif
