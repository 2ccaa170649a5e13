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
    bool asked;  /* EVENT_TASK_BEGIN is to be carried out */
    bool leaves; /* EVENT_TASK_LEAVE is to be carried out */
    bool untold; /* there was news */
    bool owes;   /* its user is told how it ended, also when the client closes */
    bool freed;
};

/* REDLOCK_OK and `names`, to be dropped, if the client can have a task about `name`; E_ARGUMENT for
 * no client. */
redlock_code client_tasks_check(redlock *client, const char *name, struct names **names);
/* Zeroed memory of `size` bytes that begin with a task; NULL when memory is out. */
void *client_tasks_new(redlock *client, size_t size,
                       bool (*tell)(redlock *client, struct client_task *task));
/* Enters the task with its core, to be begun.  E_MEMORY if either is NULL: then the task is freed.
 */
redlock_code client_tasks_enter(redlock *client, struct client_task *task, struct task *core);
/* It has something else to do. */
void client_tasks_ask(struct client_task *task);
void client_tasks_leave(struct client_task *task);
/* Its user drops it. */
void client_tasks_drop(struct client_task *task);
/* Ends it now; our part goes with the next turn of the pump. */
void client_tasks_end(struct client_task *task);

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
