/*
 * sync_client.h - the structs and functions that the files behind redlock/sync.h share.
 *
 * A client is a client of redlock.h, run by a thread of its own, which waits for its descriptor.
 * (In the virtual time of the test double that thread is the caller's own: sync_thread.c.)
 * When the list of masters changes there is one for each list that is still needed.  A call
 * that waits is a struct on the caller's stack.  The call goes through a mailbox to the
 * background thread, which starts it, and finishes it when its outcome comes.  Last of all it sets
 * `done` under the client's lock, and never touches the call again.
 *
 *   sync.c           a client, from open to free
 *   sync_thread.c    the background thread, or a test's loop in its place
 *   sync_barriers.c  barriers
 *   sync_latches.c   latches
 *   sync_once.c      work that is done once
 *   sync_wishes.c    asking the holder of a name
 *   sync_recipe.c    a call at a barrier or a latch, or to a holder
 *   sync_wanted.c    wishes for a name that a thread holds
 *   sync_leaders.c   what leases announce, and what is announced of a name
 *   sync_lease.c     leases, from acquire to free
 *   sync_relist.c    another list of masters takes the place of the present one
 *   sync_reentry.c   leases that a thread acquires while it holds them
 *   sync_validity.c  the validity and the mode of leases, for every thread to read
 *   sync_call.c      calls, to the background thread and back
 *   sync_side.c      the clients of redlock.h, each with one list
 *   sync_options.c   a client's options, kept
 *   sync_client.c    a client's memory
 *   sync_wait.c      waiting for a condition, for a time at most
 *   sync_report.c    an event, copied for the caller
 *
 * Each file calls only files that stand below it, and redlock.h.
 *
 * The threads that may touch each field
 *   under `lock`            the mailbox, `done` of every call, the client's flags, the list
 *                           `reentrant` and all that sync_reentry.c knows of a lease
 *   background thread only  the lists `sides`, `pending` and `held`, a lease's handle, side and
 *                           heeder, its wishes once they are made, the calls that wait for it
 *   any thread, atomic      a lease's word, its fence, the number of its wishes, the reference
 *                           count
 *   never changed           a lease's token once it was handed out, all else
 */
#ifndef REDLOCK_SYNC_CLIENT_H
#define REDLOCK_SYNC_CLIENT_H

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>

#include "forks.h"
#include "list.h"
#include "redlock/sync.h"
#include "sized.h"

/* A client of redlock.h.  The first one has the present list of masters, and takes each new call.
 * Those of former lists are left for it, by redlock_relist(). */
struct side {
    struct list place;
    redlock_sync *client;
    redlock *redlock;
    unsigned leases; /* handles */
    unsigned calls;  /* pending since it was the first one */
    bool former, closing;
    bool closed;             /* but handles of leases that were lost are left */
    redlock_options options; /* the user's; strings are kept if it follows */
    bool follows;            /* goes over to the list in place of its own, by itself */
};

#define SIDES_MOST 8

struct call {
    struct list place; /* in the mailbox, later in the client's list `pending` */
    void (*start)(redlock_sync *client, struct call *call);

    redlock_sync_lease *lease;
    const redlock_name *names;
    size_t count; /* of names; of a cancel: of the acquires that it cancelled */
    const redlock_lease_options *options;
    int64_t begun; /* of one that may begin anew: CLOCK_BOOTTIME, in microseconds; 0: not yet */
    int64_t ms;    /* of an extend: ttl; of a close: patience */
    void (*function)(redlock *client, void *data);
    void *data;

    redlock_sync_result *result;
    redlock_code code;
    struct side *side; /* NULL: the call is not in that list */
    bool postponed;    /* until its lease has moved, or stays */
    bool done;
    pthread_cond_t finished;
};

struct redlock_sync {
    atomic_uint references; /* the client's own, and one for each lease */
    unsigned process;       /* the process that opened the client */

    int bell; /* an eventfd: there is mail; -1: there is no thread */
    pthread_t thread;
    struct test_loop *place; /* on the test's loop, in the place of the thread; NULL: none */

    struct list sides;                    /* empty once the thread has ended */
    unsigned open_sides;                  /* that are not closed yet */
    bool (*follow)(redlock_sync *client); /* sync_go_over_to_successor() */
    bool may_follow;                      /* it has not failed since something changed */
    bool follow_asked;                    /* something changed */
    int64_t follow_at;                    /* not before this; microseconds */
    struct list pending;                  /* calls that wait for an event */
    struct list held;                     /* leases */
    unsigned held_count;
    int64_t refresh_at; /* no sweep over the leases held before this time; microseconds */

    pthread_mutex_t lock;
    pthread_cond_t changed; /* any of the flags below */
    struct list mailbox;
    struct list reentrant; /* leases that their owners may acquire once more */
    bool ready;            /* on_ready was called */
    bool closing;          /* a thread closes the client */
    bool ended;            /* the background thread reads the mailbox no more */
    bool closed;           /* and the thread has been joined */
    unsigned left;         /* releases owed at the end */
    unsigned left_behind;  /* leases and calls of former lists */
    redlock_code ready_code;
    char ready_text[1024];
};

struct redlock_sync_lease {
    redlock_sync *client;
    redlock_lease *handle;
    struct side *side;    /* that of the handle */
    _Atomic int64_t word; /* validity and mode, see sync_validity.c */
    _Atomic int64_t fence;
    _Atomic int slot;

    struct list held;
    bool is_held;   /* the lease is in that list */
    bool cancelled; /* this acquire was, by a thread */
    bool postpones; /* calls are postponed */
    struct call *acquiring, *extending, *changing, *announcing, *releasing, *wanting;
    struct reentry *reentry; /* NULL unless the lease is reentrant */

    struct redlock_heeder *heeder; /* NULL: it hears of nothing */
    _Atomic int wished;            /* wishes that no thread has taken; -1: it does not heed */
    struct kept_wishes *wishes;    /* those; NULL: no thread has asked for them */

    redlock_sync_callback *on_event;
    void *data;
    char token[REDLOCK_TOKEN_SIZE];
};

/* ---- sync_thread.c ---- */

/* Makes what wakes the thread.  E_SYSTEM: errno; E_STATE: virtual time is another thread's. */
redlock_code sync_thread_prepare(redlock_sync *client);
void sync_thread_drop(const redlock_sync *client);
/* From now on there are turns. */
bool sync_thread_start(redlock_sync *client);
/* Waits for its end, after which there are no turns. */
void sync_thread_join(redlock_sync *client);

#define SYNC_ELSEWHERE "virtual time belongs to the thread that began it"

/* ---- sync_call.c ---- */

/* Declares this thread the background thread of `client`. */
void sync_note_running(const redlock_sync *client);
/* True on that thread; in virtual time, in a callback. */
bool sync_is_inside(const redlock_sync *client);

/* REDLOCK_OK if a call that waits can be made on this thread; else the code, and its reason. */
redlock_code sync_check(const redlock_sync *client);
const char *sync_why_not(const redlock_sync *client, redlock_code code);
/* False in another process, and on a thread that has no part in virtual time. */
bool sync_may_free(const redlock_sync *client);

/* Any thread: hands the call to the background thread and waits until it is finished. */
redlock_code sync_carry_out(redlock_sync *client, struct call *call);
/* As above, after the checks that the result has room and that this thread may wait. */
redlock_code sync_ask(redlock_sync *client, struct call *call);
/* As sync_ask().  When `ms` are over the thread hands in `late` as well, which finishes the call if
 * that still waits. */
redlock_code sync_ask_for(redlock_sync *client, struct call *call, int64_t ms, struct call *late);

/* The functions below are for the background thread.  Once a call is finished its
 * caller goes on, and the struct ends: nothing may touch it any more. */
/* Starts all calls that are in the mailbox. */
void sync_take_mail(redlock_sync *client);
void sync_set_pending(redlock_sync *client, struct call *call);
void sync_set_out(struct call *call);
void sync_finish(redlock_sync *client, struct call *call, redlock_code code);
/* As sync_finish(), for the call in `slot`, if any, which waits for an event of its lease; NULL:
 * that event will not come. */
void sync_finish_with(redlock_sync *client, struct call **slot, redlock_code code,
                      const redlock_event *event);
/* As sync_finish(), for a call that redlock.h refused. */
void sync_refuse(redlock_sync *client, struct call *call, redlock_code code);
/* Ends every call that still waits; later calls are refused.  All get E_CLOSED. */
void sync_finish_all(redlock_sync *client);

/* ---- sync_lease.c ---- */

/* Any thread: checks the call and the lease that it is about, and carries it out. */
redlock_code sync_ask_about(redlock_sync_lease *lease, struct call *call);
/* The background thread: true if the lease is about to move, which allows no such call meanwhile.
 * The call starts again when that has ended. */
bool sync_postpone(redlock_sync *client, struct call *call);
/* The background thread: the call waits in `slot` for an event of its lease, unless redlock.h
 * refused it with `code`. */
void sync_await(redlock_sync *client, struct call *call, struct call **slot, redlock_code code);

/* ---- sync_reentry.c ---- */

/* Prepares a lease that is about to be acquired for being acquired once more; false when memory is
 * out. */
bool sync_reentry_prepare(redlock_sync_lease *lease, const redlock_name *names, size_t count,
                          bool all_shared);
/* This thread has acquired the lease with these options, and owns it. */
void sync_reentry_begin(redlock_sync_lease *lease, const redlock_lease_options *options);
/* True if this thread owns a lease on one of the names.  Then it asks no master, `code` is the
 * outcome of its acquire, and *lease the lease if that is REDLOCK_OK. */
bool sync_reentry_enter(redlock_sync *client, redlock_sync_lease **lease, const redlock_name *names,
                        size_t count, const redlock_lease_options *options,
                        redlock_sync_result *result, redlock_code *code);
/* One release, and one free.  True if the lease goes on for other acquires of its owner, or its
 * handle does; of a release `code` is the outcome then. */
bool sync_reentry_release(redlock_sync_lease *lease, redlock_sync_result *result,
                          redlock_code *code);
bool sync_reentry_free(redlock_sync_lease *lease);
/* The background thread: the lease was lost, and has all its names shared. */
void sync_reentry_lost(redlock_sync_lease *lease, redlock_code code);
void sync_reentry_downgraded(redlock_sync_lease *lease);

/* ---- sync_validity.c ---- */

/* The background thread: the lease counts among those whose words are kept up to date, and does
 * no more, and has ended. */
void sync_now_held(redlock_sync_lease *lease);
void sync_no_longer_held(redlock_sync_lease *lease);
/* The background thread: brings the word of one lease up to date at once. */
void sync_publish(redlock_sync_lease *lease);
/* Any thread: the validity left, in ms, and the mode that goes with it. */
int64_t sync_look(const redlock_sync_lease *lease, bool *shared);
/* The time, as in a word. */
int64_t sync_now_us(void);
/* The rest of `wait_ms` (or REDLOCK_FOREVER) since then, in ms; not below 0. */
int64_t sync_rest_of(int64_t wait_ms, int64_t begun);
/* Any thread: ends the validity of a lease for good. */
void sync_end_lease(redlock_sync_lease *lease);
/* Brings the words of all leases up to date, for every thread to read; called after each turn of
 * the client.  Returns the ms after which it must be called again, or -1: only after the next turn.
 */
int sync_refresh(redlock_sync *client);
/* Ends the validity of every lease. */
void sync_end_validity(redlock_sync *client);

/* ---- sync_options.c ---- */

/* Of a user's options, whose size is known: copies of all strings; false when memory is out. */
bool sync_options_keep(redlock_options *options);
/* Frees the strings, and wipes passwords. */
void sync_options_drop(redlock_options *options);

/* ---- sync_side.c ---- */

/* Opens one more; it is not in the list yet. */
redlock_code sync_side_open(redlock_sync *client, struct side **side,
                            const redlock_options *options, char *why, size_t why_size);
void sync_side_free(struct side *side);
/* The one with the present list of masters. */
struct side *sync_present(const redlock_sync *client);
/* From now on this one has the present list, and all that the one before it has goes there.
 * Returns as redlock_relist(). */
redlock_code sync_side_enter(struct side *side, char *why, size_t why_size);
/* The one of that client. */
struct side *sync_side_of(const redlock_sync *client, const redlock *redlock);
/* Something that was asked on this side ended with that code for want of the present list alone. */
bool sync_may_begin_anew(const struct side *side, redlock_code code);
/* As many as there may be are in the list. */
bool sync_sides_are_full(const redlock_sync *client);
/* Leases and calls on all but the first. */
unsigned sync_sides_left_behind(const redlock_sync *client);
/* Fills their descriptors in, and returns how many there are. */
nfds_t sync_sides_poll(const redlock_sync *client, struct pollfd *ready);
/* A turn of each.  Frees those that are closed, and have no handles. */
void sync_sides_process(redlock_sync *client);
/* Closes them all; sync_sides_free() frees them, once all are closed, with the handles of leases.
 */
void sync_sides_close(redlock_sync *client, int64_t patience_ms);
void sync_sides_free(redlock_sync *client);

/* ---- sync_relist.c ---- */

/* The background thread: tells threads how much is left with former lists. */
void sync_note_left_behind(redlock_sync *client);
/* The background thread: goes over to the list in place of the present one, as its masters tell it;
 * false: it does not. */
bool sync_go_over_to_successor(redlock_sync *client);
/* Likewise, if something has changed, and it is time for that.  Returns the ms as above. */
int sync_follow(redlock_sync *client);

/* ---- sync_client.c ---- */

/* A client with one reference, and without a thread; NULL when memory is out. */
redlock_sync *sync_new(void);
/* Drops one reference, and frees the client with the last. */
void sync_forget(redlock_sync *client);

#endif
