/*
 * redlock/testing.h - masters inside the process, for tests of programs that use redlock.
 *
 * Link libredlock-testing in the place of libredlock (pkg-config redlock-testing), and give the
 * client nodes = "memory://5", or set REDLOCK_NODES to that.  There is no server and no socket: the
 * real client speaks with a model of a master, which is held against real servers.  A page with
 * five tests: testing.md.
 *
 *     redlock_testing_begin(REDLOCK_TESTING_VIRTUAL);
 *     redlock_options options = {.size = sizeof options, .nodes = "memory://5"};
 *     redlock_open(&client, NULL, &options, NULL, 0);
 *     redlock_acquire(client, &lease, "report", NULL, on_event, NULL);
 *     redlock_testing_advance(0);     // on_event has got ACQUIRED
 *     redlock_testing_kill(0);
 *     redlock_testing_advance(20000); // 20 s later, at once
 *
 * This header is not part of the API that stays: it may change with any version.
 *
 * Contract
 *   - The masters belong to the process, and there are REDLOCK_MASTERS_MAX of them.  memory://N is
 *     the first N.  A forked child has a copy of its own.
 *   - A master has an index from 0, as for redlock_node_get().  A key is a name with the prefix of
 *     the client before it.
 *   - Real time is usual: any event loop, threads, redlock/sync.h.  Then each function may be
 *     called by any thread.  In virtual time they belong to the thread that began it, which has all
 *     clients.  On another one, calls that wait and redlock_sync_open() fail (E_STATE), and the
 *     free functions of redlock/sync.h do nothing.
 *   - A function that does nothing, as its arguments or the moment are wrong, returns a code, and
 *     redlock_testing_why() has the sentence.
 *   - A client learns of what befalls a master as from a server: by its connection, on its loop.
 */
#include "../redlock.h"

#ifndef REDLOCK_TESTING_H
#define REDLOCK_TESTING_H

#ifdef __cplusplus
extern "C" {
#endif

typedef enum redlock_testing_time {
    REDLOCK_TESTING_REAL = 0,
    /* Time stands until redlock_testing_advance().  A client takes its turns there, and nowhere
     * else: the loop that redlock_open() is given is not used, and it shows no descriptor.
     *   A call of redlock/sync.h that waits lets time go on by itself, to one due moment after the
     * other, and returns at that of its outcome.  There is no background thread: callbacks come
     * from inside such calls and redlock_testing_advance().  A wait that nothing ends is over
     * after 25 hours, longer than any lease that nobody renews: its client is closed. */
    REDLOCK_TESTING_VIRTUAL = 1
} redlock_testing_time;

/* Begins a test: all masters are up, as if for a day, they know nothing, and nothing has befallen
 * them.  Without this call the masters begin so, in real time.  E_STATE: a client is still there;
 * free it first.  E_ARGUMENT: there is no such time. */
REDLOCK_API redlock_code redlock_testing_begin(redlock_testing_time time);

/* Virtual time goes on by `ms`, 0 or more, to which the clients have their turns: each callback
 * comes from inside this call, at the very moment that is due.  At each moment all that is ready is
 * done before time goes on, and a message takes no time.  With 0 what can be done now is done.
 * E_STATE: time is real, or another thread's; this was called in a callback; or the clients never
 * come to rest, as when each callback asks again at once.  E_ARGUMENT: `ms` is below 0, or above 10
 * years. */
REDLOCK_API redlock_code redlock_testing_advance(int64_t ms);

/* Virtual time since redlock_testing_begin(), in ms, rounded down; 0 in real time. */
REDLOCK_API int64_t redlock_testing_now_ms(void);

/* ---- What befalls a master.  E_ARGUMENT: there is no such master. -------------------------- */

/* Its process is killed: connections end, and no new one is taken. */
REDLOCK_API redlock_code redlock_testing_kill(unsigned master);

/* It starts again, after it was killed or not: with all its data, or with none.  Then it abstains,
 * as restarted masters do: see redlock_options.restart_policy. */
REDLOCK_API redlock_code redlock_testing_restart(unsigned master, bool with_data);

/* True: it takes connections and commands, and answers nothing.  False: it carries out what it got
 * meanwhile, also of clients that have gone.  E_STATE: it was killed, and cannot hang. */
REDLOCK_API redlock_code redlock_testing_hang(unsigned master, bool hangs);

/* True: nothing passes on the way to it, or back.  False: what is still under way arrives. */
REDLOCK_API redlock_code redlock_testing_cut(unsigned master, bool cut);

/* It loses all data and goes on, as by FLUSHALL. */
REDLOCK_API redlock_code redlock_testing_forget(unsigned master);

/* True: it gives a name to each client that asks, also if another holder has it. */
REDLOCK_API redlock_code redlock_testing_lie(unsigned master, bool lies);

/* Its wall clock is set forward by `ms`, or back.  E_ARGUMENT also beyond 10 years. */
REDLOCK_API redlock_code redlock_testing_step_clock(unsigned master, int64_t ms);

/* ---- Another holder.  These act on each master that is up, does not hang, and is not cut off.
 * E_UNAVAILABLE: there is none.  E_ARGUMENT: `key` is NULL, "" or too long, or there are too many
 * names at once (511). ---- */

/* Another client takes the key for `ttl_ms` (1 ms to 24 hours), and renews nothing.
 * E_HELD: somebody has it on one of the masters; nothing is changed then. */
REDLOCK_API redlock_code redlock_testing_hold(const char *key, int64_t ttl_ms);

/* It gives the key back, to the first waiter if somebody waits.  E_STATE: it does not have it. */
REDLOCK_API redlock_code redlock_testing_give(const char *key);

/* The key is taken from whoever has it, and no renewal brings it back, as by `redlock break`.  It
 * goes to the first waiter.  E_STATE: nobody has it. */
REDLOCK_API redlock_code redlock_testing_break(const char *key);

/* A sentence about the last call of this thread that returned an error; "" before. */
REDLOCK_API const char *redlock_testing_why(void);

#ifdef __cplusplus
}
#endif

#endif
