/*
 * redlock/sync.h - redlock for threads that wait.
 *
 * The same leases as in redlock.h (read that first), for programs without an
 * event loop: a client runs a loop of its own on one background thread, and any
 * thread may call the functions here, which wait for the outcome.
 *
 *     redlock_sync *client;
 *     redlock_sync_lease *lease;
 *     if (redlock_sync_open(&client, NULL, NULL, 0) == REDLOCK_OK) {
 *         if (redlock_sync_acquire(client, &lease, "report", NULL, NULL) == REDLOCK_OK) {
 *             while (more_to_do() && redlock_sync_lease_valid_for(lease) > 1000)
 *                 do_what_takes_less_than_a_second();
 *             redlock_sync_lease_release(lease, NULL);
 *             redlock_sync_lease_free(lease);
 *         }
 *         redlock_sync_close(client, 1000);
 *         redlock_sync_free(client);
 *     }
 *
 * Contract
 *   - Threads: any thread may call any function, also several threads at once on
 *     one client or one lease.  Free a client or a lease once (a reentrant lease once
 *     for each acquire), when no other thread uses that handle any more.
 *   - Waiting: a wait ends by itself, within the times given here;
 *     redlock_sync_cancel() and redlock_sync_close() end it sooner.  A signal does
 *     not.  Waiting threads sleep; nothing polls.
 *   - The background thread blocks every signal but those that a fault raises,
 *     and has the name "redlock".
 *   - Callbacks (those of redlock_options, on_event, redlock_sync_run()) run on
 *     the background thread and hold up every lease of the client: be quick.  In
 *     a callback a function that would wait returns REDLOCK_E_STATE at once (close
 *     and cancel return 0) and does nothing, as does redlock_sync_free();
 *     redlock_sync_lease_valid_for(), redlock_sync_lease_exclusive_for(),
 * redlock_sync_lease_fence(), redlock_sync_lease_token() and redlock_sync_lease_free() work as
 * anywhere.
 *   - Descriptors: the client has some that its thread waits for.  What closes all
 *     descriptors, such as a function that makes a daemon, must come before
 *     redlock_sync_open(): later, leases are lost, calls take a second or fail, and
 *     eight bytes may be written to, or read from, the file that has got such a number.
 *   - Durations are milliseconds, REDLOCK_FOREVER is allowed where the text says so.
 *     Arguments need only live until the function returns, but `data` of the options
 *     and of on_event as long as callbacks may come.
 *   - fork(), as in redlock.h: the child holds nothing.  There every lease is valid
 *     for 0 ms, every call that would wait fails with REDLOCK_E_FORKED (close and
 *     cancel return 0), and the free functions leave the memory and the sockets
 *     (close-on-exec) alone, as the background thread may have been caught in any
 *     state.  The child may open a client of its own; the parent is undisturbed.
 */
#ifndef REDLOCK_SYNC_H
#define REDLOCK_SYNC_H

#include <redlock.h>
#include <redlock/recipes.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A client and its background thread. */
typedef struct redlock_sync redlock_sync;

/* A lease, from the call that acquires it until redlock_sync_lease_free(). */
typedef struct redlock_sync_lease redlock_sync_lease;

/*
 * The result of a call, for callers that want more than its code.  It may be used again.  Every
 * function that takes a result also takes NULL, and fills the result whatever it returns.  A result
 * without its size is refused (E_ARGUMENT), and then the function writes nothing.
 */
typedef struct redlock_sync_result {
    size_t size;       /* sizeof(redlock_sync_result) */
    redlock_code code; /* as returned */
    unsigned masters;  /* N; this and the next five are 0 if no master was asked, but valid_ms is
                        * told of a   lease that the thread holds already */
    unsigned quorum;   /* (N + spare + 2) / 2 */
    unsigned granted;  /* masters that have the lease and are connected, as far as known then */
    unsigned rounds;   /* rounds that the acquire took */
    int64_t
        valid_ms; /* validity left then; redlock_sync_lease_valid_for() gives what is left now */
    int64_t elapsed_ms; /* since the lease was asked for */
    char text[256];     /* one line: what happened and why; may be "" */

    /* One line for each master, as "127.0.0.1:7101 held by <value>, 2800 ms left",
     * each ending with a newline.  Lines for which there is no room are left out. */
    char votes[2048];
} redlock_sync_result;

/* ---- The client --------------------------------------------------------- */

/*
 * Starts a client and its thread, and returns at once: no master has been reached
 * yet, but leases may be asked for.  The client takes four descriptors, each master one
 * or two.  Without these four the call fails with E_SYSTEM; a master without
 * a descriptor is down until there is one.
 *
 *   client   receives the client, to be freed with redlock_sync_free(); NULL on
 *            failure
 *   options  as for redlock_open(); NULL for the defaults
 *   why, why_size   a buffer and its bytes: receives a sentence on failure; may be
 *            NULL, 0
 * Returns REDLOCK_OK, E_NODES, E_ARGUMENT, E_MEMORY, E_SYSTEM.
 */
REDLOCK_API REDLOCK_MUST_USE redlock_code redlock_sync_open(redlock_sync **client,
                                                            const redlock_options *options,
                                                            char *why, size_t why_size);

/*
 * Waits until every master was either reached or tried in vain, for at most
 * `timeout_ms` (or REDLOCK_FOREVER), and tells the state of the masters now.  An
 * acquire does not need this call, but it shows early that something is amiss.
 *
 *   why, why_size   a buffer and its bytes: receives a line for each master, its
 *                   state and why, or a sentence for another failure; may be NULL, 0
 * Returns
 *   REDLOCK_OK              a quorum can vote
 *   REDLOCK_E_UNAVAILABLE   no quorum can vote now, or it is not known in time; the
 *                           client goes on trying
 *   REDLOCK_E_REPLICA, E_SAME_MASTER, E_NO_MASTER   wrong entries of the list leave no
 *                           quorum
 *   REDLOCK_E_CLOSED, E_STATE, E_FORKED, E_ARGUMENT
 */
REDLOCK_API redlock_code redlock_sync_ready(redlock_sync *client, int64_t timeout_ms, char *why,
                                            size_t why_size);

/*
 * Runs `function` on the background thread, with the client of redlock.h, and
 * waits until it returned: for all that this header does not offer, such as
 * redlock_stats_text(), redlock_node_get(), redlock_node_adopt(), or leases with
 * callbacks of their own.  `function` must neither close nor free that client, nor call
 * redlock_process().
 * Returns REDLOCK_OK, E_CLOSED, E_STATE, E_FORKED, E_ARGUMENT.
 */
REDLOCK_API redlock_code redlock_sync_run(redlock_sync *client,
                                          void (*function)(redlock *client, void *data),
                                          void *data);

/*
 * Orderly end: wakes the threads that wait to acquire (E_CLOSED), releases every
 * lease, waits until all releases were answered or `patience_ms` passed (0: it does
 * not wait; REDLOCK_FOREVER: without a limit), and ends the background thread.  It does
 * not wait for dead masters without which others can have the names: see
 * redlock_close().  From then on every call that would wait fails with E_CLOSED, and
 * every lease is valid for 0 ms.  A second close waits for the first.
 * Returns the number of releases that were still owed; the masters drop their keys
 * when the ttl ends.
 */
REDLOCK_API unsigned redlock_sync_close(redlock_sync *client, int64_t patience_ms);

/*
 * Frees the client, after redlock_sync_close(client, 0) if it is not closed yet;
 * not in a callback.  The handles of its leases live on, as those of leases that
 * are over, until they are freed.  NULL is allowed.
 */
REDLOCK_API void redlock_sync_free(redlock_sync *client);

/* ---- Leases ------------------------------------------------------------- */

/*
 * Acquires a lease on one name (a C string) and waits for the outcome: at most
 * options->wait_ms plus the rounds under way, each of which is bounded by the time
 * that a request may take.
 *
 *   lease     receives the lease, to be freed with redlock_sync_lease_free(); NULL
 *             unless the function returns REDLOCK_OK
 *options   as for redlock_acquire(), and `reentrant`, see below, `on_event` and `data`.  The
 *             background thread calls on_event, and never again once
 *             redlock_sync_lease_free() (of a reentrant lease the last one) returned.  At LOST
 *             redlock_sync_lease_valid_for() is 0 already, however much of event->valid_ms is
 *             left for stopping.  NULL for the
 *             defaults: ttl 10 s, renewed, one try
 * Returns
 *   REDLOCK_OK            the lease is yours for redlock_sync_lease_valid_for(lease)
 *   REDLOCK_E_HELD        another holder has the lock; result->votes names the holder
 *   REDLOCK_E_UNAVAILABLE no quorum of masters could be asked, or too few of them answered with
 *                         anything but an error; result->votes has the reasons
 *   REDLOCK_E_TOO_SLOW    the masters, or this machine, were too late for the
 *                         lease to be of use
 *   REDLOCK_E_CANCELLED   redlock_sync_cancel() was called
 *   REDLOCK_E_EXPIRED, E_GONE, E_MAX_HOLD   this thread holds the names by a reentrant
 *                         lease that was lost, or is about to be
 *   REDLOCK_E_CLOSED, E_NAME, E_TTL, E_ARGUMENT, E_REPLICA, E_SAME_MASTER, E_NO_MASTER,
 *   E_STATE, E_FORKED, E_MEMORY
 */
REDLOCK_API REDLOCK_MUST_USE redlock_code redlock_sync_acquire(redlock_sync *client,
                                                               redlock_sync_lease **lease,
                                                               const char *name,
                                                               const redlock_lease_options *options,
                                                               redlock_sync_result *result);

/*
 * Reentrant leases (options->reentrant).  A thread that holds such a lease of a client, and
 * acquires the same names of that client once more with options->reentrant set (one name or
 * several, in any order), gets the same handle once more.  No master is asked and no thread
 * woken: with its release and free that takes some 150 ns where few are held, as
 * live/test_sync_reentrant (case it_asks_nobody) measures.
 *
 *   - Each acquire wants its own redlock_sync_lease_free(), with or without a
 *     redlock_sync_lease_release() before it, in any order and by any thread.  The last release
 * gives the lease back, as does the last free if an acquire was not released; those before it only
 * count.  A free is taken for that of a released acquire if there is one that was not freed yet. An
 * acquire after the last release is a new one, also while old handles are not freed.
 *   - The lease belongs to the thread that acquired it first.  Another thread that acquires
 *     the names goes to the masters as for those of any other holder; so does a thread that
 *     holds them by a lease that was not reentrant, or of another client.
 *   - Once no more than its margin is left an acquire fails with E_EXPIRED, and once the lease was
 *     lost with the code of the loss.  After a loss it fails so until all who acquired the lease
 *     have released or freed it, for they believe that nobody else had the names in between.
 *   - All terms of the lease are those of the first acquire, with its callback; of the options
 *     only `fence` and the modes are looked at.  E_STATE if the lease has a name shared that is
 *     now asked for exclusively (see redlock_sync_lease_upgrade()); a name that it has exclusively
 *     may be asked for as shared.  E_STATE if a fence is asked for and the lease has none.  An
 *     upgrade, a downgrade or an extend is one of the lease, for all who acquired it.
 *   - E_STATE if the thread holds by a reentrant lease some of the names, but not the same
 *     ones: it would wait for itself.
 */

/* The same for several names at once, all or none. */
REDLOCK_API REDLOCK_MUST_USE redlock_code redlock_sync_acquire_names(
    redlock_sync *client, redlock_sync_lease **lease, const redlock_name *names, size_t count,
    const redlock_lease_options *options, redlock_sync_result *result);

/*
 * Ends every acquire under way that was called with this `data` (that of
 * an acquire without options is NULL): it returns E_CANCELLED.  An acquire that begins
 * later is not affected, so where both may happen at once, look at the number.
 * Returns the number of acquires that it cancelled.
 */
REDLOCK_API unsigned redlock_sync_cancel(redlock_sync *client, const void *data);

/*
 * Validity left, in ms rounded down; 0 when the lease is not held any more, and for
 * NULL.  It is never more than redlock_lease_valid_for() gave when the deadline was last
 * brought up to date.  Call it before each step that needs the lock: a lease is not
 * a mutex that waits for you.
 *
 * The call is cheap: it takes no lock and wakes no thread, it reads an atomic
 * deadline and CLOCK_BOOTTIME (some 50 ns).  The background thread brings the
 * deadline up to date after each answer of the masters, in about 0.1 µs for each
 * lease held.  With n > 64 leases held it does so at most every n µs: only then is
 * it seen that much later if the validity shrank because a master lost the lease.
 */
REDLOCK_API int64_t redlock_sync_lease_valid_for(const redlock_sync_lease *lease);

/*
 * The same, but 0 while the lease has a name shared.  Mode and validity are read as one,
 * at the same cost.  Call it before each step that needs the lease exclusively, as each
 * write: another thread may have called redlock_sync_lease_downgrade() meanwhile.
 */
REDLOCK_API int64_t redlock_sync_lease_exclusive_for(const redlock_sync_lease *lease);

/*
 * The fencing token, as redlock_lease_fence(); 0 if none was asked for, and for NULL.  It stays
 * the same until a redlock_sync_lease_upgrade() succeeds, and is larger from then on.  A thread
 * for which redlock_sync_lease_exclusive_for() was above 0 reads the fence that goes with it, or
 * one of a later upgrade.
 */
REDLOCK_API int64_t redlock_sync_lease_fence(const redlock_sync_lease *lease);

/* Of K permits, the one that the lease is, as redlock_lease_slot(); -1 for any other lease, and for
 * NULL.
 */
REDLOCK_API int redlock_sync_lease_slot(const redlock_sync_lease *lease);

/* The token that the masters hold for this lease, with its label; "" for NULL.  The
 * string lives as long as the handle. */
REDLOCK_API const char *redlock_sync_lease_token(const redlock_sync_lease *lease);

/*
 * Renews now, with a new ttl if `ttl_ms` > 0 (it then counts for later renewals
 * too), and waits for the outcome.
 * Returns
 *   REDLOCK_OK            a quorum renewed the lease
 *   REDLOCK_E_UNAVAILABLE no quorum renewed the lease; it is still valid for
 *                         redlock_sync_lease_valid_for(lease)
 *   REDLOCK_E_MAX_HOLD    the lease may not be renewed any more, and is valid for
 *                         redlock_sync_lease_valid_for(lease), or was lost meanwhile
 *   REDLOCK_E_EXPIRED, E_GONE   the lease was lost meanwhile
 *   REDLOCK_E_CANCELLED   the lease was released meanwhile
 *   REDLOCK_E_STATE       the lease is not held, or another thread is extending it
 *   REDLOCK_E_TTL, E_CLOSED, E_FORKED, E_ARGUMENT
 */
REDLOCK_API redlock_code redlock_sync_lease_extend(redlock_sync_lease *lease, int64_t ttl_ms,
                                                   redlock_sync_result *result);

/*
 * Makes a writer a reader, as redlock_lease_downgrade(), and waits until a quorum of masters
 * lets readers in.  redlock_sync_lease_exclusive_for() is 0 for every thread before any master
 * hears of it, so before any reader comes in; redlock_sync_lease_valid_for() goes on.  While no
 * quorum answers the call waits, at most until the lease is lost.
 * Returns
 *   REDLOCK_OK            a quorum knows: readers can come in
 *   REDLOCK_E_EXPIRED, E_GONE   the lease was lost meanwhile
 *   REDLOCK_E_CANCELLED   the lease was released meanwhile, by a thread or a close
 *   REDLOCK_E_STATE       the lease is not held, or has all its names shared already, or
 *                         another thread is changing it (an extend may be under way), or
 *                         this is a callback; then nothing was changed
 *   REDLOCK_E_CLOSED, E_FORKED, E_ARGUMENT
 */
REDLOCK_API redlock_code redlock_sync_lease_downgrade(redlock_sync_lease *lease,
                                                      redlock_sync_result *result);

/*
 * Makes a reader the writer if it is the only reader, as redlock_lease_upgrade(), and waits for
 * the outcome: one try that takes no longer than the requests of an acquire, and never
 * waits for a reader to leave.  redlock_sync_lease_exclusive_for() stays 0 until the masters have
 * agreed; a thread may read more shortly before this call returns to its caller.  What
 * was read as a reader still holds then: no writer came between.
 * Returns
 *   REDLOCK_OK            all names of the lease are exclusive for
 *                         redlock_sync_lease_exclusive_for(lease); a fenced lease has a new,
 *                         larger fence
 *   REDLOCK_E_HELD        others read one of the names; the lease is a reader's, as before
 *   REDLOCK_E_UNAVAILABLE too few masters answered, or on too many a downgrade of this
 *                         lease was lost with its connection; it is a reader's, as before
 *   REDLOCK_E_MAX_HOLD, E_MEMORY   the lease is a reader's, as before
 *   REDLOCK_E_EXPIRED, E_GONE   the lease was lost meanwhile
 *   REDLOCK_E_CANCELLED   the lease was released meanwhile, by a thread or a close
 *   REDLOCK_E_STATE       the lease is not held, or has no name shared, or another thread
 *                         is changing it (an extend may be under way), or this is a
 *                         callback; then nothing was changed
 *   REDLOCK_E_CLOSED, E_FORKED, E_ARGUMENT
 */
REDLOCK_API redlock_code redlock_sync_lease_upgrade(redlock_sync_lease *lease,
                                                    redlock_sync_result *result);

/*
 * Ends validity at once, for every thread, then gives the lease back on every
 * master that may have it, and waits for their answers.  The handle must still be
 * freed.  Of a reentrant lease that was acquired several times only the last release
 * does that; those before it return at once, and ask no master: OK, or E_GONE if the lease was
 * lost or its validity has ended.
 * Returns
 *   REDLOCK_OK            a quorum confirmed that the lease was still ours, or it was
 *                         handed over in memory, still valid, to the next waiter of
 *                         this client: there was no other holder before
 *   REDLOCK_E_GONE        the lease was not ours any more on a quorum, or was lost
 *                         before
 *   REDLOCK_E_UNAVAILABLE too few masters answered in time to tell; the release
 *                         stays owed and is repeated in the background
 *   REDLOCK_E_STATE       a thread has released the lease before
 *   REDLOCK_E_CLOSED      the client was closed, which released the lease
 *   REDLOCK_E_FORKED, E_ARGUMENT
 */
REDLOCK_API redlock_code redlock_sync_lease_release(redlock_sync_lease *lease,
                                                    redlock_sync_result *result);

/*
 * Says `value` of the lease's name, as redlock_lease_announce(), and waits until a quorum of
 * masters has stored it.  A thread leads from redlock_sync_acquire() with `fence` on, best with
 * wait_ms REDLOCK_FOREVER, for as long as redlock_sync_lease_valid_for() is above 0.
 * Returns
 *   REDLOCK_OK            a quorum says it
 *   REDLOCK_E_STATE       the lease cannot announce: it is not held, is shared, has no fence or
 *                         several names, or is a permit; or this is a callback
 *   REDLOCK_E_CANCELLED   another thread has announced something else, downgraded or released the
 *                         lease meanwhile; while no quorum answers the call waits, at most until
 *                         the lease is lost
 *   REDLOCK_E_EXPIRED, E_GONE, E_MAX_HOLD   the lease was lost meanwhile
 *   REDLOCK_E_CLOSED, E_FORKED, E_ARGUMENT, E_MEMORY
 */
REDLOCK_API redlock_code redlock_sync_lease_announce(redlock_sync_lease *lease, const void *value,
                                                     size_t length, redlock_sync_result *result);

/*
 * Tells what is announced of a name now, as the first call of redlock_observer_begin()'s callback;
 * it waits no longer than it takes to connect to a silent master and to ask it.
 *
 *   leader        receives what is told; leader->value is `value`, leader->text is ""
 *   value, size   a buffer and its bytes: receives the value, cut if leader->length is more; NULL
 *                 and 0 if only the term matters
 * Returns REDLOCK_OK (leader->term 0: nobody announces anything); E_UNAVAILABLE: too few masters
 * answer to know (result->text may have the error of one of them); E_NAME, E_CLOSED, E_FORKED,
 * E_STATE (in a callback), E_ARGUMENT, E_MEMORY.
 */
REDLOCK_API redlock_code redlock_sync_leader_get(redlock_sync *client, const char *name,
                                                 redlock_leader *leader, void *value, size_t size,
                                                 redlock_sync_result *result);

/*
 * Arrives at a barrier, as redlock_barrier_arrive(), and waits until it has passed, or has left.
 *   options   NULL is an error, for it must say for how many parties the barrier is
 *   passage   receives how that went, with "" for text, which result->text has; NULL if the code is
 *             enough.  The options may point into it, as options->token to the token of an arrival
 *             that is repeated
 * Returns passage->code: REDLOCK_OK if it passed, E_NOT_PASSED, E_PARTIES, E_OVER, E_UNDECIDED,
 * E_UNAVAILABLE, E_REPLICA, E_SAME_MASTER, E_NO_MASTER, E_CLOSED; or E_NAME, E_TTL, E_FORKED,
 * E_STATE (in a callback), E_ARGUMENT, E_MEMORY: then it has not arrived.  redlock_sync_cancel()
 * does not end it: give it a wait_ms.
 */
REDLOCK_API redlock_code redlock_sync_barrier_arrive(redlock_sync *client, const char *name,
                                                     const redlock_barrier_options *options,
                                                     redlock_barrier_result *passage,
                                                     redlock_sync_result *result);

/*
 * The calls about latches, as redlock_latch_create(), _arrive(), _await() and _count(): they wait
 * until they are told.
 *   tally   receives what is told; NULL if the code is enough.  The options may point into it, as
 *           options->id and options->arrival to what the call before has told
 * Returns tally->code; or E_NAME, E_FORKED, E_STATE (in a callback), E_ARGUMENT, E_MEMORY: then
 * nothing was done.  redlock_sync_cancel() does not end them: give them a wait_ms.
 */
REDLOCK_API redlock_code redlock_sync_latch_create(redlock_sync *client, const char *name,
                                                   const redlock_latch_options *options,
                                                   redlock_latch_result *tally,
                                                   redlock_sync_result *result);
REDLOCK_API redlock_code redlock_sync_latch_arrive(redlock_sync *client, const char *name,
                                                   const redlock_latch_options *options,
                                                   redlock_latch_result *tally,
                                                   redlock_sync_result *result);
REDLOCK_API redlock_code redlock_sync_latch_await(redlock_sync *client, const char *name,
                                                  const redlock_latch_options *options,
                                                  redlock_latch_result *tally,
                                                  redlock_sync_result *result);
REDLOCK_API redlock_code redlock_sync_latch_count(redlock_sync *client, const char *name,
                                                  const redlock_latch_options *options,
                                                  redlock_latch_result *tally,
                                                  redlock_sync_result *result);

/*
 * Frees the handle; of a reentrant lease that was acquired several times only the last call
 * does.  A lease that is still held is then released in the background.  The
 * call waits until the background thread has let go of the handle, which does not
 * take an answer of any master.  NULL is allowed.
 */
REDLOCK_API void redlock_sync_lease_free(redlock_sync_lease *lease);

#ifdef __cplusplus
}
#endif

#endif
