/*
 * queues.h - leases with calls to carry out, and leases with outcomes to tell.
 */
#ifndef REDLOCK_CLIENT_QUEUES_H
#define REDLOCK_CLIENT_QUEUES_H

#include "client.h"

/* The most leases that inspect at a time.  A master answers what comes together when it has done
 * all of it, and the time for an answer runs meanwhile, for others' requests as well.  A look may
 * be dear, at many permits say, and the machine busy.  So the first look goes alone, and each that
 * ends soon makes room for one more.  After an answer that took a master LOOK_DEAR longer than its
 * quickest one, or a look that no quorum answered, looks go alone again. */
#define LOOKS_MOST 8
/* One that fails beside others goes again, alone, and so may the next ones, for masters still
 * answer those others. */
#define LOOKS_FORGIVEN 3
#define LOOK_DEAR      MS(10) /* the shortest time for an answer is 50 ms */

/* Both do nothing if the lease is in that queue already.  A lease with calls to carry out is in one
 * of four queues:
 *   left      it is detached, or freed after its end or while it inspects
 *   releases  it is released
 *   looks     it begins to inspect
 *   asked     all else */
void queue_asked(redlock *client, redlock_lease *lease);
void queue_untold(redlock *client, redlock_lease *lease);

/* Leases that were detached or released after other calls about them go into the queue for that. */
void queues_sort(redlock *client);

/* The first lease of `queue`, a queue of calls, which it leaves; NULL if there is none. */
redlock_lease *queue_take_asked(struct lease_queue *queue);

/* A master has answered a look, in that time; a look begins; it has ended, and a quorum has
 * answered it. */
void queues_note_look(redlock *client, unsigned master, usec took);
void queues_begin_look(redlock *client);
void queues_end_look(redlock *client, bool answered);

/* A lease in `looks` has its turn. */
bool queues_may_look(const redlock *client);

/* There are calls to carry out. */
bool queues_have_calls(const redlock *client);

/* A lease that was taken from the queue of the untold goes back there with the next round. */
void queue_cancelled(redlock *client, redlock_lease *lease);
void queues_begin_round(redlock *client);

/* The next lease with an outcome to tell that was not dropped; NULL if there is none. */
redlock_lease *queues_take_untold(redlock *client);

/* Frees a lease that the core has dropped: now, or when the queue of the untold gets to it. */
void queues_drop(redlock_lease *lease);

/* Frees every lease, and drops it in the core. */
void queues_free(redlock *client);

#endif
