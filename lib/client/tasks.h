/*
 * tasks.h - the tasks of a client: what leases announce, observers, parties at barriers.
 */
#ifndef REDLOCK_CLIENT_TASKS_H
#define REDLOCK_CLIENT_TASKS_H

#include "client.h"

/* Each kind of task begins with it. */
struct client_task {
    redlock *client;
    struct client_task *next; /* of the client's */
    struct task *core;
    /* Calls the user, if there is news to tell; else false. */
    bool (*tell)(redlock *client, struct client_task *task);
    bool asked;  /* EVENT_TASK_BEGIN is due */
    bool leaves; /* EVENT_TASK_LEAVE is due */
    bool untold; /* there was news */
    bool owes;   /* its user gets a result, also when the client closes */
    bool freed;
};

/* Ends what the lease announces: it is given back, left or shared now.  The core uses the lease no
 * more; our part goes with the next turn of the pump. */
void client_tasks_end_of(redlock_lease *lease);
/* Carries out what was asked: tasks_asked. */
void client_tasks_carry_out(redlock *client);
/* Ends all that owe nothing: the client closes. */
void client_tasks_close(redlock *client);
void client_tasks_note(struct task *core);
/* Calls the user once, if tasks_untold; false if there is nothing to tell. */
bool client_tasks_tell(redlock *client);
/* Frees all; the core frees its own. */
void client_tasks_free(redlock *client);

#endif
