/*
 * redlock.h - distributed locks over N independent Redis masters, for threads and event loops.
 *
 * A program that takes a lock, in a thread that waits.  The masters: REDLOCK_NODES.
 *
 *     #include <redlock.h>
 *     #include <stdio.h>
 *
 *     int main(void)
 *     {
 *         redlock_sync *client;
 *         redlock_sync_lease *lease;
 *         if (redlock_sync_open(&client, NULL, NULL, 0) != REDLOCK_OK)
 *             return 1;
 *         bool mine = redlock_sync_acquire(client, &lease, "report", NULL, NULL) == REDLOCK_OK;
 *         if (mine && redlock_sync_lease_valid_for(lease) > 1000)
 *             puts("a step of work, shorter than 1,000 ms");
 *         redlock_sync_lease_free(lease);   // gives the lease back
 *         redlock_sync_close(client, 1000); // waits until the masters have it
 *         redlock_sync_free(client);
 *         return !mine;
 *     }
 *
 * On an event loop a callback gets the outcome.  Here poll() is the loop.
 *
 *     #include <poll.h>
 *     #include <redlock.h>
 *     #include <stdio.h>
 *
 *     static bool mine, over;
 *     static void on_event(redlock_lease *lease, const redlock_event *event, void *data)
 *     {
 *         (void)data;
 *         if (event->kind == REDLOCK_ACQUIRED) {
 *             mine = true;
 *             puts("a step of work, shorter than event->valid_ms");
 *             redlock_lease_release(lease);
 *         } else if (event->kind == REDLOCK_RELEASED || event->kind == REDLOCK_NOT_ACQUIRED) {
 *             redlock_lease_free(lease);
 *             over = true;
 *         }
 *     }
 *
 *     int main(void)
 *     {
 *         redlock *client;
 *         redlock_lease *lease;
 *         if (redlock_open(&client, NULL, NULL, NULL, 0) != REDLOCK_OK)
 *             return 1;
 *         over = redlock_acquire(client, &lease, "report", NULL, on_event, NULL) != REDLOCK_OK;
 *         struct pollfd ready = {redlock_fd(client), POLLIN, 0};
 *         for (; !over; redlock_process(client))
 *             poll(&ready, 1, -1);
 *         redlock_free(client);
 *         return !mine;
 *     }
 *
 * A lock is a lease: one name or several, held with a random token on a quorum of the masters
 * until a deadline that both sides can compute.  Reasons: design.md, in share/doc/redlock as well.
 * This file includes redlock/leases.h, look.h (who holds what), nodes.h (masters, counters) and
 * sync.h (for threads that wait); redlock/recipes.h has elections, barriers and latches.
 *
 * Contract, for every function unless its text says otherwise
 *   - Structs: each one that you allocate begins with its size: `= {.size = sizeof options}`, or in
 *     C++ `= {}` and `options.size = sizeof options`.  A field that is 0 has its default.  A size
 *     that no version had, and a number out of its range, are refused (E_ARGUMENT).
 *   - Threads: a client and its leases belong to the thread that runs its loop.  Lookups of names
 *     run in threads of the library, which block all signals.  Nothing here raises SIGPIPE.
 *   - Callbacks come from the loop only, never from inside your own call (except on_log).  They may
 *     call every function here except redlock_process(), and may free the handle they are about.
 *   - Outcomes: each comes once, none after redlock_lease_free(), _detach() or redlock_free().
 *   - Order: the loop carries out calls about leases, 1,024 in a turn.  wait_ms and elapsed_ms
 *     count from that moment.  Calls about different leases have no order.
 *   - Handles must not be NULL.  The library copies strings that you pass in.  Strings in an event
 *     live until the callback returns.  Functions that can fail return a redlock_code.
 *   - Time: durations are milliseconds.  Validity is measured on CLOCK_BOOTTIME, so a lease is over
 *     when a machine wakes from a long suspend.  LOST follows at once on a descriptor, and later on
 *     a loop of libev, whose timers do not count suspend.
 *   - Shortage: without a descriptor or memory for a master, that master is down; the library tries
 *     again.  libev aborts the process without memory for its tables; see ev_set_allocator().
 *   - fork(): the child holds nothing.  There each lease is valid for 0 ms, calls fail with
 *     E_FORKED, redlock_close() does nothing, and the free functions work.  The library notices
 *     _Fork() and clone(2) too, unless the child shares the memory of its parent.
 *   - Snapshots: two machines that go on from one snapshot draw different tokens, but both have the
 *     leases of the snapshot: end these before, or open the client after.
 *   - Languages: C from C99 on, C++ from C++11 on; callbacks must not throw.
 */
#ifndef REDLOCK_H
#define REDLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define REDLOCK_VERSION_MAJOR 0
#define REDLOCK_VERSION_MINOR 2
#define REDLOCK_VERSION_PATCH 0
#define REDLOCK_VERSION       "0.2.0"

#ifdef __cplusplus
#define REDLOCK_LINKAGE extern "C"
#else
#define REDLOCK_LINKAGE
#endif

#if defined(__GNUC__)
#define REDLOCK_API      REDLOCK_LINKAGE __attribute__((visibility("default")))
#define REDLOCK_MUST_USE __attribute__((warn_unused_result))
#else
#define REDLOCK_API REDLOCK_LINKAGE
#define REDLOCK_MUST_USE
#endif

/* Limits. */
#define REDLOCK_NAME_MAX       1024 /* bytes of one name, prefix included */
#define REDLOCK_NAMES_MAX      64   /* names in one lease */
#define REDLOCK_MASTERS_MAX    15   /* masters of one client */
#define REDLOCK_LABEL_MAX      64   /* bytes of an owner label */
#define REDLOCK_TOKEN_SIZE     96   /* buffer for a token, its label and a final NUL */
#define REDLOCK_LOCAL_TURN_MAX 500  /* milliseconds, see local_turn_ms */

/* Stands for the number 0 in a field whose 0 is its default. */
#define REDLOCK_ZERO (-1)

/* A client: its connections to the masters, and its leases. */
typedef struct redlock redlock;

/* One lease, from the call that asks for it until redlock_lease_free(). */
typedef struct redlock_lease redlock_lease;

struct ev_loop; /* libev's; include <ev.h> to make one */

/* ---- Codes --------------------------------------------------------------
 *
 * One table makes the enum, the names and the texts.  Classes:
 *   MISUSE       the call or the configuration is wrong; to try again does not help
 *   CONTENDED    another holder has the lock: an outcome, not a failure
 *   UNAVAILABLE  no quorum of masters could be asked
 *   LOST         the lease was held, and is not held any more
 *   ENDED        you ended the lease or the client yourself
 *   SYSTEM       this machine lacked memory, or a system call failed
 */
#define REDLOCK_CODES(X)                                                                           \
    X(OK, OK, "ok")                                                                                \
    X(E_ARGUMENT, MISUSE, "an argument is not valid")                                              \
    X(E_NODES, MISUSE, "the list of masters cannot be used")                                       \
    X(E_NAME, MISUSE, "the name of the lock cannot be used")                                       \
    X(E_TTL, MISUSE, "the ttl cannot be used")                                                     \
    X(E_STATE, MISUSE, "the lease is not in a state that allows this call")                        \
    X(E_REPLICA, MISUSE, "a listed master is a replica")                                           \
    X(E_SAME_MASTER, MISUSE, "one master is listed twice")                                         \
    X(E_HELD, CONTENDED, "another holder has the lock")                                            \
    X(E_UNAVAILABLE, UNAVAILABLE, "no quorum of masters could be asked")                           \
    X(E_TOO_SLOW, UNAVAILABLE, "the masters answered too late for the lease to be of use")         \
    X(E_EXPIRED, LOST, "the lease was not renewed before its validity ended")                      \
    X(E_GONE, LOST, "no quorum of masters has it any more: it expired, was given back or broken")  \
    X(E_MAX_HOLD, LOST, "the lease reached the longest time it may be held")                       \
    X(E_CANCELLED, ENDED, "cancelled")                                                             \
    X(E_CLOSED, ENDED, "the client is closing")                                                    \
    X(E_FORKED, MISUSE, "this process was forked from the one that owns the client")               \
    X(E_MEMORY, SYSTEM, "out of memory")                                                           \
    X(E_SYSTEM, SYSTEM, "a system call failed")                                                    \
    X(E_NOT_PASSED, CONTENDED, "too few parties arrived at the barrier")                           \
    X(E_PARTIES, CONTENDED, "others wait at the barrier for another number of parties")            \
    X(E_NOT_OPEN, CONTENDED, "too few have arrived at the latch")                                  \
    X(E_NO_MASTER, MISUSE, "a listed address is not one independent master")                       \
    X(E_OVER, CONTENDED, "the barrier is past this generation")                                    \
    X(E_UNDECIDED, UNAVAILABLE, "it is not known whether the barrier was passed")                  \
    X(E_DIFFERS, MISUSE, "other clients of the fleet count on other masters")                      \
    X(E_OVERLOAD, UNAVAILABLE, "the masters are behind with what this client asks of them")

typedef enum redlock_code {
#define REDLOCK_CODE_ENUM(name, class, text) REDLOCK_##name,
    REDLOCK_CODES(REDLOCK_CODE_ENUM)
#undef REDLOCK_CODE_ENUM
} redlock_code;

typedef enum redlock_class {
    REDLOCK_CLASS_OK,
    REDLOCK_CLASS_MISUSE,
    REDLOCK_CLASS_CONTENDED,
    REDLOCK_CLASS_UNAVAILABLE,
    REDLOCK_CLASS_LOST,
    REDLOCK_CLASS_ENDED,
    REDLOCK_CLASS_SYSTEM
} redlock_class;

/* The name of a code ("REDLOCK_E_HELD"), its text in one line, its class.  The strings are
 * constants.  Any thread.  An unknown code gives "REDLOCK_E_UNKNOWN", "unknown code", SYSTEM. */
REDLOCK_API const char *redlock_code_name(redlock_code code);
REDLOCK_API const char *redlock_code_text(redlock_code code);
REDLOCK_API redlock_class redlock_code_class(redlock_code code);

/* The number of masters that make a quorum of `masters` with `spare` spare votes, see
 * redlock_options.  Clients with quorums Q and R of N masters have at most one holder while no more
 * than Q + R - N - 1 masters are wrong.  Any thread. */
REDLOCK_API unsigned redlock_quorum(unsigned masters, unsigned spare);

/* Version of the library that runs, "major.minor.patch".  Any thread. */
REDLOCK_API const char *redlock_version(void);

/* ---- The client --------------------------------------------------------- */

typedef enum redlock_level {
    REDLOCK_LOG_ERROR = -2,   /* an operator must act */
    REDLOCK_LOG_WARNING = -1, /* a master is away, or the configuration is risky */
    REDLOCK_LOG_INFO = 0,
    REDLOCK_LOG_DEBUG = 1
} redlock_level;

typedef enum redlock_restart_policy {
    /* A restarted master abstains until every lease that it may have forgotten has expired. */
    REDLOCK_RESTART_ABSTAIN = 0,
    /* It votes at once.  Only where every master has each write on disk before it answers. */
    REDLOCK_RESTART_TRUST = 1
} redlock_restart_policy;

typedef struct redlock_options {
    size_t size; /* sizeof(redlock_options) */

    /* The masters, separated by commas or white space:
     *   redis://[user[:password]@]host[:port][/db]   [user[:password]@ also as :password@]
     *   rediss://...[?parameter=value&...]           the same under TLS; see tls_ca
     *   unix:///path/to/socket[?db=N]                user and password as above
     *   host:port                                    as redis://host:port; [::1]:6379 for IPv6
     * User, password, path and value may be %-encoded.  NULL: nodes_file, else the environment
     * variable REDLOCK_NODES, else the file that REDLOCK_NODES_FILE names, else `config`.  A
     * set-user-ID program reads no variable.  The masters must be independent, an odd number,
     * usually 5: never replicas of each other, nor nodes of a Redis Cluster, which stay DOWN.
     * The library wipes its copy of each password before it frees it. */
    const char *nodes;

    /* The end of each token, so that a plain GET shows the holder: printable ASCII without spaces,
     * at most REDLOCK_LABEL_MAX bytes.  NULL: "host:pid".  "": none. */
    const char *label;

    /* Put before every name to make the key.  NULL: none. */
    const char *prefix;

    /* Clients of one fleet count on the same masters.  A client whose list is over, or unsafe
     * beside an earlier one, gets E_DIFFERS, and renews nothing.  NULL: the prefix.  "": none. */
    const char *fleet;

    /* The longest ttl that a lease of this client may have, 1 ms to 24 hours; 0: 30,000.  A
     * restarted master abstains for as long.  Its promise needs the same one in all clients. */
    int64_t max_ttl_ms;

    /* Bound on how far clocks may run apart, as a share of the ttl, at most 0.25; 0: 0.01.
     * 2 ms are always added (Redis documentation: CLOCK_DRIFT). */
    double drift_factor;

    /* How far the wall clocks of the masters may disagree, at most 24 hours; 0: 1,000;
     * REDLOCK_ZERO: they agree.  A restarted master abstains for that much longer. */
    int64_t clock_skew_ms;

    /* From the start of a connection, name lookup included, until the master has answered hello; a
     * master that lacks the scripts has three times as long more.  At most one hour, 0: 1,000. */
    int64_t connect_timeout_ms;

    /* How long a master may answer nothing before a request counts as unanswered, at most one hour.
     * 0: the larger of 50 ms and four measured round trips, and four times that for a look, or an
     * acquire that no quorum answers.  Requests about leases wait no longer than ttl / 4. */
    int64_t request_timeout_ms;

    redlock_restart_policy restart_policy;

    /* Called once, when the client has reached each master or tried in vain, or as soon as the list
     * is found to be wrong.  An acquire need not wait for it.
     *   code   REDLOCK_OK: a quorum can vote.  E_UNAVAILABLE: none can, and the client goes on
     *          trying.  E_REPLICA, E_SAME_MASTER, E_NO_MASTER: the list leaves no quorum, and each
     *          acquire ends with that code until a quorum was up once.  E_DIFFERS: see fleet
     *   text   lines that say which master does not vote, and why; may be "" */
    void (*on_ready)(redlock *client, redlock_code code, const char *text, void *data);

    /* Called for each message at or below log_level, of one line.  It may come from inside your own
     * call, must not run the loop, and may call redlock_free() alone, which acts afterwards. */
    void (*on_log)(redlock_level level, const char *text, void *data);
    redlock_level log_level; /* 0: REDLOCK_LOG_INFO */
    void *data;              /* handed to on_ready, on_log and on_node */

    /* Spare votes: while no more than `spare` masters are wrong at once, there is at most one
     * holder, and fences grow.  A wrong master lies, or forgets and goes on voting (FLUSHALL, a
     * failover to an empty replica, a stepped wall clock): see redlock(7).
     * The quorum is (N + spare + 2) / 2, rounded down, so fewer masters may be dead:
     *     N = 4, spare 1: quorum 3, 1 dead      N = 7, spare 1: quorum 5, 2 dead
     *     N = 5, spare 1: quorum 4, 1 dead      N = 7, spare 2: quorum 5, 2 dead
     * 0: a plain majority; with an odd N one wrong master can make two holders.  Fewer than
     * spare + 3 masters are refused.  With spare votes a replica, or a server listed twice, is
     * refused alone.  Set the same in all clients. */
    int spare;

    /* The path of a file with the list, which redlock_open() reads if nodes is NULL.  In it a # at
     * the beginning of a line, or behind white space or a comma, begins a comment.
     * When a master denies the login (WRONGPASS, NOAUTH), the loop's thread reads the file again.
     * It takes the login of that master alone (another list: redlock_relist()).  A file that cannot
     * be read changes nothing; on_log says so once.  Give an absolute path; replace it whole. */
    const char *nodes_file;

    /* A master has come up or gone, or has begun or ceased to abstain: see redlock_node_get(); or
     * redlock_successor() is news. */
    void (*on_node)(redlock *client, unsigned node, void *data);

    /* This client asks for no lease.  It writes nothing on the masters, and does not tell them its
     * max_ttl_ms.  Leases, a release by token and redlock_node_adopt() are refused. */
    bool looks_only;

    /* TLS 1.2 or 1.3 to the masters that are listed as rediss://.  Parameters in the list
     * (?ca=PATH&cert=PATH&key=PATH&name=HOST&sni=HOST&verify=none) go before these options.  They
     * go before REDLOCK_TLS_CA, _CERT, _KEY, _NAME, _SNI, _VERIFY of the environment, which a
     * set-user-ID program does not read.  A master is DOWN if its certificate is not for the name,
     * not of a trusted CA, or not valid now.  The loop's thread reads the files for each
     * connection: new files count from the next connection on.  Give absolute paths, and no pipes.
     *   tls_ca       trusted CAs: a PEM file, or an `openssl rehash` folder.  NULL: the system's.
     *   tls_cert, tls_key   the client's certificate with those between it and its CA, and its key
     *                without a passphrase: PEM files.  tls_key NULL: the key is in tls_cert.
     *   tls_name     the host or address in the master's certificate.  NULL: the host of the list.
     *   tls_sni      the name to ask for (SNI).  NULL: tls_name, unless an address.  "": none.
     *   tls_verify   "none": any certificate will do, so anybody on the way can read and answer.
     *                NULL or "full": the client verifies the certificate.
     * Refused: an option that no master can use (E_ARGUMENT), rediss:// without OpenSSL. */
    const char *tls_ca, *tls_cert, *tls_key, *tls_name, *tls_sni, *tls_verify;

    /* How fair the waiters of this client are to those of others.
     *   0             fast: a lease goes on in memory among the waiters of this client, see wait_ms
     *   1 to 500      it goes on for that number of ms; a waiter may use the place of a waiter that
     *                 came that much earlier, but at most 50 ms
     *   REDLOCK_ZERO  strict: no lease goes on in memory, and each waiter has a place of its own.
     * No lease of this client passes a waiter that a quorum had in the queue when it was asked for;
     * a waiter is there two round trips after the call.  Strict order costs a master about a
     * request a second per waiter, and a handover a round trip.  Set it in all clients alike. */
    int64_t local_turn_ms;

    /* A file of settings for what is left open above: see FILES in redlock(1).  NULL: no file is
     * read.  "": the file that REDLOCK_CONFIG names, else /etc/redlock.conf if there is one.
     * An option goes before its variable, and that before the file.  With `config` the variables
     * REDLOCK_PREFIX, _LABEL, _SPARE and _MAX_TTL count, too; a spare of REDLOCK_ZERO is 0.  Faults
     * are refused (E_ARGUMENT, E_NODES): `why` begins with FILE:LINE.  Logins: as in nodes_file. */
    const char *config;

    /* Of redlock_sync_open() alone: a client whose list is over goes to redlock_successor(), as by
     * redlock_sync_relist() with these options, and logs that.  Then nodes_file and config, which
     * may have the former list still, are read for logins alone.  0: yes; REDLOCK_ZERO: no. */
    int64_t follow;
} redlock_options;

/* Starts a client, which begins to connect at once.  You may ask for leases at once.
 *   client   receives the client, to be freed with redlock_free(); NULL on failure
 *   loop     a loop of libev, which must outlive the client.  The client keeps it alive (ev_ref)
 *            only while redlock_is_busy().  NULL: the client shows a descriptor, redlock_fd()
 *   options  NULL for the defaults
 *   why, why_size   a buffer and its bytes, for a sentence on failure; may be NULL, 0
 * Returns REDLOCK_OK, E_NODES, E_ARGUMENT, E_MEMORY, E_SYSTEM. */
REDLOCK_API REDLOCK_MUST_USE redlock_code redlock_open(redlock **client, struct ev_loop *loop,
                                                       const redlock_options *options, char *why,
                                                       size_t why_size);

/* Orderly end: refuses new leases, cancels acquires, and releases the leases that are held.  It
 * calls `closed` (may be NULL) once, when each owed release was answered or `patience_ms` passed
 * (0: at once; REDLOCK_FOREVER: no limit).  Once a quorum of the others has given the names back,
 * it does not wait for a master that it cannot reach for half a second.  `left` is the number of
 * releases still owed; these keys go when their ttl ends.  Callbacks of leases come before
 * `closed`: NOT_ACQUIRED with E_CLOSED, RELEASED (E_UNAVAILABLE: not confirmed).  A second call can
 * only shorten the patience.  In a forked child it does nothing.  Free it in `closed` or later. */
REDLOCK_API void redlock_close(redlock *client, int64_t patience_ms,
                               void (*closed)(redlock *client, unsigned left, void *data),
                               void *data);

/* Another list of masters takes this client's place (change.md): `to` is a client of it on the same
 * thread.  Leases that are held or wait go there as by redlock_lease_move(), tried until they have;
 * a wait that never can is cancelled.  Observers, and calls that wait at barriers and latches, go
 * over with the rest of their time.  A party may be undecided there.  New calls get E_CLOSED.  Then
 * the client closes; you still free it.  redlock_close() ends what is left, with its own `closed`.
 * If `to` is freed or closed first, the rest stays.  Clients that were left for this one are left
 * for `to` from now on.  Returns as redlock_may_move(), also for these; E_CLOSED, E_FORKED. */
REDLOCK_API redlock_code redlock_relist(redlock *client, redlock *to,
                                        void (*closed)(redlock *client, unsigned left, void *data),
                                        void *data);

/* The list in place of this one, as a quorum of masters tells it alike, for redlock_open() and
 * redlock_relist().  NULL: none, or a master has no TLS and all of ours do.  on_node tells when it
 * changes.  A new master gets login and TLS of one of the same host, else of the first: if a
 * quorum lies, your passwords may go to any host.  It lives until the loop runs again. */
REDLOCK_API const char *redlock_successor(redlock *client);

/* Frees the client and all its leases at once; no callback comes any more.  In a callback it takes
 * effect when that has returned.  Unsent releases stay unsent: close it first.  NULL is allowed. */
REDLOCK_API void redlock_free(redlock *client);

/* ---- Without libev: watch redlock_fd() for reading, level-triggered, and call redlock_process()
 * when it is readable, as the program at the head does.  You set no timers: the descriptor becomes
 * readable when a lease must be renewed or is lost, and after your calls.  See examples/loops for
 * libuv, libevent (link it first: libev has functions of its names), GLib, sd-event and asyncio. */

/* The descriptor, the same until redlock_free(), and close-on-exec: do not read, close or replace
 * it.  Stop watching it before redlock_free(); in a callback it stays open until redlock_process()
 * returns.  A program that closes all descriptors, as daemons do, does so before redlock_open().
 * -1 for a client on a loop of libev, and in a forked child. */
REDLOCK_API int redlock_fd(const redlock *client);

/* Reads the answers of the masters, carries out your calls, calls your callbacks, writes to the
 * masters, and never waits.  Call it at any time, from one thread.  Returns
 *   REDLOCK_OK   also if a callback has freed the client
 *   E_STATE      nothing was done: called inside a callback, or by another thread
 *   E_ARGUMENT   the client runs on a loop of libev
 *   E_FORKED     this is a forked child; nothing was done, or it was a callback that forked
 *   E_SYSTEM     your program has closed the descriptor.  Due work was done, so leases end and LOST
 *                comes; but the client hears no master any more: free it. */
REDLOCK_API redlock_code redlock_process(redlock *client);

/* Milliseconds, rounded up, until redlock_process() must be called if the descriptor does not
 * become readable earlier; suspend counts.  0: now.  -1: never; a loop of libev; a forked child.
 * If you watch the descriptor you do not need this.  A program that only sleeps for this time keeps
 * its leases, but an acquire or renewal takes up to request_timeout_ms. */
REDLOCK_API int redlock_next_timeout_ms(const redlock *client);

/* True while the client waits for something besides idle connections: a lease, an owed release, its
 * first connections, a callback to come.  False in a forked child. */
REDLOCK_API bool redlock_is_busy(const redlock *client);

/* A sentence about the last call on this client that returned an error: what was wrong and what to
 * do.  Valid until the next call.  E_FORKED for a handle of a lease leaves no sentence. */
REDLOCK_API const char *redlock_last_error(const redlock *client);

#include "redlock/leases.h"
#include "redlock/look.h"
#include "redlock/nodes.h"
#include "redlock/sync.h"

#endif
