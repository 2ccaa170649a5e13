/*
 * redlock.h - distributed locks over N independent Redis masters, on libev.
 *
 * A lock is a lease: one or several names, held with a random token on a
 * quorum of the masters until a deadline that both sides can compute.  The
 * algorithm is the one published in the Redis documentation ("Distributed
 * Locks with Redis").  This library closes the holes that the usual
 * implementations leave; doc/design.md tells which and how.
 *
 * In short
 *   redlock_open()      starts a client on your event loop
 *   redlock_acquire()   asks for a lease; the outcome comes to your callback
 *   redlock_valid_for() how long the lease is good for, now
 *   redlock_fence()     a number for the resource to refuse late holders by
 *   redlock_downgrade() makes a writer a reader; redlock_upgrade() the other way
 *   redlock_release()   gives the lease back
 *   redlock_close()     gives every lease back, then calls you
 *   redlock_node_get()  what is known of a master; it and the counters are in
 *                       redlock/nodes.h, which this file includes
 *
 * Contract, for every function unless it says otherwise
 *   - Threads: a client and its leases belong to the thread that runs its
 *     loop.  redlock/sync.h has a client that any thread may use.
 *   - Callbacks: the library calls them from the loop only, never from inside a
 *     function that you call (on_log is the exception).  Every function here may be
 *     called inside a callback, also to free the handle that the callback is about.
 *   - Outcomes: each is reported exactly once; none after redlock_lease_free(),
 *     redlock_detach() or redlock_free().
 *   - Handles must not be NULL.  Strings passed in are copied.  Strings handed out
 *     in an event live until the callback returns.
 *   - Functions that can fail return REDLOCK_OK (0) or a redlock_code.
 *   - Durations are milliseconds.  Validity is measured on CLOCK_BOOTTIME, so
 *     redlock_valid_for() is 0 at once when a machine wakes from a long suspend;
 *     the LOST callback follows when the loop next wakes (libev's timers do not
 *     count suspend).
 *   - Failures of this machine: a master for which there is no descriptor, no
 *     memory, or no room in epoll is down, with a text that says so, and is tried
 *     again.  One failure remains: libev, which this library shares with you, ends
 *     the process (abort) when it gets no memory for its own tables of watchers.
 *     These tables are small, and grow when a client is opened and when it connects.
 *     A program that wants another end, or can find memory, gives libev an allocator
 *     (ev_set_allocator()); the library leaves that setting to the program.
 *   - fork(): the child holds nothing.  There every lease of the parent is
 *     valid for 0 ms, every call about a lease and redlock_adopt() fail with
 *     REDLOCK_E_FORKED, redlock_close() does nothing, and the two free functions
 *     work; the parent is undisturbed.  _Fork() and clone(2) are noticed as well
 *     (Linux 4.14 and later), unless the child shares its parent's memory: then it
 *     is a thread.
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
#define REDLOCK_NAME_MAX    65536 /* bytes of one name, prefix included */
#define REDLOCK_NAMES_MAX   64    /* names in one lease */
#define REDLOCK_MASTERS_MAX 15    /* masters of one client */
#define REDLOCK_LABEL_MAX   64    /* bytes of an owner label */
#define REDLOCK_TOKEN_SIZE  96    /* buffer for a token, its label and a final NUL */

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
    X(E_GONE, LOST, "a quorum of masters no longer has the lease")                                 \
    X(E_MAX_HOLD, LOST, "the lease reached the longest time it may be held")                       \
    X(E_CANCELLED, ENDED, "cancelled")                                                             \
    X(E_CLOSED, ENDED, "the client is closing")                                                    \
    X(E_FORKED, MISUSE, "this process was forked from the one that owns the client")               \
    X(E_MEMORY, SYSTEM, "out of memory")                                                           \
    X(E_SYSTEM, SYSTEM, "a system call failed")

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
    REDLOCK_LOG_ERROR,   /* something needs an operator */
    REDLOCK_LOG_WARNING, /* a master is away, or the configuration is risky */
    REDLOCK_LOG_INFO,    /* a master is back */
    REDLOCK_LOG_DEBUG
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
 * Options of a client.  Start from REDLOCK_OPTIONS_INIT and change what you
 * need: a field left alone keeps its default, also in a library newer than the
 * header that you compiled with.
 */
typedef struct redlock_options {
    size_t size; /* set by REDLOCK_OPTIONS_INIT; tells the versions apart */

    /* The masters, separated by commas or white space:
     *   redis://[user[:password]@]host[:port][/db]   [user[:password]@ also as :password@]
     *   unix:///path/to/socket[?db=N]                user and password as above
     * User, password and path may be %-encoded.  NULL: nodes_file, else the
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
     * restarted master abstains.  Negative: 1,000.  At most 24 hours. */
    int64_t clock_skew_ms;

    /* From the start of a connection (name lookup included) until the master
     * answered the first script.  0: 1,000.  At most one hour. */
    int64_t connect_timeout_ms;

    /* How long a master may answer nothing before a request that waits for it counts
     * as unanswered.  0: the larger of 50 ms and four measured round trips.  At most
     * one hour.  No request is waited for longer than a quarter of the ttl. */
    int64_t request_timeout_ms;

    redlock_restart_policy restart_policy;

    /* Called once, when every master was either reached or tried in vain, or as
     * soon as the list is found to be wrong.  An acquire need not wait for it: the
     * acquire begins as soon as a quorum was reached, while one silent master delays
     * on_ready by connect_timeout_ms.
     * code: REDLOCK_OK when a quorum can vote; REDLOCK_E_UNAVAILABLE when no quorum
     * can (the client goes on trying); REDLOCK_E_REPLICA or REDLOCK_E_SAME_MASTER
     * when the list of masters is wrong, and then every acquire fails with the
     * same code.  text: lines that say which master does not vote and why; may be "". */
    void (*on_ready)(redlock *client, redlock_code code, const char *text, void *data);

    /* Called for each message at or below log_level; text is one line without
     * a newline.  It is the only callback that may come from inside your own call: it
     * must not run the loop, and of this library it may call redlock_free() alone,
     * which takes effect afterwards, when the loop goes on. */
    void (*on_log)(redlock_level level, const char *text, void *data);
    redlock_level log_level; /* default REDLOCK_LOG_INFO */

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

    /* If nodes is NULL: the path of a file with the list, which redlock_open() reads
     * once, so that no password stands in an environment or on a command line.  In the
     * file a # at the beginning of a line, or behind white space or a comma, begins a
     * comment. */
    const char *nodes_file;

    /* Called when a master has come up or gone, or has begun or ceased to abstain:
     * redlock_node_get(client, node, …) gives its state now.  Changes that come
     * close together are told once.  NULL: not called. */
    void (*on_node)(redlock *client, unsigned node, void *data);

    /* This client asks for no lease: it looks (redlock_inspect(), redlock_node_get()).
     * It writes nothing on the masters and does not tell them its max_ttl_ms, by which
     * it only judges whether a master abstains.  A lease, a release by token and
     * redlock_adopt() are refused (E_ARGUMENT).  Default false. */
    bool looks_only;
} redlock_options;

#ifndef __cplusplus
#define REDLOCK_OPTIONS_INIT                                                                       \
    {                                                                                              \
        .size = sizeof(redlock_options), .clock_skew_ms = -1, .log_level = REDLOCK_LOG_INFO        \
    }
#else /* C++ names no members before C++ 20 */
static inline redlock_options redlock_options_init()
{
    redlock_options options = redlock_options();
    options.size = sizeof options;
    options.clock_skew_ms = -1;
    options.log_level = REDLOCK_LOG_INFO;
    return options;
}
#define REDLOCK_OPTIONS_INIT redlock_options_init()
#endif

/*
 * Starts a client on `loop`, which must outlive it.  The client begins to connect
 * at once; nothing more is sent before the loop runs.  Leases may be asked for at
 * once.  The client keeps the loop alive (ev_ref) only while it waits for something
 * besides its idle connections: a lease, a release still owed, its first
 * connections.
 *
 *   client   receives the client, to be freed with redlock_free(); NULL on failure
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
 * (0: it does not wait; REDLOCK_FOREVER: until all are answered), and then calls
 * `closed` once (may be NULL).
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

/* ---- Leases ------------------------------------------------------------- */

typedef enum redlock_event_kind {
    REDLOCK_ACQUIRED,     /* the lease is yours for event->valid_ms */
    REDLOCK_NOT_ACQUIRED, /* final; event->code says why */
    REDLOCK_EXTENDED,     /* redlock_extend() succeeded */
    REDLOCK_NOT_EXTENDED, /* redlock_extend() failed; the lease is still valid for valid_ms */
    REDLOCK_AT_RISK,      /* still yours, but on a bare quorum, or a renewal missed the quorum */
    REDLOCK_HEALTHY,      /* no longer at risk */
    REDLOCK_LOST,         /* final; told valid_ms BEFORE the lease ends: stop now */
    REDLOCK_RELEASED,     /* final; event->code tells whether the lease was still yours */
    REDLOCK_SEEN,         /* the answer to redlock_inspect(); final */
    REDLOCK_CHANGED,    /* redlock_downgrade(): readers can come in.  redlock_upgrade(): from now on
                         * the lease is exclusive */
    REDLOCK_NOT_CHANGED /* redlock_upgrade() failed; the lease is what it was */
} redlock_event_kind;

/* The answer of one master. */
typedef enum redlock_vote_kind {
    REDLOCK_VOTE_NONE,        /* not asked, or the round was decided before the answer */
    REDLOCK_VOTE_GRANTED,     /* acquire, renewal: the master has the lease */
    REDLOCK_VOTE_HEALED,      /* renewal: the master had lost the lease and took it again */
    REDLOCK_VOTE_HELD,        /* another holder has the name: see holder, remaining_ms */
    REDLOCK_VOTE_FREE,        /* renewal, release, inspect: no holder has the name */
    REDLOCK_VOTE_RELEASED,    /* release: the lease was still ours and is given back */
    REDLOCK_VOTE_REFUSED,     /* the master answered with an error: see text */
    REDLOCK_VOTE_TIMEOUT,     /* no answer in time; what the master did is unknown */
    REDLOCK_VOTE_UNREACHABLE, /* no connection, none that may be used yet (the master is mute), or
                               * lost before the answer: see text */
    REDLOCK_VOTE_ABSTAINS     /* the master restarted; it votes again in remaining_ms */
} redlock_vote_kind;

#define REDLOCK_READERS "redlock:shared" /* the value of a name that is shared */

typedef struct redlock_vote {
    const char *node; /* the master, as "127.0.0.1:7101"; never with its password */
    redlock_vote_kind kind;
    const char *holder;   /* HELD: value of the key (token, label); NULL unknown; for readers,
                           * who share the name, REDLOCK_READERS */
    int64_t remaining_ms; /* HELD: left of the holder's ttl, -1 unknown, -2 never expires */
    const char *text;     /* REFUSED, UNREACHABLE: why; else "" */
    unsigned waiting;     /* HELD, of redlock_inspect(): number of waiters for the name */
    const char *waiters;  /* likewise the tokens of the first 16, one a line; else "" */
    unsigned readers;     /* HELD, of redlock_inspect(): number of readers; 0: held exclusively */
    const char *reader_tokens; /* likewise the tokens of 16 of them, one a line; else "" */
} redlock_vote;

/* "granted", "held", …; "acquired", "lost", …: constants.  Any thread. */
REDLOCK_API const char *redlock_vote_name(redlock_vote_kind kind);
REDLOCK_API const char *redlock_event_name(redlock_event_kind kind);

typedef struct redlock_event {
    redlock_event_kind kind;
    redlock_code code;         /* REDLOCK_OK, or the reason */
    unsigned masters;          /* N */
    unsigned quorum;           /* (N + spare + 2) / 2 */
    unsigned granted;          /* masters that have the lease and are connected, as far as known
                                * at this moment.  It may be below the quorum, also at ACQUIRED,
                                * when connections broke after the grant; the grants stand, and
                                * valid_ms counts them.  SEEN: see redlock_inspect() */
    int64_t valid_ms;          /* validity left when the event was made; 0 once it is over */
    unsigned rounds;           /* rounds that this acquire took so far */
    int64_t elapsed_ms;        /* since the call that asked for the lease */
    int64_t fence;             /* of a fenced lease, from ACQUIRED on; else 0 */
    const redlock_vote *votes; /* one for each master, in the order of the list */
    const char *text;          /* one line for people: what happened and why */
    unsigned spare;            /* options.spare: the number of masters that may be wrong at once */
    int64_t ends_ms;           /* LOST: as valid_ms, but negative if LOST is told late (the process
                                * was stopped, the machine asleep): the time since the lease ended.
                                * With E_GONE it may have ended earlier.  Else valid_ms. */
} redlock_event;

/* `event` and all that it points to live until the callback returns; `data` is yours. */
typedef void redlock_callback(redlock_lease *lease, const redlock_event *event, void *data);

/*
 * Options of one lease; start from REDLOCK_LEASE_INIT.
 */
typedef struct redlock_lease_options {
    size_t size; /* set by REDLOCK_LEASE_INIT */

    /* How long the masters keep the lease unless it is renewed; at most
     * max_ttl_ms.  Default 10,000.  Short ttls free a crashed holder's lock
     * sooner, long ones ride out longer outages.  A lease that was handed over in
     * memory (see wait_ms) is valid for no longer than this from then on; but the
     * masters keep it for the ttl of its former holder, if that was longer, until it
     * is released. */
    int64_t ttl_ms;

    /* How long to wait while others hold the lease: first come, first served among
     * the waiters of all clients, and the release hands it over.  The waiters of one
     * client share: a lease is handed over among them in memory for 50 ms after the
     * masters gave it to the client (10 ms if a hundred handovers were made by then; where
     * the masters are far away four round trips, at most 500 ms; longer only if the next
     * waiter is first on the masters too), and a waiter that comes up to 50 ms after
     * another drew a place in the queue may use that place.  A client that reaches no
     * quorum has no place in the queue until it does.  0: one try.  REDLOCK_FOREVER:
     * until cancelled (redlock_release()). */
    int64_t wait_ms;

    /* LOST is told this long before the lease ends, and ACQUIRED only if more
     * than this is left.  Choose the time that you need to stop.  Negative:
     * ttl/20, but at least 10 ms and at most ttl/4. */
    int64_t margin_ms;

    /* No renewal later than this after the lease was acquired, so that a leaked
     * handle cannot hold a lock for ever.  0: no cap. */
    int64_t max_hold_ms;

    /* The library renews the lease: about ttl/3 after the last renewal, sooner if that
     * would leave less than half of the time up to LOST.  Default true.  If false, the
     * lease ends (LOST) unless redlock_extend() is called. */
    bool renew;

    /* The lease has a fencing token, see redlock_fence().  Default false: a plain
     * lease costs the masters less. */
    bool fence;

    /* The lease has all its names shared: see redlock_name.  Default false. */
    bool shared;
} redlock_lease_options;

#define REDLOCK_FOREVER INT64_MAX
#ifndef __cplusplus
#define REDLOCK_LEASE_INIT                                                                         \
    {                                                                                              \
        .size = sizeof(redlock_lease_options), .ttl_ms = 10000, .margin_ms = -1, .renew = true     \
    }
#else
static inline redlock_lease_options redlock_lease_init()
{
    redlock_lease_options options = redlock_lease_options();
    options.size = sizeof options;
    options.ttl_ms = 10000;
    options.margin_ms = -1;
    options.renew = true;
    return options;
}
#define REDLOCK_LEASE_INIT redlock_lease_init()
#endif

/* A name is 1 to REDLOCK_NAME_MAX bytes, prefix included, of any value; with the
 * prefix it must not begin with "redlock:".  Readers have a name shared, a writer has it
 * exclusively: while a lease has it exclusively no other lease has it, and while leases
 * have it shared no lease has it exclusively.  A waiting writer keeps new readers out, and
 * readers that are next to each other in the queue get the name together.
 *
 * Start from REDLOCK_NAME_INIT, or from an initialiser: a member that you do not set must be 0,
 * for `shared` is read of every name of a lease. */
typedef struct redlock_name {
    const void *bytes;
    size_t length;
    bool shared; /* not used by redlock_release_token() and redlock_inspect() */
} redlock_name;

#define REDLOCK_NAME_INIT                                                                          \
    {                                                                                              \
        NULL, 0, false                                                                             \
    }

/*
 * Asks for a lease on one name (a C string), or on several names at once
 * (all or none; the order does not matter, duplicates are refused).
 *
 * Sends SET name token NX PX ttl (several names, a fence, a wait, a shared name: one script) to
 * all masters in parallel.  `callback` gets ACQUIRED or NOT_ACQUIRED, once; after ACQUIRED any
 * number of AT_RISK, HEALTHY, EXTENDED, NOT_EXTENDED, CHANGED, NOT_CHANGED; then LOST, RELEASED, or
 * LOST and, after a redlock_release(), RELEASED.  ACQUIRED is told only if a quorum granted the
 * lease and now < valid_until - margin, tested last, immediately before the callback.  The code of
 * NOT_ACQUIRED is E_HELD, E_UNAVAILABLE, E_TOO_SLOW, E_CANCELLED, E_CLOSED, E_REPLICA,
 * E_SAME_MASTER or E_MEMORY.
 *
 *   lease     receives the handle; free it with redlock_lease_free()
 *   options   NULL for the defaults
 *   callback  required; `data` is handed to it
 * Returns REDLOCK_OK (the outcome follows), or at once E_NAME, E_TTL,
 * E_ARGUMENT, E_MEMORY, E_CLOSED, E_FORKED; then *lease is NULL and the
 * callback is never called.  redlock_last_error() has the sentence.
 */
REDLOCK_API REDLOCK_MUST_USE redlock_code redlock_acquire(redlock *client, redlock_lease **lease,
                                                          const char *name,
                                                          const redlock_lease_options *options,
                                                          redlock_callback *callback, void *data);
REDLOCK_API REDLOCK_MUST_USE redlock_code redlock_acquire_names(
    redlock *client, redlock_lease **lease, const redlock_name *names, size_t count,
    const redlock_lease_options *options, redlock_callback *callback, void *data);

/*
 * Takes charge of a lease that another process acquired, by its token (see
 * redlock_token(), redlock_detach()): renews it on all masters, without ever
 * setting it where it is gone.  The callback gets ACQUIRED if a quorum still had the
 * lease, NOT_ACQUIRED with E_GONE if not; a failed attach leaves the lease as it is.
 * Otherwise as redlock_acquire_names(); wait_ms is not used.  A name that the lease
 * has shared must be given as shared, or the lease counts as gone.  The lease keeps the
 * fence that it was acquired with, which only its first holder knows: E_ARGUMENT if
 * options->fence is set.
 */
REDLOCK_API REDLOCK_MUST_USE redlock_code redlock_attach(redlock *client, redlock_lease **lease,
                                                         const redlock_name *names, size_t count,
                                                         const char *token,
                                                         const redlock_lease_options *options,
                                                         redlock_callback *callback, void *data);

/*
 * Gives back, by its token, a lease that another process acquired.  The
 * callback gets RELEASED once, as after redlock_release().  The handle is to be
 * freed; returns as redlock_acquire_names().
 */
REDLOCK_API REDLOCK_MUST_USE redlock_code
redlock_release_token(redlock *client, redlock_lease **lease, const redlock_name *names,
                      size_t count, const char *token, redlock_callback *callback, void *data);

/*
 * Asks every master for the holder of the names and for their waiters, and changes
 * nothing.  The callback gets SEEN once: code OK if a quorum answered, else
 * E_UNAVAILABLE, or E_CLOSED, or E_REPLICA, E_SAME_MASTER where the list is wrong;
 * `granted` is the largest number of masters that name the same holder (of the first
 * name that is held there).  A master that abstains may have forgotten a holder: if
 * it has none, it counts as not answered, and its vote is ABSTAINS.  The call ends
 * once a quorum agrees on the holder, or that all names are free, and the other
 * masters have had as long again: the vote of a silent master is NONE.  The handle
 * is to be freed; returns as redlock_acquire_names().
 */
REDLOCK_API REDLOCK_MUST_USE redlock_code redlock_inspect(redlock *client, redlock_lease **lease,
                                                          const redlock_name *names, size_t count,
                                                          redlock_callback *callback, void *data);

/* A sentence about the last call on this client that returned an error: what
 * was wrong and what to do.  Valid until the next call.  redlock_place_get() and
 * redlock_node_get() leave no sentence, nor does E_FORKED for a handle of a lease. */
REDLOCK_API const char *redlock_last_error(const redlock *client);

/*
 * Validity left, in ms rounded down; 0 when the lease is not held: not yet,
 * not any more, being released; 0 for NULL.  It reads CLOCK_BOOTTIME at each call, so
 * it is right even when the loop is late.  Call it before each step that needs the
 * lock: a lease is not a mutex that waits for you.
 */
REDLOCK_API int64_t redlock_valid_for(const redlock_lease *lease);

/*
 * The lease's fencing token, for the protected resource to check: a holder that
 * paused past its lease may still write, and only the resource can refuse it
 * (doc/fencing.md has how, for files, SQL, Redis and object stores).
 *
 * A positive integer below 2^53, larger than every fence told before to a holder
 * of any of the names: if one acquire had ended before another sent its first
 * request, its fence is the smaller one, whatever clocks, delays, pauses and expiry
 * do.  Readers that have a name at the same time may have equal fences.  It is the same for all
 * names of the lease, and renewals do not change it; redlock_upgrade() does.
 * Fences grow across restarts of masters while the masters' wall clocks agree within
 * clock_skew_ms, and while no more masters are wrong than options.spare: with 0 and
 * an odd number of masters a single FLUSHALL, eviction, failover or lie may let the
 * fence go back, as it may make two holders.
 *
 * 0 before ACQUIRED was told, for a lease that asked for no fence, and for NULL.  It
 * stays readable until the handle is freed.
 */
REDLOCK_API int64_t redlock_fence(const redlock_lease *lease);

typedef struct redlock_place {
    unsigned position;  /* number of waiters ahead, in this client and on the masters */
    int64_t expires_ms; /* until the holder's lease expires unless renewed; -1 unknown or never */
} redlock_place;

/*
 * The place in the queue of a lease that is being acquired, as the masters told it at
 * the last refresh (each second or so).  The call takes time that grows with the
 * number of waiters of this client.
 * Returns REDLOCK_OK, or E_STATE if the lease is not in the queue: not yet, not any
 * more, or while no quorum of masters answers; E_FORKED.
 */
REDLOCK_API redlock_code redlock_place_get(const redlock_lease *lease, redlock_place *place);

/*
 * Renews now, with a new ttl if `ttl_ms` > 0 (it then counts for later renewals
 * too).  EXTENDED or NOT_EXTENDED (E_UNAVAILABLE, E_MAX_HOLD) follows, or LOST or
 * RELEASED in its place.  While an upgrade is under way the renewal waits for its end.
 * Returns REDLOCK_OK, E_STATE if the lease is not held or an extend is already
 * under way, E_TTL (also below 0), E_FORKED.
 */
REDLOCK_API redlock_code redlock_extend(redlock_lease *lease, int64_t ttl_ms);

/*
 * Makes a writer a reader: from this call on the lease has all its names shared, and
 * keeps writers out without a gap.  Nothing can make it fail; with the masters it is a
 * renewal, also of a lease that does not renew itself, and past max_hold_ms.  Readers
 * that wait come in as the masters hear of it.  CHANGED follows once a quorum has, or
 * LOST or RELEASED in its place; a renewal that misses the quorum is repeated.  The
 * fence stays.
 * Returns REDLOCK_OK, E_STATE if the lease is not held, has all its names shared
 * already, or if a change is under way; E_FORKED.
 */
REDLOCK_API redlock_code redlock_downgrade(redlock_lease *lease);

/*
 * Makes a reader the writer, if on a quorum of masters it is the only reader: one try
 * that never waits, for two readers that both waited for the other to leave would wait
 * for ever.  Until CHANGED is told the lease is a reader's, as before.  CHANGED: all its
 * names are exclusive, and event->valid_ms counts the masters alone that said so.
 * NOT_CHANGED: it is still a reader, all the time; the code is E_HELD (others read one of
 * the names), E_UNAVAILABLE (too few masters answered, or on too many the renewal after a
 * downgrade, or after NOT_CHANGED, was lost with its connection), E_MAX_HOLD or E_MEMORY.
 * LOST or RELEASED may follow in its place.  NOT_CHANGED is followed by a renewal, also of
 * a lease that does not renew itself: it lets other readers in again where a master had
 * said yes.  Nothing is renewed during an upgrade, so do not call this again and again from
 * the callback: let time pass.  Writers that wait are passed, for they wait for this reader
 * anyhow.  A fenced lease has a new, larger fence from CHANGED on: readers that came later
 * have larger ones than it had.
 * Returns REDLOCK_OK, E_STATE if the lease is not held, has no name shared, was taken over
 * by redlock_attach() (what its former holder sent may yet arrive), or if a change is
 * under way; E_FORKED.
 */
REDLOCK_API redlock_code redlock_upgrade(redlock_lease *lease);

/* The lease has a name shared: it was asked for so, or was made so by a downgrade.
 * After an upgrade it says so until CHANGED is told.  Ask redlock_valid_for() as well:
 * a lease that is not held any more may say anything.  False for NULL. */
REDLOCK_API bool redlock_is_shared(const redlock_lease *lease);

/*
 * Ends validity at once.  Then the lease goes to the next waiter of this client
 * in memory, or the release to every master that may have the lease.  RELEASED
 * follows, with code
 *   REDLOCK_OK             a quorum confirmed that the lease was still ours, or it
 *                          was handed over in memory, still valid, to the next waiter
 *                          of this client: there was no other holder before
 *   REDLOCK_E_GONE         the lease was not ours any more on a quorum, or LOST had
 *                          been told already
 *   REDLOCK_E_UNAVAILABLE  too few masters answered in time to tell; the release
 *                          stays owed and is repeated in the background
 * A release of a lease that is still being acquired cancels it (NOT_ACQUIRED,
 * E_CANCELLED).  After LOST it speeds the cleaning up, and RELEASED follows too.
 * Returns REDLOCK_OK, or E_STATE after NOT_ACQUIRED, RELEASED or a first call, and
 * for a handle of redlock_inspect() or redlock_release_token(); E_FORKED.
 */
REDLOCK_API redlock_code redlock_release(redlock_lease *lease);

/*
 * Frees the handle and leaves the lease to its ttl, for another process to
 * redlock_attach() or redlock_release_token().  No callback is called any more.
 * Returns REDLOCK_OK, or E_STATE if the lease is not held, or was downgraded or upgraded,
 * be it in vain (what was sent about that may yet arrive, and only this client knows), or
 * E_FORKED; after an error the handle lives on.
 */
REDLOCK_API redlock_code redlock_detach(redlock_lease *lease);

/*
 * Frees the handle, in any state, inside its own callback too.  A lease that is
 * held or being acquired is released in the background (a lease that is still being
 * attached is left as it is); a lease that was LOST is given back when its validity
 * has ended.  NULL is allowed.
 */
REDLOCK_API void redlock_lease_free(redlock_lease *lease);

/* The token that the masters hold for this lease, with its label; "" before the
 * first round.  It changes with every round of an acquire.  A lease that is handed
 * over in memory among the waiters of one client keeps its token: do not use the
 * token of a lease that you have released.  The string lives as long as the handle;
 * its text is stable once ACQUIRED was told. */
REDLOCK_API const char *redlock_token(redlock_lease *lease);

#ifdef __cplusplus
}
#endif

#include "redlock/nodes.h" /* what is going on: the masters, the counters */

#endif
