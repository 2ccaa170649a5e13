/*
 * master_parts.h - what the files of machine 2 share.  Each file calls only files above it:
 *
 *   entries.c  the list of masters: which entries of it may vote
 *   agreement.c  whether it may be used beside the lists of other clients (agreement_parts.h)
 *   master.c   connecting, with pauses; requests, and when a master hangs
 *   hello.c    what a master tells of itself
 */
#ifndef REDLOCK_CORE_MASTER_PARTS_H
#define REDLOCK_CORE_MASTER_PARTS_H

#include "masters/master.h"

/* A master may tell any number: no sum with it may overflow. */
static inline int64_t master_believable(int64_t number, int64_t most)
{
    return number < 0 ? 0 : number > most ? most : number;
}

/* entries.c */
/* Whether enough entries are left for a quorum: see `misconfigured`. */
void entries_judge(struct engine *engine);
/* An entry that cannot be asked any more may be right when it can. */
void entries_forgive(struct engine *engine, struct master *master);
/* The master is another process from now on; the promises of this one still count. */
void entries_note_former(const struct engine *engine, struct master *master);
/* The latest moment, by our clock, at which the process may have begun. */
usec entries_begun_by(const struct engine *engine, const struct hello *hello);
/* How long ago another process answered at this address, of which the one there now has no
 * promises.  0: there was none, or it need not know. */
usec entries_other_ago(const struct engine *engine, unsigned index);
/* The process that answers is the same as before, and the subscription is to another one. */
bool entries_is_subscribed_beside(const struct master *master, const struct hello *hello);
/* Why the entry may not vote, by this hello; CAUSE_NONE: it may. */
enum cause entries_refuse(struct engine *engine, unsigned index, const struct reply *reply,
                          char why[VOTE_TEXT_MAX]);

/* master.c */
/* Says which list we count on, if a fleet is set. */
void master_agree(struct engine *engine, unsigned index, bool whole);
void master_say_hello(struct engine *engine, unsigned index, bool whole);
/* The scripts are 130 kB: over a slow start of TCP that is five round trips, or more. */
#define SCRIPTS_TIMEOUTS 3 /* of a connection, on top */
/* Ends the connection, which has failed. */
void master_leave(struct engine *engine, unsigned index, const char *why);
/* The master has answered hello: it is UP. */
void master_come_up(struct engine *engine, unsigned index);
/* Sets the deadline of a master that is UP. */
void master_watch(struct engine *engine, struct master *master);
/* Takes the answer to KILL. */
void master_end_kill(struct engine *engine, unsigned index, const struct reply *reply);

#endif
