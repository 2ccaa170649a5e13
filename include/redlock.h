/*
 * redlock.h - distributed locks over N independent Redis masters, on libev.
 *
 * A lock is a lease: one or several names, held with a random token on a
 * quorum of the masters until a deadline that both sides can compute.  The
 * algorithm is the one published in the Redis documentation ("Distributed
 * Locks with Redis"), with the holes that its usual implementations leave
 * closed; doc/design.md tells which and how.
 *
 * In short
 *   redlock_open()      starts a client on your event loop
 *   redlock_acquire()   asks for a lease; the outcome comes to your callback
 *   redlock_valid_for() how long the lease is good for, now
 *   redlock_fence()     a number for the resource to refuse late holders by
 *   redlock_release()   gives it back
 *   redlock_close()     gives everything back, then tells you
 *
 * Contract, for every function unless it says otherwise
 *   - Threads: a client and its leases belong to the thread that runs its
 *     loop.  redlock/sync.h has a client that any thread may use.
 *   - Callbacks: never called from inside a function that you call, only from
 *     the loop; every function here may be called inside a callback, freeing
 *     what the callback is about included.
 *   - Outcomes: each is reported exactly once; none after redlock_lease_free()
 *     or redlock_free().
 *   - Strings passed in are copied.  Strings handed out in an event live until
 *     the callback returns.
 *   - Functions that can fail return REDLOCK_OK (0) or a redlock_code.
 *   - Durations are milliseconds.  Validity is measured on CLOCK_BOOTTIME, so
 *     redlock_valid_for() is 0 at once when a machine wakes from a long suspend;
 *     the LOST callback follows when the loop next wakes (libev's timers do not
 *     count suspend).
 *   - fork(): the child holds nothing.  There every lease of the parent is
 *     valid for 0 ms and every call but the two free functions fails; the
 *     parent is undisturbed.
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
 *   MISUSE       the call or the configuration is wrong; it will not get better
 *   CONTENDED    somebody else holds the lock: an outcome, not a failure
 *   UNAVAILABLE  no quorum of masters could be asked
 *   LOST         the lease was held, and is no more
 *   ENDED        you ended it yourself
 *   SYSTEM       this machine could not do it
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
    X(E_EXPIRED, LOST, "the lease could not be renewed before its validity ended")                 \
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

/* The code's name ("REDLOCK_E_HELD"), its text in one line, its class.  Any
 * thread.  An unknown code gives "REDLOCK_E_UNKNOWN", "unknown code", SYSTEM. */
REDLOCK_API const char *redlock_code_name(redlock_code code);
REDLOCK_API const char *redlock_code_text(redlock_code code);
REDLOCK_API redlock_class redlock_code_class(redlock_code code);

/* Version of the library that runs, "major.minor.patch".  Any thread. */
REDLOCK_API const char *redlock_version(void);

/* ---- The client --------------------------------------------------------- */

typedef enum redlock_level {
    REDLOCK_LOG_ERROR,   /* something needs an operator */
    REDLOCK_LOG_WARNING, /* a master is away, a lease is at risk */
    REDLOCK_LOG_INFO,    /* a master is back */
    REDLOCK_LOG_DEBUG
} redlock_level;

typedef enum redlock_restart_policy {
    /* A master that restarted abstains until every lease it may have forgotten
     * has expired ("delayed restarts" in the Redis documentation). */
    REDLOCK_RESTART_ABSTAIN = 0,
    /* It votes at once.  Only where every write is on disk before it is
     * answered (appendfsync always) on every master. */
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
     * User, password and path may be %-encoded.  NULL: the environment variable
     * REDLOCK_NODES.  Independent masters, an odd number, usually 5: never
     * replicas of each other. */
    const char *nodes;

    /* Stands behind the random token in the lock's value, so that a plain GET
     * tells who holds it.  Printable ASCII without spaces, at most
     * REDLOCK_LABEL_MAX bytes.  NULL: "host:pid".  "": none. */
    const char *label;

    /* Put before every name to make the key.  NULL: none. */
    const char *prefix;

    /* The longest ttl that any lease of this client may ask for; it also sets
     * how long a restarted master abstains.  Keep it equal in all clients of
     * the same masters: the promise for restarted masters needs that (the
     * largest one that two masters were told counts, or one of at most two, which
     * helps while you change it, but masters may forget it).  0: 30,000.  At most
     * 24 hours. */
    int64_t max_ttl_ms;

    /* Bound on how far clocks may run apart, as a share of the ttl; 2 ms are
     * always added (Redis documentation: CLOCK_DRIFT).  0: 0.01.  At most 0.25. */
    double drift_factor;

    /* How far the masters' wall clocks may disagree; added to the time that a
     * restarted master abstains.  Negative: 1,000. */
    int64_t clock_skew_ms;

    /* From the start of a connection (name lookup included) until the master
     * answered the first script.  0: 1,000. */
    int64_t connect_timeout_ms;

    /* How long a master may answer nothing before a request that waits for it counts
     * as unanswered.  0: the larger of 50 ms and four measured round trips.  No
     * request is waited for longer than a quarter of the ttl. */
    int64_t request_timeout_ms;

    redlock_restart_policy restart_policy;

    /* Called once, when every master was either reached or tried in vain, or as
     * soon as the list is found to be wrong.
     * code: REDLOCK_OK when a quorum can vote; REDLOCK_E_UNAVAILABLE when not
     * (the client goes on trying); REDLOCK_E_REPLICA or REDLOCK_E_SAME_MASTER
     * when the list of masters is wrong, and then every acquire fails with the
     * same code.  text: one or more lines that say which master and why. */
    void (*on_ready)(redlock *client, redlock_code code, const char *text, void *data);

    /* Called for each message at or below log_level; text is one line without
     * a newline.  The only callback that may come from inside your own call;
     * it must not call this library. */
    void (*on_log)(redlock_level level, const char *text, void *data);
    redlock_level log_level; /* default REDLOCK_LOG_INFO */

    void *data; /* handed to on_ready and on_log */
} redlock_options;

#define REDLOCK_OPTIONS_INIT                                                                       \
    {                                                                                              \
        .size = sizeof(redlock_options), .clock_skew_ms = -1, .log_level = REDLOCK_LOG_INFO        \
    }

/*
 * Starts a client on `loop`, which must outlive it.  It begins to connect at
 * once; nothing more is sent before the loop runs.  Leases may be asked for at
 * once.  The client keeps the loop alive (ev_ref) only while it has something to
 * wait for besides its idle connections: a lease, a release still owed, its first
 * connections.
 *
 *   client   receives the client; NULL on failure
 *   options  NULL for the defaults
 *   why, why_size   receives a sentence on failure (which node, what is wrong);
 *            may be NULL, 0
 * Returns REDLOCK_OK, E_NODES, E_ARGUMENT, E_MEMORY, E_SYSTEM.
 */
REDLOCK_API REDLOCK_MUST_USE redlock_code redlock_open(redlock **client, struct ev_loop *loop,
                                                       const redlock_options *options, char *why,
                                                       size_t why_size);

/*
 * Orderly end: refuses new leases, cancels those being acquired, releases those
 * held, waits until every owed release was answered or `patience_ms` passed
 * (0: do not wait), and then calls `closed` once (may be NULL).
 *   left   number of releases that were still owed; their keys go when their
 *          ttl ends
 * The lease callbacks are called as usual meanwhile (RELEASED, NOT_ACQUIRED
 * with E_CLOSED), and before `closed`: what is not confirmed by then is RELEASED
 * with E_UNAVAILABLE.  A second call is ignored, and so is one in a forked child.
 * The client must still be freed, in `closed` or later.
 */
REDLOCK_API void redlock_close(redlock *client, int64_t patience_ms,
                               void (*closed)(redlock *client, unsigned left, void *data),
                               void *data);

/*
 * Frees the client at once with all its leases, whose handles are dangling from
 * then on; no callback is called any more.  Releases not yet sent are not sent:
 * call redlock_close() first, unless the process is ending anyhow.  NULL is
 * allowed.  In a forked child it closes the child's copies of the sockets and
 * sends nothing.
 */
REDLOCK_API void redlock_free(redlock *client);

/* ---- Leases ------------------------------------------------------------- */

typedef enum redlock_event_kind {
    REDLOCK_ACQUIRED,     /* the lease is yours for event->valid_ms */
    REDLOCK_NOT_ACQUIRED, /* final; event->code says why */
    REDLOCK_EXTENDED,     /* redlock_extend() succeeded */
    REDLOCK_NOT_EXTENDED, /* it did not; the lease is still valid for valid_ms */
    REDLOCK_AT_RISK,      /* still yours, but on a bare quorum, or a renewal missed it */
    REDLOCK_HEALTHY,      /* no longer at risk */
    REDLOCK_LOST,         /* final; told valid_ms BEFORE the lease ends: stop now */
    REDLOCK_RELEASED,     /* final; event->code tells whether it was still yours */
    REDLOCK_SEEN          /* the answer to redlock_inspect(); final */
} redlock_event_kind;

/* What one master had to say. */
typedef enum redlock_vote_kind {
    REDLOCK_VOTE_NONE,        /* not asked, or decided before it answered */
    REDLOCK_VOTE_GRANTED,     /* acquire, renewal: it has the lease */
    REDLOCK_VOTE_HEALED,      /* renewal: it had lost the lease and took it again */
    REDLOCK_VOTE_HELD,        /* another holder: see holder, remaining_ms */
    REDLOCK_VOTE_FREE,        /* renewal, release: nobody has the name;  inspect: it is free */
    REDLOCK_VOTE_RELEASED,    /* release: it was still ours and is given back */
    REDLOCK_VOTE_REFUSED,     /* it answered with an error: see text */
    REDLOCK_VOTE_TIMEOUT,     /* no answer in time; what it did is unknown */
    REDLOCK_VOTE_UNREACHABLE, /* no connection, or lost before the answer: see text */
    REDLOCK_VOTE_ABSTAINS     /* it restarted; remaining_ms until it votes again */
} redlock_vote_kind;

typedef struct redlock_vote {
    const char *node; /* "127.0.0.1:7101", as it should be shown: no password */
    redlock_vote_kind kind;
    const char *holder;   /* HELD: value of the key (token, label); NULL unknown */
    int64_t remaining_ms; /* HELD: left of its ttl, -1 unknown, -2 never expires */
    const char *text;     /* REFUSED, UNREACHABLE: why; else "" */
} redlock_vote;

/* "granted", "held", …  Any thread. */
REDLOCK_API const char *redlock_vote_name(redlock_vote_kind kind);
REDLOCK_API const char *redlock_event_name(redlock_event_kind kind);

typedef struct redlock_event {
    redlock_event_kind kind;
    redlock_code code;         /* OK, or why not */
    unsigned masters;          /* N */
    unsigned quorum;           /* N/2 + 1 */
    unsigned granted;          /* masters that have the lease, as far as known at this moment */
    int64_t valid_ms;          /* validity left when the event was made; 0 once it is over */
    unsigned rounds;           /* rounds that this acquire took so far */
    int64_t elapsed_ms;        /* since the call that asked for it */
    int64_t fence;             /* of a fenced lease, from ACQUIRED on; else 0 */
    const redlock_vote *votes; /* one for each master, in the order of the list */
    const char *text;          /* one line for people: what happened and why */
} redlock_event;

typedef void redlock_callback(redlock_lease *lease, const redlock_event *event, void *data);

/*
 * Options of one lease; start from REDLOCK_LEASE_INIT.
 */
typedef struct redlock_lease_options {
    size_t size; /* set by REDLOCK_LEASE_INIT */

    /* How long the masters keep the lease unless it is renewed; at most
     * max_ttl_ms.  Default 10,000.  Short ttls free a crashed holder's lock
     * sooner, long ones ride out longer outages. */
    int64_t ttl_ms;

    /* How long to stand in line while others hold it: first come, first served among
     * the waiters of all clients, handed over by whoever releases it.  The waiters
     * of one client share: a lease is handed on among them in memory for 50 ms after
     * the client was given it (10 ms if that was a hundred times by then; where the
     * masters are far away four round trips, at most 500 ms; longer only if the next
     * one is first on the masters too), and one that comes up to 50 ms after another
     * drew a place in line may use that place.  A client that reaches no quorum stands
     * in line nowhere until it does.  0: one try.  REDLOCK_FOREVER: until cancelled
     * (redlock_release()). */
    int64_t wait_ms;

    /* LOST is told this long before the lease ends, and ACQUIRED only if more
     * than this is left.  Give it the time that you need to stop.  Negative:
     * ttl/20, but at least 10 ms and at most ttl/4. */
    int64_t margin_ms;

    /* No renewal later than this after the lease was acquired, so that a leaked
     * handle cannot hold a lock for ever.  0: no cap. */
    int64_t max_hold_ms;

    /* Renewed automatically: about ttl/3 after the last time, sooner if that would
     * leave less than half of the time up to LOST.  Default true.  Without it the
     * lease ends (LOST) unless redlock_extend() is called. */
    bool renew;

    /* With a fencing token, see redlock_fence().  Default false: a plain lease
     * costs the masters less. */
    bool fence;
} redlock_lease_options;

#define REDLOCK_FOREVER INT64_MAX
#define REDLOCK_LEASE_INIT                                                                         \
    {                                                                                              \
        .size = sizeof(redlock_lease_options), .ttl_ms = 10000, .margin_ms = -1, .renew = true     \
    }

/* A name is bytes, any bytes: 1 to REDLOCK_NAME_MAX of them, prefix included,
 * not beginning with "redlock:". */
typedef struct redlock_name {
    const void *bytes;
    size_t length;
} redlock_name;

/*
 * Asks for a lease on one name (a C string), or on several names at once
 * (all or none; the order does not matter, duplicates are refused).
 *
 * Sends SET name token NX PX ttl (several names, or a fence: one script) to all
 * masters in parallel.  `callback` gets ACQUIRED or NOT_ACQUIRED, once; after ACQUIRED any
 * number of AT_RISK, HEALTHY, EXTENDED; then one of LOST or RELEASED.  ACQUIRED
 * is told only if a quorum granted it and now < valid_until - margin, tested
 * last, immediately before the callback.
 *
 *   lease     receives the handle; free it with redlock_lease_free()
 *   options   NULL for the defaults
 *   callback  required
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
 * setting it where it is gone.  ACQUIRED if a quorum still had it, NOT_ACQUIRED
 * with E_GONE if not; a failed attach leaves the lease as it is.  Otherwise as
 * redlock_acquire_names(); wait_ms is not used.  It keeps the fence that it was
 * acquired with, which only its first holder knows: E_ARGUMENT if a new one is
 * asked for.
 */
REDLOCK_API REDLOCK_MUST_USE redlock_code redlock_attach(redlock *client, redlock_lease **lease,
                                                         const redlock_name *names, size_t count,
                                                         const char *token,
                                                         const redlock_lease_options *options,
                                                         redlock_callback *callback, void *data);

/*
 * Gives back, by its token, a lease that another process acquired.  The
 * callback gets RELEASED once, as after redlock_release().
 */
REDLOCK_API REDLOCK_MUST_USE redlock_code
redlock_release_token(redlock *client, redlock_lease **lease, const redlock_name *names,
                      size_t count, const char *token, redlock_callback *callback, void *data);

/*
 * Asks every master who holds the names, without touching them.  The callback
 * gets SEEN once: code OK if a quorum answered, else E_UNAVAILABLE; granted is
 * the number of masters on which the same holder has the (first held) name, at
 * the most.
 */
REDLOCK_API REDLOCK_MUST_USE redlock_code redlock_inspect(redlock *client, redlock_lease **lease,
                                                          const redlock_name *names, size_t count,
                                                          redlock_callback *callback, void *data);

/* A sentence about the last call on this client that returned an error: what
 * was wrong and what to do.  Valid until the next call. */
REDLOCK_API const char *redlock_last_error(const redlock *client);

/*
 * Validity left, in ms rounded down; 0 when the lease is not held: not yet,
 * not any more, being released.  Reads CLOCK_BOOTTIME at each call, so it is
 * right even when the loop is late.  Ask it before each step that needs the
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
 * do.  The same for all names of the lease, and unchanged by renewals.  Restarted
 * masters keep to it as long as their wall clocks agree within clock_skew_ms; a
 * FLUSHALL, or a master that lies, is as bad as it is for the locks themselves.
 *
 * 0 before ACQUIRED was told, and of a lease that asked for none.  Stays readable
 * until the handle is freed: a number that was given out does not change.
 */
REDLOCK_API int64_t redlock_fence(const redlock_lease *lease);

typedef struct redlock_place {
    unsigned position;  /* so many are ahead, in this client and on the masters */
    int64_t expires_ms; /* the present holder has so long left unless he renews; -1 unknown */
} redlock_place;

/*
 * Where a lease that is being acquired stands in line, as the masters said at its last
 * refresh (each second or so).  Takes time that grows with the number of waiters of
 * this client.
 * Returns REDLOCK_OK, or E_STATE if it does not stand in line.
 */
REDLOCK_API redlock_code redlock_place_get(const redlock_lease *lease, redlock_place *place);

/*
 * Renews now, with a new ttl if `ttl_ms` > 0 (it then counts for later renewals
 * too).  EXTENDED or NOT_EXTENDED follows, or LOST in its place.
 * Returns REDLOCK_OK, E_STATE if the lease is not held or an extend is already
 * under way, E_TTL.
 */
REDLOCK_API redlock_code redlock_extend(redlock_lease *lease, int64_t ttl_ms);

/*
 * Ends validity at once, then sends the release to every master that may have
 * the lease.  RELEASED follows, with code
 *   REDLOCK_OK             a quorum confirmed that it was still ours: nobody
 *                          else can have held it
 *   REDLOCK_E_GONE         it was not ours any more on a quorum, or had already
 *                          been told LOST
 *   REDLOCK_E_UNAVAILABLE  too few masters answered in time to say; the release
 *                          stays owed and is repeated in the background
 * On a lease still being acquired it cancels (NOT_ACQUIRED, E_CANCELLED).
 * After LOST it speeds the cleaning up, and RELEASED follows too.
 * Returns REDLOCK_OK, or E_STATE after NOT_ACQUIRED, RELEASED, SEEN or a first
 * call, E_FORKED.
 */
REDLOCK_API redlock_code redlock_release(redlock_lease *lease);

/*
 * Forgets the handle and leaves the lease to its ttl, for another process to
 * redlock_attach() or redlock_release_token().  No callback any more; the
 * handle is freed.  Returns E_STATE, and does nothing, if it is not held.
 */
REDLOCK_API redlock_code redlock_detach(redlock_lease *lease);

/*
 * Frees the handle, in any state, inside its own callback too.  A lease that is
 * held or being acquired is released in the background; one that was LOST is
 * given back when its validity has ended.  NULL is allowed.
 */
REDLOCK_API void redlock_lease_free(redlock_lease *lease);

/* The token that the masters hold for this lease, with its label; "" before the
 * first round.  Changes with every round of an acquire.  Lives as long as the
 * handle; its text is stable once ACQUIRED was told. */
REDLOCK_API const char *redlock_token(redlock_lease *lease);

/* ---- What is going on --------------------------------------------------- */

typedef enum redlock_node_state {
    REDLOCK_NODE_DOWN,       /* not connected; text says why */
    REDLOCK_NODE_CONNECTING, /* being connected or prepared */
    REDLOCK_NODE_UP,         /* votes */
    REDLOCK_NODE_ABSTAINS,   /* restarted; votes again in abstains_ms */
    REDLOCK_NODE_REFUSED     /* a replica, or listed twice: never votes; text says why */
} redlock_node_state;

typedef struct redlock_node {
    const char *node; /* as in redlock_vote */
    redlock_node_state state;
    const char *text; /* last trouble, "" if none */
    int64_t abstains_ms;
    int64_t rtt_us;          /* smoothed round trip, -1 unknown */
    int64_t clock_offset_us; /* master's wall clock less ours, 0 unknown */
    const char *run_id;      /* "" unknown */
    const char *version;     /* of the server, "" unknown */
    const char *role;        /* "master", "slave", "" unknown */
    int64_t uptime_s;        /* at the last handshake, -1 unknown */
    const char *eviction;    /* maxmemory-policy if maxmemory is set, else "" */
    bool aof;                /* append-only file enabled */
    unsigned in_flight;      /* requests not yet answered */
} redlock_node;

/* Number of masters; facts about master `index`, valid until the loop runs
 * again.  E_ARGUMENT if there is no such master. */
REDLOCK_API unsigned redlock_nodes(const redlock *client);
REDLOCK_API redlock_code redlock_node_get(const redlock *client, unsigned index,
                                          redlock_node *node);

/* Lifts the quarantine of master `index`: for an operator who knows that it is
 * new and that nobody holds a lease on it.  Takes effect for this client when
 * the master answered (redlock_node_get() then says UP), for others within
 * about a second.  Its grants count for fences after clock_skew_ms, unless another
 * master has a clock as high.  E_STATE if it is not connected, E_ARGUMENT if there is no such
 * master, E_FORKED. */
REDLOCK_API redlock_code redlock_adopt(redlock *client, unsigned index);

/* Counters since redlock_open(); times in microseconds. */
#define REDLOCK_COUNTERS(X)                                                                        \
    X(acquires, "acquires asked for")                                                              \
    X(acquired, "acquires that succeeded")                                                         \
    X(contended, "acquires that failed because another holder had the lock")                       \
    X(unavailable, "acquires that failed for want of a quorum")                                    \
    X(rounds, "acquire rounds sent")                                                               \
    X(renewals, "renewal rounds that reached a quorum")                                            \
    X(renewals_missed, "renewal rounds that did not")                                              \
    X(heals, "leases set again on a master that had lost them")                                    \
    X(raises, "fenced acquires that needed a second round")                                        \
    X(handoffs, "leases given to a waiter by the masters")                                         \
    X(handoffs_here, "leases handed to the next waiter of this client without the masters")        \
    X(pushes, "grants to waiters heard of on a notification connection")                           \
    X(found, "grants to waiters that a refresh found, not a notification")                         \
    X(yields, "minorities given back because somebody was ahead in line")                          \
    X(lost, "leases lost")                                                                         \
    X(released, "leases released")                                                                 \
    X(requests, "requests sent")                                                                   \
    X(replies, "replies received")                                                                 \
    X(timeouts, "requests not answered in time")                                                   \
    X(connects, "connections begun")                                                               \
    X(disconnects, "connections lost")                                                             \
    X(protocol_errors, "connections closed for a malformed or unexpected reply")                   \
    X(owed, "releases owed that needed more than the first try")

typedef struct redlock_stats {
#define REDLOCK_COUNTER_FIELD(name, help) uint64_t name;
    REDLOCK_COUNTERS(REDLOCK_COUNTER_FIELD)
#undef REDLOCK_COUNTER_FIELD
    uint64_t held;       /* leases held now */
    uint64_t waiting;    /* leases that stand in line now, or try for the first time */
    uint64_t queue_us;   /* sum of the times in line of those handed over by the masters */
    uint64_t acquire_us; /* sum of the times from redlock_acquire() to ACQUIRED */
} redlock_stats;

/* Copies the statistics; `size` is sizeof(redlock_stats) as you compiled it. */
REDLOCK_API void redlock_stats_get(const redlock *client, redlock_stats *stats, size_t size);

/* The same, with the state of each master, as OpenMetrics text.  Works as
 * snprintf: returns the length that the whole text has, NUL not counted. */
REDLOCK_API size_t redlock_stats_text(const redlock *client, char *buffer, size_t size);

#ifdef __cplusplus
}
#endif

#endif
