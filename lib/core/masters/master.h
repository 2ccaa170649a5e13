/*
 * master.h - machine 2: one master as seen from here.
 *
 *   DOWN → CONNECTING → PREPARING → UP → (LEAVING) → DOWN
 *
 * PREPARING is the hello (doc/design/quarantine.md): it refuses replicas and masters
 * listed twice, and learns how long a restarted master abstains.  An UP master
 * that abstains still renews and releases the leases that it has; it grants nothing.
 */
#ifndef REDLOCK_CORE_MASTER_H
#define REDLOCK_CORE_MASTER_H

#include "ground/shared.h"

/* News of a master by an answer, for the leases that wait for it. */
enum master_news {
    MASTER_NO_NEWS,
    MASTER_ANSWERED,  /* hello was answered: the master is up, and votes or abstains */
    MASTER_IS_ANOTHER /* the same, and it is another process than before */
};

void master_start(struct engine *engine, unsigned index);
void master_connected(struct engine *engine, unsigned index);
void master_closed(struct engine *engine, unsigned index, const char *why);
/* Takes the answer to HELLO, ADOPT, AGREE or KILL. */
enum master_news master_hear(struct engine *engine, unsigned index, const struct reply *reply);
/* Notes any answer at all: the master is alive. */
void master_answered(struct engine *engine, unsigned index, const struct reply *reply);
/* Sends any request: from then on an answer is due. */
void master_send(struct engine *engine, unsigned index, const struct request *request);
void master_wake(struct engine *engine, unsigned index);
/* Connects to a master that is down at once, and then with the pauses of the first failures. */
void master_hurry(struct engine *engine, unsigned index);
/* Our list may be used, or not, by what masters tell now. */
void master_judge_list(struct engine *engine);
/* Tells the masters that we count on our list no more, if no lease rests on it. */
void master_take_back(struct engine *engine);
void master_adopt(struct engine *engine, unsigned index);
/* Asks hello again, for a sign of life and the master's process. */
void master_look(struct engine *engine, unsigned index);

static inline bool master_is_up(const struct master *master)
{
    return master->state == MASTER_UP;
}
bool master_abstains(const struct engine *engine, const struct master *master);
/* How long it goes on to abstain. */
int64_t master_abstains_ms(const struct engine *engine, const struct master *master);
/* The master is up and not in quarantine. */
bool master_may_grant(const struct engine *engine, const struct master *master);
/* It has fewer requests of ours unanswered.  A connection that ends answers none, though their
 * number falls. */
static inline bool master_has_room(const struct master *master, unsigned requests)
{
    return master->in_flight < requests && !master->left_unanswered;
}
/* A quorum may grant, and each master of it has room. */
bool masters_have_room(const struct engine *engine, unsigned requests);
static inline bool masters_may_grant(const struct engine *engine)
{
    return masters_have_room(engine, ~0U);
}
/* On its way to UP for the first time, or after a connection that worked. */
bool master_is_connecting(const struct master *master);
/* The master has answered nothing at all for longer than an answer takes. */
bool master_is_silent(const struct engine *engine, const struct master *master);
/* The round trip that a quorum of masters have at least. */
usec master_quorum_trip(const struct engine *engine);
/* The master's wall clock, and ours at nearly the same moment. */
void master_set_clock(struct master *master, usec its, usec ours);
/* Until when the answer to a request about a lease is awaited; `longer` as that to a look.  While
 * the master answers others, the request is only behind these; but no longer than a quarter of the
 * ttl.  One that only looks has no ttl. */
usec master_overdue(const struct engine *engine, const struct master *master, usec asked_at,
                    usec ttl, bool longer);

#endif
