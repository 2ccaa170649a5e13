/*
 * tasks.h - the tasks of a client: observers, and what leases announce.
 */
#ifndef REDLOCK_CLIENT_TASKS_H
#define REDLOCK_CLIENT_TASKS_H

#include "client.h"
#include "redlock/recipes.h"

/* An observer, or what a lease announces; then `lease` has it. */
struct redlock_observer {
    redlock *client;
    struct redlock_observer *next; /* of the client's */
    struct task *core;
    redlock_lease *lease; /* NULL: an observer */
    redlock_leader_callback *callback;
    void *data;
    bool asked;  /* EVENT_TASK_BEGIN is to be carried out */
    bool untold; /* there was news */
    bool freed;
};

/* Enters a task whose core is made. */
void client_tasks_enter(redlock *client, struct redlock_observer *task);
/* It is to begin, or has something else to do. */
void client_tasks_ask(struct redlock_observer *task);
/* Its user drops it. */
void client_tasks_drop(struct redlock_observer *task);
/* Ends what the lease announces: it is given back, left or shared now. */
void client_tasks_end_of(redlock_lease *lease);

/* Carries out what was asked: tasks_asked. */
void client_tasks_carry_out(redlock *client);
/* Ends all of them: the client closes. */
void client_tasks_close(redlock *client);
void client_tasks_note(struct task *core);
/* Calls the user once, if tasks_untold; false if there is nothing to tell. */
bool client_tasks_tell(redlock *client);
/* Frees all; the core frees its own. */
void client_tasks_free(redlock *client);

#endif
