/*
 * redlock.h - distributed locks over N independent Redis masters, on any event loop.
 *
 * A lock is a lease: one or several names, held with a random token on a
 * quorum of the masters until a deadline that both sides can compute.  The
 * algorithm is the one published in the Redis documentation ("Distributed
 * Locks with Redis").  This library closes the holes that the usual
 * implementations leave; doc/design.md tells which and how.
 *
 * In short
 *   redlock_open()      starts a client, on a loop of libev or on a descriptor
 *   redlock_fd()        that descriptor, for poll() or any event loop
 *   redlock_process()   does what is to be done when it is readable
 *   redlock_acquire()   asks for a lease; the outcome comes to your callback
 *   redlock_lease_valid_for() how long the lease is good for, now
 *   redlock_lease_fence()     a number for the resource to refuse late holders by
 *   redlock_lease_slot()      of K permits, the one that the lease is
 *   redlock_lease_downgrade() makes a writer a reader; redlock_lease_upgrade() the other way
 *   redlock_lease_release()   gives the lease back
 *   redlock_close()     gives every lease back, then calls you
 *   redlock_node_get()  what is known of a master
 * All of leases is in redlock/leases.h; the masters and the counters are in
 * redlock/nodes.h.  This file includes both.
 *
 * Contract, for every function unless it says otherwise
 *   - Threads: a client and its leases belong to the thread that runs its
 *     loop.  redlock/sync.h has a client that any thread may use.  A lookup of a master's
 *     name runs in a thread that the library starts for it, with all signals blocked.
 *     Nothing that the library sends raises SIGPIPE.
 *   - Callbacks: the library calls them from the loop only (from redlock_process()
 *     if that is your loop), never from inside another function that you call (on_log
 *     is the exception).  Every function here but redlock_process() may be called
 *     inside a callback, also to free the handle that the callback is about.
 *   - Outcomes: each is reported exactly once; none after redlock_lease_free(),
 *     redlock_lease_detach() or redlock_free().
 *   - Order: calls about leases are carried out from the loop, 1,024 in a turn of it, so what a
 *     long burst of calls sends is written, and answers are read, before the burst is over; wait_ms
 *     and elapsed_ms count from then.  Calls about different leases have no order to rely on:
 *     redlock_lease_detach() goes before releases, and most of these before the others.
 *   - Handles must not be NULL.  Strings passed in are copied.  Strings handed out
 *     in an event live until the callback returns.
 *   - Functions that can fail return REDLOCK_OK (0) or a redlock_code.
 *   - Durations are milliseconds.  Validity is measured on CLOCK_BOOTTIME, so
 *     redlock_lease_valid_for() is 0 at once when a machine wakes from a long suspend.
 *     The LOST callback follows at once on a descriptor, whose timer counts suspend;
 *     on a loop of libev when that next wakes (libev's timers do not count it).
 *   - Failures of this machine: a master for which there is no descriptor, no
 *     memory, or no room in epoll is down, with a text that says so, and is tried
 *     again.  One failure remains on a loop of libev: libev, which this library shares
 *     with you, ends the process (abort) when it gets no memory for its own tables of
 *     watchers.  These tables are small, and grow when a client is opened and connects.
 *     A program that wants another end, or can find memory, gives libev an allocator
 *     (ev_set_allocator()); the library leaves that setting to the program.
 *   - fork(): the child holds nothing.  There every lease of the parent is
 *     valid for 0 ms, every call about a lease and redlock_node_adopt() fail with
 *     REDLOCK_E_FORKED, and so does redlock_process(), redlock_close() does nothing,
 *     and the two free functions work; the parent is undisturbed.  _Fork() and clone(2)
 *     are noticed as well (Linux 4.14 and later), unless the child shares its parent's
 *     memory: then it is a thread.
 *   - Snapshots: the moment at which a token is drawn goes into it, so that two
 *     machines that go on from one snapshot do not draw the same token.  A lease that
 *     a client of the snapshot holds, acquires or waits for exists on both machines:
 *     end such leases before the snapshot, or open the client after it.
 *   - Languages: C from C11 on, C++ from C++11 on; callbacks must not throw.
 */
#ifndef REDLOCK_H
#define REDLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define REDLOCK_VERSION_MAJOR 0
#define REDLOCK_VERSION_MINOR 1
#define REDLOCK_VERSION_PATCH 0
#define REDLOCK_VERSION       "0.1.0"

#if defined(__GNUC__)
#define REDLOCK_API      __attribute__((visibility("default")))
#define REDLOCK_MUST_USE __attribute__((warn_unused_result))
#else
#define REDLOCK_API
#define REDLOCK_MUST_USE
#endif

/* Limits. */
#define REDLOCK_NAME_MAX        1024 /* bytes of one name, prefix included */
#define REDLOCK_NAMES_MAX       64   /* names in one lease */
#define REDLOCK_MASTERS_MAX     15   /* masters of one client */
#define REDLOCK_LABEL_MAX       64   /* bytes of an owner label */
#define REDLOCK_TOKEN_SIZE      96   /* buffer for a token, its label and a final NUL */
#define REDLOCK_TOKENS_TOLD_MAX 600  /* tokens that one inspection can tell of each kind */

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
    X(E_UNDECIDED, UNAVAILABLE, "it is not known whether the barrier was passed")

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

/* The code's name ("REDLOCK_E_HELD"), its text in one line, its class.  The strings
 * are constants.  Any thread.  An unknown code gives "REDLOCK_E_UNKNOWN",
 * "unknown code", SYSTEM. */
REDLOCK_API const char *redlock_code_name(redlock_code code);
REDLOCK_API const char *redlock_code_text(redlock_code code);
REDLOCK_API redlock_class redlock_code_class(redlock_code code);

/* The number of masters that make a quorum of `masters` with `spare` spare votes (see
 * redlock_options).  Clients whose quorums are Q and R of N have one holder at most
 * while no more than Q + R - N - 1 masters are wrong.  Any thread. */
REDLOCK_API unsigned redlock_quorum(unsigned masters, unsigned spare);

/* Version of the library that runs, "major.minor.patch".  Any thread. */
REDLOCK_API const char *redlock_version(void);

/* ---- The client --------------------------------------------------------- */

typedef enum redlock_level {
    REDLOCK_LOG_ERROR = -2,   /* something needs an operator */
    REDLOCK_LOG_WARNING = -1, /* a master is away, or the configuration is risky */
    REDLOCK_LOG_INFO = 0,     /* a master is back */
    REDLOCK_LOG_DEBUG = 1
} redlock_level;

typedef enum redlock_restart_policy {
    /* A master that restarted abstains until every lease that it may have forgotten
     * has expired ("delayed restarts" in the Redis documentation). */
    REDLOCK_RESTART_ABSTAIN = 0,
    /* A master that restarted votes at once.  Use this only where every master has
     * each write on disk before it answers (appendfsync always). */
    REDLOCK_RESTART_TRUST = 1
} redlock_restart_policy;

/*
 * * Options of a client.  A field that is 0 has its default, also in a library newer than the
 * header that you compiled with.
 */
typedef struct redlock_options {
    size_t size; /* sizeof(redlock_options): it tells the versions apart */

    /* The masters, separated by commas or white space:
     *   redis://[user[:password]@]host[:port][/db]   [user[:password]@ also as :password@]
     *   rediss://...[?parameter=value&...]           the same under TLS; see tls_ca
     *   unix:///path/to/socket[?db=N]                user and password as above
     * User, password, path and value may be %-encoded.  NULL: nodes_file, else the
     * environment variable REDLOCK_NODES, else the file that REDLOCK_NODES_FILE names;
     * a set-user-ID program reads neither of the two variables.  The masters must be
     * independent, an odd number, usually 5: never replicas of each other, nor nodes
     * of a Redis Cluster, which stay DOWN.  See `spare` for what a wrong master can do.
     * The library wipes its copy of each password before it frees the memory; your
     * copy is for you to wipe. */
    const char *nodes;

    /* Stands behind the random token in the lock's value, so that a plain GET
     * shows the holder.  Printable ASCII without spaces, at most
     * REDLOCK_LABEL_MAX bytes.  NULL: "host:pid".  "": none. */
    const char *label;

    /* Put before every name to make the key.  NULL: none. */
    const char *prefix;

    /* The longest ttl that any lease of this client may ask for; it also sets
     * how long a restarted master abstains.  Keep it equal in all clients of
     * the same masters: the promise for restarted masters needs that.  (While you
     * change it, the client reckons with the longest max_ttl_ms that two masters, or
     * spare + 1 if that is more, were told of; with one or two masters, that any master
     * was told of.  Do not rely on this: masters may forget it.)  0: 30,000.  At most
     * 24 hours. */
    int64_t max_ttl_ms;

    /* Bound on how far clocks may run apart, as a share of the ttl; 2 ms are
     * always added (Redis documentation: CLOCK_DRIFT).  0: 0.01.  At most 0.25. */
    double drift_factor;

    /* How far the masters' wall clocks may disagree; added to the time that a
     * restarted master abstains.  0: 1,000.  REDLOCK_ZERO: they agree.  At most 24 hours. */
    int64_t clock_skew_ms;

    /* From the start of a connection (name lookup included) until the master
     * answered the first script.  0: 1,000.  At most one hour. */
    int64_t connect_timeout_ms;

    /* How long a master may answer nothing before a request that waits for it counts
     * as unanswered.  0: the larger of 50 ms and four measured round trips, and for
     * redlock_inspect() four times that.  At most one hour.  No request about a lease is
     * waited for longer than a quarter of the ttl. */
    int64_t request_timeout_ms;

    redlock_restart_policy restart_policy;

    /* Called once, when every master was either reached or tried in vain, or as
     * soon as the list is found to be wrong.  An acquire need not wait for it: the
     * acquire begins as soon as a quorum was reached, while one silent master delays
     * on_ready by connect_timeout_ms.
     * code: REDLOCK_OK when a quorum can vote; REDLOCK_E_UNAVAILABLE when no quorum
     * can (the client goes on trying); REDLOCK_E_REPLICA (a listed master is a replica),
     * REDLOCK_E_SAME_MASTER (one server is listed twice) or REDLOCK_E_NO_MASTER (a node of a
     * cluster, or several servers at one address) when so many entries of the list are wrong
     * that the others are no quorum.  Then every acquire, every barrier and every latch ends
     * with the same code, until a quorum was up once.  An entry that is wrong counts as a
     * master that is down: see REDLOCK_NODE_REFUSED.  text: lines that say which master does
     * not vote and why; may be "". */
    void (*on_ready)(redlock *client, redlock_code code, const char *text, void *data);

    /* Called for each message at or below log_level; text is one line without
     * a newline.  It is the only callback that may come from inside your own call: it
     * must not run the loop, and of this library it may call redlock_free() alone,
     * which takes effect afterwards, when the loop goes on. */
    void (*on_log)(redlock_level level, const char *text, void *data);
    redlock_level log_level; /* 0: REDLOCK_LOG_INFO */

    void *data; /* handed to on_ready, on_log and on_node */

    /* Spare votes: while no more than `spare` masters are wrong at once, whatever they
     * do, there is still at most one holder, and fences grow.  A master is wrong that
     * lies, or that forgets and goes on voting: FLUSHALL, eviction, a failover to an
     * empty replica, a wall clock that is stepped.  A master that forgot stays wrong
     * for max_ttl_ms * (1 + drift_factor) + clock_skew_ms (31.3 s); a master whose wall
     * clock was stepped, until the clock is right again and then that time or a minute,
     * whichever is longer.  Two masters that are wrong within that time count as two.
     * The quorum is (N + spare + 2) / 2, rounded down, so fewer masters may be dead:
     *     N = 4, spare 1: quorum 3, 1 dead      N = 7, spare 1: quorum 5, 2 dead
     *     N = 5, spare 1: quorum 4, 1 dead      N = 7, spare 2: quorum 5, 2 dead
     * 0 (the default): a plain majority, and with an odd N one wrong master can make
     * two holders.  With spare > 0 fewer than spare + 3 masters are refused
     * (E_ARGUMENT), and 3 spare + 1 are needed if locks are to go on while `spare` of
     * them refuse everything (on_log warns of fewer).  A replica or a server listed
     * twice is then refused alone, since it may be one master's lie, and no acquire
     * fails with E_REPLICA or E_SAME_MASTER.  A wrong master that, when the client
     * starts, claims to be another master takes that master's vote too.  Keep `spare`
     * equal in all clients, which nothing checks: two clients with different quorums Q
     * and R tolerate Q + R - N - 1 wrong masters (redlock_quorum()). */
    int spare;

    /* If nodes is NULL: the path of a file with the list, which redlock_open() reads,
     * so that no password stands in an environment or on a command line.  In the
     * file a # at the beginning of a line, or behind white space or a comma, begins a
     * comment.
     * When a master denies the login (WRONGPASS, NOAUTH), the thread that runs the loop
     * reads the file again before it connects anew.  The client takes the user and the
     * password that the file then has for that master: for the same host or path, port
     * and database, under TLS or not as before.  It takes nothing else, so a changed list
     * needs a new client.  A file that cannot be read, or lacks that master, changes
     * nothing, and on_log tells it once.  Let the path be absolute, and the file a plain
     * one that is replaced as a whole: a pipe is read once. */
    const char *nodes_file;

    /* Called when a master has come up or gone, or has begun or ceased to abstain:
     * redlock_node_get(client, node, …) gives its state now.  Changes that come
     * close together are told once.  NULL: not called. */
    void (*on_node)(redlock *client, unsigned node, void *data);

    /* This client asks for no lease: it looks (redlock_inspect(), redlock_node_get()).
     * It writes nothing on the masters and does not tell them its max_ttl_ms, by which
     * it only judges whether a master abstains.  A lease, a release by token and
     * redlock_node_adopt() are refused (E_ARGUMENT).  Default false. */
    bool looks_only;

    /* Of so many waiters, readers and holders of permits redlock_inspect() tells the tokens:
     * 1 to REDLOCK_TOKENS_TOLD_MAX, 0: 16. */
    int tokens_told;

    /* redlock_inspect() waits for the answer of every master that is connected, for as long as a
     * request may take, and not for a quorum alone.  Default false. */
    bool all_answers;

    /* TLS 1.2 or 1.3 to the masters that are listed as rediss://.  What stands in the list
     * (?ca=PATH&cert=PATH&key=PATH&name=HOST&sni=HOST&verify=none) goes before these options, and
     * these before the environment: REDLOCK_TLS_CA, _CERT, _KEY, _NAME, _SNI, _VERIFY, which a
     * set-user-ID program does not read.  A master must show a certificate for the name, of a CA
     * that is trusted, and valid now; else it is DOWN, with a text that says why.  The files are
     * read for each connection, a file of CAs if it has changed, so new ones are used from the next
     * connection on; they are read by the thread that runs the loop, and must be no pipes.  Let
     * their paths be absolute: a relative one is of the folder in which the process is by then, so
     * masters would go down at a reconnection after a chdir(), as daemons do it.  A build without
     * OpenSSL refuses rediss:// (E_NODES).
     *   tls_ca       the CAs that are trusted: a PEM file, or a folder as `openssl rehash` makes
     *                it.  NULL: those of the system.
     *   tls_cert, tls_key   for masters that want a certificate of the client: PEM files; the
     *                first with the certificates between it and its CA, the second without a
     *                passphrase.  A key may stand in the file of the certificate (tls_key NULL).
     *   tls_name     what the certificate must be for: a host or an address.  NULL: the host of
     *                the list.
     *   tls_sni      the name that is asked for (SNI).  NULL: that name, unless it is an address;
     *                "": none.
     *   tls_verify   "none": any certificate will do, so that whoever is on the way can read, and
     *                answer in the master's place.  NULL or "full": it is verified.
     * An option that no master of the list could use is refused (E_ARGUMENT). */
    const char *tls_ca, *tls_cert, *tls_key, *tls_name, *tls_sni, *tls_verify;
} redlock_options;

/*
 * Starts a client.  It begins to connect at once; nothing more is sent before its loop
 * runs.  Leases may be asked for at once.
 *
 *   client   receives the client, to be freed with redlock_free(); NULL on failure
 *   loop     a loop of libev, which must outlive the client.  The client keeps it alive
 *            (ev_ref) only while redlock_is_busy().
 *            NULL: the client has a loop of its own, and shows one descriptor, which
 *            any event loop can watch: redlock_fd().  (Where libev cannot make a loop,
 *            ev_loop_new() and ev_default_loop() return NULL too: look at that first.)
 *   options  NULL for the defaults
 *   why, why_size   a buffer and its bytes: receives a sentence on failure (which
 *            master, what is wrong); may be NULL, 0
 * Returns REDLOCK_OK, E_NODES, E_ARGUMENT, E_MEMORY, E_SYSTEM.
 */
REDLOCK_API REDLOCK_MUST_USE redlock_code redlock_open(redlock **client, struct ev_loop *loop,
                                                       const redlock_options *options, char *why,
                                                       size_t why_size);

/*
 * Orderly end: refuses new leases, cancels those being acquired, releases those
 * held, waits until every owed release was answered or `patience_ms` passed
 * (0: it does not wait; REDLOCK_FOREVER: without a limit), and then calls
 * `closed` once (may be NULL).  It connects at once to each master that is down.
 * A master that it could not connect to for half a second of the closing, with two
 * attempts at the least, is not waited for any more if a quorum of the others has given
 * the names back, so that anybody can have them.  While no quorum has, or once the
 * master is up again, it is waited for.
 *   left   number of releases that were still owed; the masters drop their keys
 *          when the ttl ends
 * The lease callbacks are called as usual meanwhile (RELEASED, NOT_ACQUIRED and
 * SEEN with E_CLOSED), and before `closed`: a release that is not confirmed by then
 * is RELEASED with E_UNAVAILABLE.  A second call is ignored, and so is a call in a
 * forked child.  The client must still be freed, in `closed` or later.
 */
REDLOCK_API void redlock_close(redlock *client, int64_t patience_ms,
                               void (*closed)(redlock *client, unsigned left, void *data),
                               void *data);

/*
 * Frees the client at once with all its leases, whose handles are dangling from
 * then on; no callback is called any more.  Inside a callback it takes effect when
 * the callback has returned.  Releases not yet sent are not sent: call
 * redlock_close() first, unless the process is ending anyhow.  NULL is allowed.  In
 * a forked child it closes the child's copies of the sockets and sends nothing.
 */
REDLOCK_API void redlock_free(redlock *client);

/* ---- Without libev --------------------------------------------------------
 *
 * A client that was opened with a NULL loop does nothing by itself.  Watch its
 * descriptor for reading, with poll() or with whatever your program has, and call
 * redlock_process() each time when it is readable:
 *
 *     struct pollfd ready = {.fd = redlock_fd(client), .events = POLLIN};
 *     while (!done && (poll(&ready, 1, -1) >= 0 || errno == EINTR) && !redlock_process(client))
 *         ;
 *
 * Watch it level-triggered, as poll() does: it stays readable while there is something
 * to do.  Nothing else is needed: there are no timers to set, for the descriptor is
 * readable as well when a lease has to be renewed or is lost, also when that came about
 * while the machine was suspended; and when you have asked for something outside of a
 * callback.  examples/ has such programs for poll(), libuv, libevent, GLib, sd-event
 * and Python's asyncio.  Link libevent before this library: libev, which comes with it, has
 * functions with the names of libevent's, and a program that gets those crashes.
 */

/*
 * The descriptor of the client, the same from redlock_open() until redlock_free(), and
 * close-on-exec.  It is the library's: watch it, for reading only; do not read from it,
 * close it, or replace it by dup2().  Stop watching it before redlock_free(); where a
 * callback calls redlock_free(), the descriptor is open until redlock_process() returns.
 * (What closes all descriptors, such as a function that makes a daemon, must come before
 * redlock_open().)
 * Returns -1 if the client runs on a loop of libev, and in a forked child.
 */
REDLOCK_API int redlock_fd(const redlock *client);

/*
 * Does all that is to be done now, and never waits: reads what the masters have sent, carries
 * out what you have asked for, calls your callbacks, writes to the masters.  May be called at
 * any time, whether the descriptor is readable or not; so whoever calls it right after
 * redlock_acquire() or another call saves a turn of the loop.  All calls must come from one
 * thread, that of the first; a build with assertions ends the program otherwise.
 *
 * Returns
 *   REDLOCK_OK   also if a callback has freed the client
 *   E_STATE      refused, and nothing was done: called inside a callback, or by another
 *                thread.  (A callback that runs your loop may let it call this: the
 *                descriptor stays readable meanwhile.)
 *   E_ARGUMENT   the client runs on a loop of libev
 *   E_FORKED     this is a forked child; nothing was done, or it was a callback that forked
 *   E_SYSTEM     your program has closed the descriptor.  What is due was done all the
 *                same, so leases end, and are told LOST to a program that goes on calling
 *                (nothing but poll() tells it to); but nothing that masters send is noticed:
 *                free the client.
 * A master whose connection your program has closed is down when that is noticed, and is
 * connected again.  If it has closed what makes the descriptor readable at a time, that is made
 * anew by the next call; until then only masters, and calls of yours, make it readable.
 */
REDLOCK_API redlock_code redlock_process(redlock *client);

/*
 * Milliseconds until redlock_process() must be called, if the descriptor does not become
 * readable earlier: 0: now; -1: never.  They are rounded up, and may be too few: then there
 * is nothing to do.  Nobody needs it who watches the descriptor, which is readable at that time;
 * it is for programs that want to sleep without looking at it, or to know how long they will.
 * Who sleeps so long without looking keeps a lease, but hears what masters answer at the end of the
 * sleep only: an acquire or a renewal then takes as long as a request may (request_timeout_ms), at
 * most a quarter of the ttl, and the validity that it brings is shorter by that.
 * The machine's suspend counts.  -1 also for a client on a loop of libev, and in a forked child.
 */
REDLOCK_API int redlock_next_timeout_ms(const redlock *client);

/*
 * True while the client waits for something besides its idle connections: a lease, a release
 * still owed, its first connections, a callback that is yet to be called.  A program that is to
 * end when nothing is left to do may go by it, as libuv's uv_ref() and uv_unref() can; a loop of
 * libev is kept alive just so long.  False in a forked child.
 */
REDLOCK_API bool redlock_is_busy(const redlock *client);

/* A sentence about the last call on this client that returned an error: what
 * was wrong and what to do.  Valid until the next call.  redlock_lease_place() and
 * redlock_node_get() leave no sentence, nor does E_FORKED for a handle of a lease. */
REDLOCK_API const char *redlock_last_error(const redlock *client);

#ifdef __cplusplus
}
#endif

#include "redlock/leases.h" /* leases: asking, holding, changing, giving back */
#include "redlock/nodes.h"  /* what is going on: the masters, the counters */

#endif
