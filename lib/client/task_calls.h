/*
 * task_calls.h - a call about a task: checks it, makes the task, and leaves the rest to the pump.
 */
#ifndef REDLOCK_CLIENT_TASK_CALLS_H
#define REDLOCK_CLIENT_TASK_CALLS_H

#include "tasks.h"

/* REDLOCK_OK and `names`, to be dropped, if the client can have a task about `name`. */
redlock_code task_calls_check(redlock *client, const char *name, struct names **names);
/* REDLOCK_OK and the ms to `wait` if the options of a recipe may have this timeout. */
redlock_code task_calls_wait(redlock *client, int64_t timeout_ms, usec *wait);
/* Zeroed memory of `size` bytes that begin with a struct client_task; NULL when memory is out. */
void *task_calls_new(redlock *client, size_t size,
                     bool (*tell)(redlock *client, struct client_task *task));
/* Enters what was made so, with its core.  E_MEMORY if either is NULL: then it is freed. */
redlock_code task_calls_enter(redlock *client, void *made, struct task *core);
/* It begins, or has something else to do. */
void task_calls_ask(struct client_task *task);
/* It goes on with the client that takes the place of its own, and begins there.  False: memory is
 * out, and it stays. */
bool task_calls_go_over(struct client_task *task, redlock *to);
/* Its user hears the result now, and is owed nothing more. */
void task_calls_told(struct client_task *task);
void task_calls_leave(struct client_task *task);
/* Its user drops what was made so; NULL is nothing. */
void task_calls_drop(void *made);

#endif
