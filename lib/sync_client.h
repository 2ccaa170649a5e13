/*
 * sync_client.h - what the files behind redlock/sync.h share.
 *
 * A client is a loop on a thread of its own.  A call that waits is a struct on the
 * caller's stack.  It goes through a mailbox to the background thread, which starts
 * it there and, when its outcome comes, finishes it: `done` under the client's lock
 * is the last that the background thread does with it.
 *
 *   sync.c         a client, from open to free
 *   sync_call.c    calls, to the background thread and back
 *   sync_lease.c   leases, and their validity for every thread to read
 *   sync_report.c  an event, copied for the caller
 *
 * Who touches what
 *   under `lock`            the mailbox, `done` of every call, how the client stands
 *   background thread only  redlock, the lists `pending` and `held`, a lease's handle
 *                           and the calls that wait for it
 *   any thread, atomic      a lease's deadline, the reference count
 *   never changed           a lease's token and fence once it was handed out, all else
 */
#ifndef REDLOCK_SYNC_CLIENT_H
#define REDLOCK_SYNC_CLIENT_H

#include <ev.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/queue.h>

#include "redlock/sync.h"

struct call {
    STAILQ_ENTRY(call) queued;
    LIST_ENTRY(call) waiting;
    void (*start)(redlock_sync *client, struct call *call);

    redlock_sync_lease *lease;
    const redlock_name *names;
    size_t count; /* of names; CANCEL: how many there were */
    const redlock_lease_options *options;
    int64_t ms; /* EXTEND: ttl; CLOSE: patience */
    void (*function)(redlock *client, void *data);
    void *data;

    redlock_sync_result *result;
    redlock_code code;
    bool pending; /* is in the list of those that wait for an event */
    bool done;
    pthread_cond_t finished;
};

STAILQ_HEAD(mailbox, call);
LIST_HEAD(calls, call);
LIST_HEAD(leases, redlock_sync_lease);

struct redlock_sync {
    atomic_uint references; /* the client's own, and one for each lease */
    unsigned forks;         /* when it was opened */

    struct ev_loop *loop;
    ev_async mail;
    ev_prepare prepare;
    ev_timer refresh;
    pthread_t thread;
    redlock *redlock; /* NULL once it was closed */

    struct calls pending;
    struct leases held;
    unsigned held_count;
    int64_t refresh_at; /* no sweep over the leases held before that; microseconds */

    pthread_mutex_t lock;
    pthread_cond_t changed; /* any of the flags below */
    struct mailbox mailbox;
    bool ready;   /* on_ready was called */
    bool closing; /* somebody closes it */
    bool ended;   /* nobody reads the mailbox any more */
    bool closed;  /* and the thread has been joined */
    unsigned left;
    redlock_code ready_code;
    char ready_text[1024];

    void (*on_ready)(redlock *client, redlock_code code, const char *text, void *data);
    void (*on_log)(redlock_level level, const char *text, void *data);
    void *data;
};

struct redlock_sync_lease {
    redlock_sync *client;
    redlock_lease *handle;
    _Atomic int64_t deadline; /* CLOCK_BOOTTIME in microseconds; 0: not held; GIVEN_BACK */

    LIST_ENTRY(redlock_sync_lease) held;
    bool is_held; /* is in that list */
    struct call *acquiring, *extending, *releasing;

    redlock_sync_callback *on_event;
    void *data;
    int64_t fence;
    char token[REDLOCK_TOKEN_SIZE];
};

/* ---- sync_call.c ---- */

/* Begins the life of this thread as the background thread of `client`. */
void sync_is_running(const redlock_sync *client);
/* Whether this thread is that one. */
bool sync_is_inside(const redlock_sync *client);

/* Whether a call that waits can be made here; and if not, why. */
redlock_code sync_check(const redlock_sync *client);
const char *sync_why_not(const redlock_sync *client, redlock_code code);

/* Any thread: hands the call over and waits until it is finished. */
redlock_code sync_carry_out(redlock_sync *client, struct call *call);

/* The rest for the background thread.  Once a call is finished its caller goes on,
 * and the struct with it: nothing may touch it any more. */
void sync_on_mail(struct ev_loop *loop, ev_async *mail, int events);
void sync_set_pending(redlock_sync *client, struct call *call);
void sync_finish(redlock_sync *client, struct call *call, redlock_code code);
/* The same for a call that waits for an event of its lease, if there is one. */
void sync_finish_with(redlock_sync *client, struct call **slot, redlock_code code,
                      const redlock_event *event);
/* The same for one that redlock.h refused. */
void sync_refuse(redlock_sync *client, struct call *call, redlock_code code);
/* Every thread that still waits goes on; those that come are refused. */
void sync_finish_all(redlock_sync *client);

/* ---- sync_lease.c ---- */

/* Brings validity up to date, for every thread to read; after each iteration of the
 * loop. */
void sync_refresh(redlock_sync *client);
/* Ends that of every lease. */
void sync_end_validity(redlock_sync *client);

/* ---- sync.c ---- */

/* Grows by one in every forked child. */
unsigned sync_forks(void);
/* Drops one reference, and frees the client with the last. */
void sync_forget(redlock_sync *client);

#endif
