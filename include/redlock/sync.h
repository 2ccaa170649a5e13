/*
 * redlock/sync.h - redlock for threads that wait.
 *
 * The same leases as in redlock.h, which is to be read first, for programs
 * without an event loop: a client runs a loop of its own on one background
 * thread, and any thread may call the functions here, which wait for the
 * outcome.
 *
 *     redlock_sync *client;
 *     redlock_sync_lease *lease;
 *     if (redlock_sync_open(&client, NULL, NULL, 0) == REDLOCK_OK) {
 *         if (redlock_sync_acquire(client, &lease, "report", NULL, NULL) == REDLOCK_OK) {
 *             while (more_to_do() && redlock_sync_valid_for(lease) > 1000)
 *                 do_what_takes_less_than_a_second();
 *             redlock_sync_release(lease, NULL);
 *             redlock_sync_lease_free(lease);
 *         }
 *         redlock_sync_close(client, 1000);
 *         redlock_sync_free(client);
 *     }
 *
 * Contract
 *   - Threads: any thread may call any function, also several at once on one
 *     client or one lease.  A client and a lease are freed once, when no other
 *     thread uses that handle any more.
 *   - Waiting: ends by itself, within the times given here; redlock_sync_cancel()
 *     and redlock_sync_close() end it sooner.  A signal does not.  Waiting
 *     threads sleep; nothing polls.
 *   - The background thread blocks every signal but those that a fault raises,
 *     and has the name "redlock".
 *   - Callbacks (those of redlock_options, on_event, redlock_sync_run()) run on
 *     the background thread and hold up every lease of the client: be quick.  In
 *     them a function that would wait returns REDLOCK_E_STATE at once;
 *     redlock_sync_valid_for() and redlock_sync_lease_free() work as anywhere.
 *   - Durations are milliseconds, REDLOCK_FOREVER allowed where it says so.
 *     What is passed in need only live until the function returns.
 *   - fork(): the child holds nothing.  There every lease is valid for 0 ms,
 *     every call fails with REDLOCK_E_FORKED, and the free functions leave the
 *     memory and the sockets (close-on-exec) alone: the state in which the
 *     background thread was caught is not to be trusted.  The child may open a
 *     client of its own; the parent is undisturbed.
 */
#ifndef REDLOCK_SYNC_H
#define REDLOCK_SYNC_H

#include <redlock.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A client and its background thread. */
typedef struct redlock_sync redlock_sync;

/* A lease that was acquired, until redlock_sync_lease_free(). */
typedef struct redlock_sync_lease redlock_sync_lease;

/*
 * What came of a call, for whoever wants more than its code.  Start from
 * REDLOCK_SYNC_RESULT_INIT; may be used again.  Every function that takes one
 * also takes NULL, and fills it whatever it returns.
 */
typedef struct redlock_sync_result {
    size_t size;        /* set by REDLOCK_SYNC_RESULT_INIT; tells the versions apart */
    redlock_code code;  /* as returned */
    unsigned masters;   /* N; this and the next five are 0 if no master was asked */
    unsigned quorum;    /* N/2 + 1 */
    unsigned granted;   /* masters that have the lease, as far as known then */
    unsigned rounds;    /* rounds that the acquire took */
    int64_t valid_ms;   /* validity left then; redlock_sync_valid_for() knows it now */
    int64_t elapsed_ms; /* since the lease was asked for */
    char text[256];     /* one line: what happened and why; "" if there is nothing to say */

    /* One line for each master, as "127.0.0.1:7101 held by <value>, 2800 ms left",
     * each ending with a newline.  Lines for which there is no room are left out. */
    char votes[2048];
} redlock_sync_result;

#define REDLOCK_SYNC_RESULT_INIT                                                                   \
    {                                                                                              \
        .size = sizeof(redlock_sync_result)                                                        \
    }

/* ---- The client --------------------------------------------------------- */

/*
 * Starts a client and its thread, and returns at once: nobody has been reached
 * yet, but leases may be asked for.
 *
 *   client   receives the client; NULL on failure
 *   options  as for redlock_open(); NULL for the defaults
 *   why, why_size   receives a sentence on failure; may be NULL, 0
 * Returns REDLOCK_OK, E_NODES, E_ARGUMENT, E_MEMORY, E_SYSTEM.
 */
REDLOCK_API REDLOCK_MUST_USE redlock_code redlock_sync_open(redlock_sync **client,
                                                            const redlock_options *options,
                                                            char *why, size_t why_size);

/*
 * Waits until every master was either reached or tried in vain, for at most
 * `timeout_ms` (or REDLOCK_FOREVER), and tells how things are now: not needed
 * before an acquire, but good for telling early that something is amiss.
 *
 *   why, why_size   receives one or more lines that say which master and why
 * Returns
 *   REDLOCK_OK              a quorum can vote
 *   REDLOCK_E_UNAVAILABLE   not now, or not known in time; the client goes on
 *                           trying
 *   REDLOCK_E_REPLICA, E_SAME_MASTER   the list of masters is wrong
 *   REDLOCK_E_CLOSED, E_STATE, E_FORKED, E_ARGUMENT
 */
REDLOCK_API redlock_code redlock_sync_ready(redlock_sync *client, int64_t timeout_ms, char *why,
                                            size_t why_size);

/*
 * Runs `function` on the background thread, with the client that redlock.h is
 * about, and waits until it returned: for what this header does not offer, such
 * as redlock_stats_text(), redlock_node_get(), redlock_adopt(), or leases with
 * callbacks of their own.
 * Returns REDLOCK_OK, E_CLOSED, E_STATE, E_FORKED, E_ARGUMENT.
 */
REDLOCK_API redlock_code redlock_sync_run(redlock_sync *client,
                                          void (*function)(redlock *client, void *data),
                                          void *data);

/*
 * Orderly end: wakes the threads that wait to acquire (E_CLOSED), releases every
 * lease, waits until all releases were answered or `patience_ms` passed (0: do
 * not wait), and ends the background thread.  From then on every call but the
 * free functions fails with E_CLOSED, and every lease is valid for 0 ms.  A second
 * close waits for the first.
 * Returns the number of releases that were still owed; their keys go when their
 * ttl ends.
 */
REDLOCK_API unsigned redlock_sync_close(redlock_sync *client, int64_t patience_ms);

/*
 * Frees the client, after redlock_sync_close(client, 0) if it is not closed yet;
 * not in a callback.  Leases that it still has stay valid handles, of leases that
 * are over, until they are freed.  NULL is allowed.
 */
REDLOCK_API void redlock_sync_free(redlock_sync *client);

/* ---- Leases ------------------------------------------------------------- */

/*
 * Acquires a lease on one name (a C string) and waits for the outcome: for as
 * long as options->wait_ms says plus the rounds under way, each of which is
 * bounded by the time that a request may take.
 *
 *   lease     receives the lease, free it with redlock_sync_lease_free(); NULL
 *             unless the function returns REDLOCK_OK
 *   options   as for redlock_acquire(); NULL for the defaults: ttl 10 s, renewed,
 *             one try
 * Returns
 *   REDLOCK_OK            the lease is yours for redlock_sync_valid_for(lease)
 *   REDLOCK_E_HELD        another holder has it; result->votes tells who
 *   REDLOCK_E_UNAVAILABLE no quorum of masters could be asked
 *   REDLOCK_E_TOO_SLOW    the masters, or this machine, were too late for the
 *                         lease to be of use
 *   REDLOCK_E_CANCELLED   redlock_sync_cancel() was called
 *   REDLOCK_E_CLOSED, E_NAME, E_TTL, E_ARGUMENT, E_REPLICA, E_SAME_MASTER,
 *   E_STATE, E_FORKED, E_MEMORY
 */
REDLOCK_API REDLOCK_MUST_USE redlock_code redlock_sync_acquire(redlock_sync *client,
                                                               redlock_sync_lease **lease,
                                                               const char *name,
                                                               const redlock_lease_options *options,
                                                               redlock_sync_result *result);

/* Hears of AT_RISK, HEALTHY and LOST, on the background thread; the event lives
 * until it returns.  Never called again once redlock_sync_lease_free() returned.
 * The lease is valid for 0 ms before it hears of LOST, however much of
 * event->valid_ms is left for stopping. */
typedef void redlock_sync_callback(const redlock_event *event, void *data);

/*
 * The same with all there is: several names at once, all or none, and a callback
 * for what happens while the lease is held.
 *
 *   on_event  may be NULL
 *   data      handed to on_event, and what redlock_sync_cancel() goes by
 */
REDLOCK_API REDLOCK_MUST_USE redlock_code redlock_sync_acquire_names(
    redlock_sync *client, redlock_sync_lease **lease, const redlock_name *names, size_t count,
    const redlock_lease_options *options, redlock_sync_callback *on_event, void *data,
    redlock_sync_result *result);

/*
 * Ends every acquire under way that was called with this `data` (those of
 * redlock_sync_acquire() have NULL): they return E_CANCELLED.  One that begins
 * later is not affected, so where both may happen at once, look at the number.
 * Returns how many there were.
 */
REDLOCK_API unsigned redlock_sync_cancel(redlock_sync *client, const void *data);

/*
 * Validity left, in ms rounded down; 0 when the lease is not held any more.
 * Never more than what redlock_valid_for() would say.  Ask it before each step
 * that needs the lock: a lease is not a mutex that waits for you.
 *
 * Cheap: it takes no lock and wakes nobody, it reads an atomic deadline and
 * CLOCK_BOOTTIME (some 50 ns).  The background thread keeps the deadline up to
 * date each time it heard from masters; that costs it about 0.1 µs for each lease
 * held.  With more than 64 of them it does so at most every n µs for n leases,
 * and only then can a validity that shrank, because a master said that it lost
 * the lease, be seen that much later.
 */
REDLOCK_API int64_t redlock_sync_valid_for(const redlock_sync_lease *lease);

/* redlock_fence(): the fencing token, 0 if none was asked for.  The same as long as
 * the handle lives. */
REDLOCK_API int64_t redlock_sync_fence(const redlock_sync_lease *lease);

/* The token that the masters hold for this lease, with its label.  Lives as long
 * as the handle. */
REDLOCK_API const char *redlock_sync_token(const redlock_sync_lease *lease);

/*
 * Renews now, with a new ttl if `ttl_ms` > 0 (it then counts for later renewals
 * too), and waits for the outcome.
 * Returns
 *   REDLOCK_OK
 *   REDLOCK_E_UNAVAILABLE and others   no quorum renewed it; it is still valid
 *                         for redlock_sync_valid_for(lease)
 *   REDLOCK_E_EXPIRED, E_GONE, E_MAX_HOLD   it was lost meanwhile
 *   REDLOCK_E_CANCELLED   it was released meanwhile
 *   REDLOCK_E_STATE       it is not held, or another thread is extending it
 *   REDLOCK_E_TTL, E_CLOSED, E_FORKED, E_ARGUMENT
 */
REDLOCK_API redlock_code redlock_sync_extend(redlock_sync_lease *lease, int64_t ttl_ms,
                                             redlock_sync_result *result);

/*
 * Ends validity at once, for every thread, then gives the lease back on every
 * master that may have it, and waits for their answers.  The handle must still be
 * freed.
 * Returns
 *   REDLOCK_OK            a quorum confirmed that it was still ours: nobody else
 *                         can have held it
 *   REDLOCK_E_GONE        it was not ours any more on a quorum, or was lost before
 *   REDLOCK_E_UNAVAILABLE too few masters answered in time to say; the release
 *                         stays owed and is repeated in the background
 *   REDLOCK_E_STATE       it was released before, by whomever
 *   REDLOCK_E_CLOSED      the client was closed, which released it
 *   REDLOCK_E_FORKED, E_ARGUMENT
 */
REDLOCK_API redlock_code redlock_sync_release(redlock_sync_lease *lease,
                                              redlock_sync_result *result);

/*
 * Frees the handle.  A lease that is still held is released in the background.
 * Waits until the background thread has let go of it, which does not take an
 * answer of any master.  NULL is allowed.
 */
REDLOCK_API void redlock_sync_lease_free(redlock_sync_lease *lease);

#ifdef __cplusplus
}
#endif

#endif
