/*
 * redlock/sync.h - leases for threads that wait.
 *
 * A client runs a loop of its own on one background thread, and any thread may call the functions
 * here.  An example, and the meaning of a lease, stand at the head of redlock.h.
 *
 * Contract
 *   - Threads: any thread may call any function, also while others use the same client or lease.
 *     Free a handle once (a reentrant lease once for each acquire), when no other thread uses it.
 *   - Waiting: a wait ends by itself within the times given here; redlock_sync_cancel() and
 *     redlock_sync_close() end it sooner.  A signal does not end it.  Waiting threads sleep.
 *   - The background thread has the name "redlock", and blocks all signals but those of faults.
 *   - Callbacks (of redlock_options, on_event, redlock_sync_run()) run on the background thread and
 *     hold up every lease of the client: be quick.  In them each call that would wait returns
 *     E_STATE at once and does nothing (close and cancel return 0), and redlock_sync_free() does
 *     nothing.  The calls that only look, and redlock_sync_lease_free(), work as anywhere.
 *   - Death: a process that ends without redlock_sync_close() keeps others out for up to the ttl.
 *   - Descriptors: a daemon closes all before redlock_sync_open().  Later, leases are lost, calls
 *     take a second or fail, and eight bytes may go to, or come from, a file with such a number.
 *   - Durations are milliseconds; the text says where REDLOCK_FOREVER is allowed.  Arguments need
 *     only live until the function returns, but `data` as long as callbacks may come.
 *   - fork(): the child holds nothing, as in redlock.h.  There leases are valid for 0 ms, and each
 *     call that would wait fails with E_FORKED (close and cancel return 0).  The free functions
 *     leave memory and sockets alone.  The child may open a client; the parent is undisturbed.
 */
#ifndef REDLOCK_SYNC_H
#define REDLOCK_SYNC_H

#include <redlock.h>

typedef struct redlock_sync redlock_sync;             /* a client and its background thread */
typedef struct redlock_sync_lease redlock_sync_lease; /* until redlock_sync_lease_free() */

/* The result of a call in more than its code.  A function takes NULL for it, or fills it whatever
 * the code.  A result without its size is refused (E_ARGUMENT), and not written to. */
typedef struct redlock_sync_result {
    size_t size;        /* sizeof(redlock_sync_result) */
    redlock_code code;  /* as returned */
    unsigned masters;   /* N.  If no master was asked this and the next five are 0, but valid_ms is
                         * filled for a lease that the thread holds already. */
    unsigned quorum;    /* (N + spare + 2) / 2 */
    unsigned granted;   /* masters that have the lease and are connected, as far as known then */
    unsigned rounds;    /* rounds that the acquire took */
    int64_t valid_ms;   /* validity left then; redlock_sync_lease_valid_for(): left now */
    int64_t elapsed_ms; /* since the lease was asked for */
    char text[256];     /* one line: what happened and why; may be "" */
    char votes[2048];   /* a line for each master, as "127.0.0.1:7101 held by <value>, 2800 ms left"
                         * with a newline; lines for which there is no room are left out */
} redlock_sync_result;

/* Starts a client and its thread, and returns at once: a lease may be asked for before any master
 * is reached.  The client takes four descriptors (E_SYSTEM without them), each master one or two.
 * `client` receives the client, or NULL on failure; `options` are as for redlock_open(), NULL for
 * the defaults.  On failure `why`, of `why_size` bytes (or NULL), receives a sentence.
 * Returns REDLOCK_OK, E_NODES, E_ARGUMENT, E_MEMORY, E_SYSTEM. */
REDLOCK_API REDLOCK_MUST_USE redlock_code redlock_sync_open(redlock_sync **client,
                                                            const redlock_options *options,
                                                            char *why, size_t why_size);

/* Waits until each master was either reached or tried in vain, for at most `timeout_ms` (or
 * REDLOCK_FOREVER).  An acquire does not need this call, which shows early that something is wrong.
 * `why` receives a line for each master, its state and why, or a sentence for another failure.
 *   REDLOCK_OK     a quorum can vote
 *   E_UNAVAILABLE  no quorum can vote now, or that is not known in time; the client goes on trying
 *   E_REPLICA, E_SAME_MASTER, E_NO_MASTER   the list leaves no quorum; E_DIFFERS: see fleet
 *   E_CLOSED, E_STATE, E_FORKED, E_ARGUMENT */
REDLOCK_API redlock_code redlock_sync_ready(redlock_sync *client, int64_t timeout_ms, char *why,
                                            size_t why_size);

/* Runs `function` on the background thread, with the client of redlock.h, and waits for its return.
 * Use it for redlock_stats_text(), redlock_node_get() and all else that only redlock.h offers.
 * `function` must not close, leave or free that client, nor call redlock_process().
 * Returns REDLOCK_OK, E_CLOSED, E_STATE, E_FORKED, E_ARGUMENT. */
REDLOCK_API redlock_code redlock_sync_run(redlock_sync *client,
                                          void (*function)(redlock *client, void *data),
                                          void *data);

/* Another list of masters takes the place of the present one, without a restart (change.md); by
 * itself with options.follow, and an on_ready for each.  `options` are all of redlock_sync_open(),
 * with the new list.  Later calls ask the new masters.  Callbacks of the former options come no
 * more once this has returned REDLOCK_OK or E_UNAVAILABLE; the new on_log has the log of both.
 *   - Leases that are held move, as by redlock_lease_move(), and on_event tells MOVED.  The client
 *     asks until they have.  While it asks for a lease, calls that extend, change or announce it
 *     wait.  A lease that was downgraded or upgraded does not move: release it.  One that has moved
 *     cannot be upgraded (E_STATE).
 *   - Threads that wait for another holder keep their turn if a quorum of the next list votes soon.
 *   - Barriers, latches and leaders are waited for on the new masters, for the rest of the time.
 *   - redlock_sync_run() has another client from then on, whose statistics begin at 0.  All
 *     that its functions asked for goes there, as by redlock_relist(); ended handles are freed.
 * The call waits until no lease and no call is left with former masters, for at most `timeout_ms`
 * (or REDLOCK_FOREVER; 0: not at all).  A lost lease is left there until you free it.
 *   REDLOCK_OK     nothing is left.  E_UNAVAILABLE: something is; the client goes on moving it.
 *   E_DIFFERS      quorums of both lists need not meet; the present list stays.
 *   E_STATE        seven former lists are not left yet, or a callback calls this.
 *   E_NODES, E_ARGUMENT (also for another prefix), E_MEMORY, E_SYSTEM as redlock_sync_open();
 *   E_CLOSED, E_FORKED.  `why` receives a sentence after a failure. */
REDLOCK_API redlock_code redlock_sync_relist(redlock_sync *client, const redlock_options *options,
                                             int64_t timeout_ms, char *why, size_t why_size);

/* Orderly end: wakes the threads that wait to acquire (E_CLOSED), releases every lease, and ends
 * the background thread.  It waits until all releases were answered, for at most `patience_ms` (or
 * REDLOCK_FOREVER; 0: it does not wait); see redlock_close() for dead masters.  From then on calls
 * that would wait fail with E_CLOSED, and leases are valid for 0 ms.  A second close waits for the
 * first.  Returns the number of releases still owed; the masters drop these keys with the ttl. */
REDLOCK_API unsigned redlock_sync_close(redlock_sync *client, int64_t patience_ms);

/* Frees the client, after redlock_sync_close(client, 0) if it is not closed yet.  NULL is allowed.
 * The handles of its leases live on, each until it is freed. */
REDLOCK_API void redlock_sync_free(redlock_sync *client);

/* Acquires a lease on one name (a C string), or on several at once (all or none).  It waits for the
 * outcome, at most options->wait_ms and the rounds under way; a round takes a request timeout.
 *   lease    receives the lease, to be freed with redlock_sync_lease_free(); NULL on failure
 *   options  as for redlock_acquire(), `reentrant` and `on_event` included; NULL: defaults.
 *            on_event comes no more once the (last) redlock_sync_lease_free() has returned.  At
 *            LOST redlock_sync_lease_valid_for() is 0 already; event->valid_ms is left to stop in.
 * Returns REDLOCK_OK, and the lease is yours for redlock_sync_lease_valid_for(lease); or
 *   E_HELD         another holder has a name: result->votes names the holder
 *   E_UNAVAILABLE  too few masters answered without an error: result->votes has why
 *   E_TOO_SLOW     the masters, or this machine, were too late for the lease to be of use
 *   E_CANCELLED    redlock_sync_cancel() was called
 *   E_OVERLOAD, E_CLOSED, E_NAME, E_TTL, E_ARGUMENT, E_REPLICA, E_SAME_MASTER, E_NO_MASTER,
 *   E_DIFFERS, E_STATE, E_FORKED, E_MEMORY; and for reentrant leases E_EXPIRED, E_GONE, E_MAX_HOLD
 *
 * Reentrant leases.  A thread that holds one, and acquires the same names of that client with
 * `reentrant` again (in any order), gets the same handle once more.  No master is asked.
 *   - Each acquire needs its own redlock_sync_lease_free(), with or without a release before it, in
 *     any order and by any thread.  The last release gives the lease back, or the last free if an
 *     acquire was not released.  A free counts for a released acquire while there is one.
 *   - The lease belongs to the thread that acquired it first; to other threads it is another
 *     holder's.  So is a thread's own lease that is not reentrant.
 *   - Once no more than its margin is left, an acquire fails with E_EXPIRED.  After a loss it fails
 *     with the code of the loss, until all acquires of the lease are released or freed.
 *   - The lease keeps the terms and the callback of the first acquire.  A later one fails with
 *     E_STATE if it asks for a shared name exclusively, for a fence that the lease lacks, or for
 *     names of which it has only some.  Changes and extends are for all. */
REDLOCK_API REDLOCK_MUST_USE redlock_code redlock_sync_acquire(redlock_sync *client,
                                                               redlock_sync_lease **lease,
                                                               const char *name,
                                                               const redlock_lease_options *options,
                                                               redlock_sync_result *result);
REDLOCK_API REDLOCK_MUST_USE redlock_code redlock_sync_acquire_names(
    redlock_sync *client, redlock_sync_lease **lease, const redlock_name *names, size_t count,
    const redlock_lease_options *options, redlock_sync_result *result);

/* The number of times that this thread holds just these names by a reentrant lease: acquires that
 * were neither released nor freed, whatever their modes.  0 also after a loss, within the margin,
 * in a callback of the client and in a forked child.  No master is asked. */
REDLOCK_API unsigned redlock_sync_hold_count(redlock_sync *client, const redlock_name *names,
                                             size_t count);

/* Ends each acquire under way whose options have this `data` (NULL without options): E_CANCELLED.
 * An acquire that begins later is not affected.  Returns the number of acquires that it ended. */
REDLOCK_API unsigned redlock_sync_cancel(redlock_sync *client, const void *data);

/* Validity left, in ms rounded down; 0 when the lease is not held any more, and for NULL.  Call it
 * before each step that needs the lock: it is cheap, and takes no lock.  The background thread
 * updates it after each answer of a master; with n > 64 leases held, up to n us later.
 *   While the lease has a name shared, redlock_sync_lease_exclusive_for() is 0, too.  Call that
 * before a step that needs the lease exclusively: another thread may have downgraded it. */
REDLOCK_API int64_t redlock_sync_lease_valid_for(const redlock_sync_lease *lease);
REDLOCK_API int64_t redlock_sync_lease_exclusive_for(const redlock_sync_lease *lease);

/* fence: the fencing token, as redlock_lease_fence() (0: none).  After a thread has seen
 *        redlock_sync_lease_exclusive_for() above 0, it reads the fence that goes with that, or a
 *        later fence.  An upgrade makes the fence larger.
 * slot:  the permit, as redlock_lease_slot() (-1: none).
 * token: on the masters, with its label.  The string lives as long as the handle ("" for NULL). */
REDLOCK_API int64_t redlock_sync_lease_fence(const redlock_sync_lease *lease);
REDLOCK_API int redlock_sync_lease_slot(const redlock_sync_lease *lease);
REDLOCK_API const char *redlock_sync_lease_token(const redlock_sync_lease *lease);

/* Extend, downgrade and upgrade wait for their outcome, and return REDLOCK_OK or
 *   E_EXPIRED, E_GONE, E_MAX_HOLD   the lease was lost meanwhile
 *   E_CANCELLED    the lease was released meanwhile, by a thread or a close
 *   E_STATE        the lease is not held, or another thread is in such a call; nothing was done.
 *                  An extend may go beside a downgrade or upgrade.
 *   E_UNAVAILABLE  extend: no quorum renewed it; upgrade: too few masters answered, or too many
 *                  lost a downgrade with its connection.  The lease is what it was.
 *   E_CLOSED, E_FORKED, E_ARGUMENT
 * Extend renews now; a `ttl_ms` > 0 is the new ttl, for later renewals too (E_TTL).  E_MAX_HOLD:
 * the lease may not be renewed any more, and is what it was, or is lost.
 * Downgrade makes a writer a reader (E_STATE: it is one), and waits until a quorum lets readers in.
 * Before any reader comes in, redlock_sync_lease_exclusive_for() is 0 for all threads.
 * Upgrade makes the only reader the writer (E_STATE: no name is shared).  It tries once, and never
 * waits for a reader to leave.  Until the masters agree redlock_sync_lease_exclusive_for() is 0.
 * Data that was read as a reader is still right then: no writer came between.  A fenced lease
 * has a new fence.  E_HELD: others read a name.  E_HELD, E_MAX_HOLD, E_MEMORY: still a reader. */
REDLOCK_API redlock_code redlock_sync_lease_extend(redlock_sync_lease *lease, int64_t ttl_ms,
                                                   redlock_sync_result *result);
REDLOCK_API redlock_code redlock_sync_lease_downgrade(redlock_sync_lease *lease,
                                                      redlock_sync_result *result);
REDLOCK_API redlock_code redlock_sync_lease_upgrade(redlock_sync_lease *lease,
                                                    redlock_sync_result *result);

/* Ends validity at once, for every thread, then gives the lease back on every master that may have
 * it, and waits for their answers.  The handle must still be freed.  Of a reentrant lease only the
 * last release does that; those before it ask no master, and return OK, or E_GONE if it is over.
 *   REDLOCK_OK     there was no other holder before: a quorum confirmed that, or the next waiter
 *                  of this client got the lease while it was valid
 *   E_GONE         the lease was not ours any more on a quorum, or was lost before
 *   E_UNAVAILABLE  too few masters answered in time to tell; the client repeats the release
 *   E_STATE        a thread has released the lease before
 *   E_CLOSED       the client was closed, which released the lease; or E_FORKED, E_ARGUMENT */
REDLOCK_API redlock_code redlock_sync_lease_release(redlock_sync_lease *lease,
                                                    redlock_sync_result *result);

/* Frees the handle (of a reentrant lease the last free does); NULL is allowed.  A lease that is
 * still held is released in the background; the call does not wait for the masters. */
REDLOCK_API void redlock_sync_lease_free(redlock_sync_lease *lease);

#endif
