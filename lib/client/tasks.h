/*
 * tasks.h - the tasks of a client: what leases announce, observers, parties at barriers.
 */
#ifndef REDLOCK_CLIENT_TASKS_H
#define REDLOCK_CLIENT_TASKS_H

#include "client.h"

/* Each kind of task begins with it. */
struct client_task {
    redlock *client;
    struct client_task *next, **at; /* of the client's */
    struct queued_task calls;       /* with calls to carry out, or to be freed */
    struct queued_task news;        /* there was news */
    struct task *core;
    /* Calls the user, if there is news to tell, or goes over; else false. */
    bool (*tell)(redlock *client, struct client_task *task);
    /* Its client is left for `to`, and takes it there, or prepares that: false.  NULL: it stays. */
    bool (*go)(struct client_task *task, redlock *to);
    bool asked;  /* EVENT_TASK_BEGIN is due */
    bool leaves; /* EVENT_TASK_LEAVE is due */
    bool owes;   /* its user is yet to get a result, also when the client closes */
    bool quiet;  /* it needs no pushes: nobody need know that a master denies them */
    bool freed;  /* its user has dropped it */
    bool gone;   /* it waits to leave the queue of news */
};

/* It is one of the client's. */
void client_task_enter(struct client_task *task, redlock *client);
/* All that its user asked of it is carried out with the next turn of the pump. */
void client_task_ask(struct client_task *task);
/* Its user may have news to hear. */
void client_task_untold(struct client_task *task);

/* Ends what the lease announces: it is given back, left or shared now.  The core uses the lease no
 * more; our part goes with the next turn of the pump. */
void client_tasks_end_of(redlock_lease *lease);
/* The lease has moved to another client: `next`, one of that client's, goes on with what it
 * announces.  Without a lease that announces, it is nothing. */
void client_tasks_go_over(redlock_lease *lease, struct client_task *next);
/* It goes on with `to`, for the same user, and begins there when that is asked.  Neither calls nor
 * news of it are queued.  False: memory is out, and it stays. */
bool client_task_go_over(struct client_task *task, redlock *to);
/* The client takes what another one leaves to it: a quorum of its masters votes. */
bool client_takes(const redlock *client);
/* It has not begun, and is not wanted.  NULL is nothing. */
void client_tasks_forget(struct client_task *task);
/* Carries out what was asked. */
void client_tasks_carry_out(redlock *client);
/* Ends all that owe nothing: the client closes. */
void client_tasks_close(redlock *client);
void client_tasks_note(struct task *core);
/* Calls one user; false if there is nothing to tell. */
bool client_tasks_tell(redlock *client);
/* Frees all; the core frees its own. */
void client_tasks_free(redlock *client);

#endif
