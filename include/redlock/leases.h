/*
 * redlock/leases.h - leases: asking for them, holding, changing and giving them back.  redlock.h
 * includes this file, and its contract holds here.
 */
#include "../redlock.h" /* before the guard: redlock.h includes this file where it is needed */

#ifndef REDLOCK_LEASES_H
#define REDLOCK_LEASES_H

#include <string.h>

typedef enum redlock_event_kind {
    REDLOCK_ACQUIRED,     /* the lease is yours for event->valid_ms */
    REDLOCK_NOT_ACQUIRED, /* final; event->code says why */
    REDLOCK_EXTENDED,     /* redlock_lease_extend() succeeded */
    REDLOCK_NOT_EXTENDED, /* redlock_lease_extend() failed; the lease is still valid for valid_ms */
    REDLOCK_AT_RISK,      /* still yours, but on a bare quorum, or a renewal missed the quorum */
    REDLOCK_HEALTHY,      /* no longer at risk */
    REDLOCK_LOST,         /* final; comes valid_ms BEFORE the lease ends: stop now */
    REDLOCK_RELEASED,     /* final; event->code tells whether the lease was still yours */
    REDLOCK_CHANGED,      /* downgrade: readers can come in; upgrade: the lease is exclusive now */
    REDLOCK_NOT_CHANGED,  /* redlock_lease_upgrade() failed; the lease is what it was */
    REDLOCK_ANNOUNCED,    /* a quorum of masters has the value of redlock_lease_announce() */
    REDLOCK_MOVED,        /* redlock_lease_move() succeeded; the lease is the other client's now */
    REDLOCK_NOT_MOVED     /* it failed; the lease is what it was */
} redlock_event_kind;

/* The answer of one master. */
typedef enum redlock_vote_kind {
    REDLOCK_VOTE_NONE,        /* not asked, or the round was decided before the answer */
    REDLOCK_VOTE_GRANTED,     /* acquire, renewal: the master has the lease */
    REDLOCK_VOTE_HEALED,      /* renewal: the master had lost the lease and took it again */
    REDLOCK_VOTE_HELD,        /* another holder has the name: see holder, remaining_ms */
    REDLOCK_VOTE_FREE,        /* renewal, release, look: no holder has the name */
    REDLOCK_VOTE_RELEASED,    /* release: the lease was still ours and is given back */
    REDLOCK_VOTE_REFUSED,     /* the master answered with an error: see text */
    REDLOCK_VOTE_TIMEOUT,     /* no answer in time; the master may have acted */
    REDLOCK_VOTE_UNREACHABLE, /* no connection that may be used, or lost before the answer: text */
    REDLOCK_VOTE_ABSTAINS     /* the master restarted; it votes again in remaining_ms */
} redlock_vote_kind;

#define REDLOCK_READERS "redlock:shared"  /* the value of a name that is shared */
#define REDLOCK_PERMITS "redlock:permits" /* told of a name with permits out */

typedef struct redlock_vote {
    const char *node; /* the master, as "127.0.0.1:7101"; never with its password */
    redlock_vote_kind kind;
    const char *holder;   /* HELD: value of the key (token, label); NULL unknown; REDLOCK_READERS
                           * for readers; REDLOCK_PERMITS where only permits are out */
    int64_t remaining_ms; /* HELD: left of the holder's ttl, -1 unknown, -2 never expires */
    const char *text;     /* REFUSED, UNREACHABLE: why, never ""; else "" */
} redlock_vote;

/* "granted", "held", …; "acquired", "lost", …: constants.  Any thread. */
REDLOCK_API const char *redlock_vote_name(redlock_vote_kind kind);
REDLOCK_API const char *redlock_event_name(redlock_event_kind kind);

typedef struct redlock_event {
    redlock_event_kind kind;
    redlock_code code;  /* REDLOCK_OK, or the reason */
    unsigned masters;   /* N */
    unsigned quorum;    /* (N + spare + 2) / 2 */
    unsigned granted;   /* masters that have the lease and are connected now.  It may be below the
                         * quorum: grants of lost connections stand, and valid_ms counts them */
    int64_t valid_ms;   /* validity left when the event was made; 0 once it is over */
    unsigned rounds;    /* rounds that this acquire took so far */
    int64_t elapsed_ms; /* since the call that asked for the lease was carried out */
    int64_t fence;      /* of a fenced lease, from ACQUIRED on; else 0 */
    const redlock_vote *const *votes; /* one for each master, in the order of the list */
    const char *text;                 /* one line for people: what happened and why */
    unsigned spare;  /* options.spare: the number of masters that may be wrong at once */
    int64_t ends_ms; /* as valid_ms, but below 0 if LOST comes late, as after a suspend: since then
                      * the lease is over.  With E_GONE it may have ended earlier */
} redlock_event;

/* `event`, and all that it points to, lives until the callback returns; `data` is yours. */
typedef void redlock_lease_callback(redlock_lease *lease, const redlock_event *event, void *data);

/* How a lease has a name; every other value is refused. */
typedef enum redlock_mode {
    REDLOCK_EXCLUSIVE = 0,
    REDLOCK_SHARED = 0x5ead0e50, /* with other readers */
    REDLOCK_SLOT = 0x51075107    /* one of its permits */
} redlock_mode;

/* Gets AT_RISK, HEALTHY and LOST of a lease of redlock/sync.h. */
typedef void redlock_sync_callback(const redlock_event *event, void *data);

typedef struct redlock_lease_options {
    size_t size; /* sizeof(redlock_lease_options) */

    /* How long the masters keep the lease unless it is renewed, at most max_ttl_ms; 0: 10,000.  A
     * short ttl frees the lock of a crashed holder sooner, a long one rides out longer outages. */
    int64_t ttl_ms;

    /* How long to wait while others hold the lease: first come, first served among the waiters of
     * all clients, and the release hands it over.  0: one try.  REDLOCK_FOREVER: no limit.
     *   Waiters of one client hand a lease over in memory for 50 ms.  A waiter that comes up to
     * 50 ms after another may use the place of that one in the queue.  local_turn_ms of the client
     * sets other times, or none.  A client that reaches no quorum has no place.  The masters hand a
     * lease over for 3 s at most (valid_ms); within 500 ms it has its ttl, also with no_renew. */
    int64_t wait_ms;

    /* LOST comes this long before the lease ends, and ACQUIRED only if more than this is left.
     * Choose as long as you need to stop.  0: ttl/20, from 10 ms to ttl/4; REDLOCK_ZERO: 0. */
    int64_t margin_ms;

    /* No renewal later than this after ACQUIRED, so that a leaked handle ends.  0: no limit. */
    int64_t max_hold_ms;

    /* The lease ends (LOST) unless you extend it.  Else it is renewed each third of the ttl. */
    bool no_renew;

    /* The lease has a fencing token, see redlock_lease_fence().  This costs the masters more. */
    bool fence;

    /* REDLOCK_SHARED: the lease has all its names shared.  Else each name has its own mode. */
    redlock_mode mode;

    /* Nobody else has the names within this time after ACQUIRED, also if you release the lease
     * sooner; but readers come in beside a reader.  So a job that several hosts start at about the
     * same time runs once.  A release before that time renews the lease once, for the rest of it;
     * E_UNAVAILABLE then means that the names may be free earlier.  The names are not kept if the
     * lease is LOST, its process dies, you detach it, or somebody releases it by token.
     * 0: none.  At most max_ttl_ms; less if drift_factor^2 x max_ttl_ms is above clock_skew_ms. */
    int64_t at_least_ms;

    /* Of redlock/sync.h alone: see redlock_sync_acquire().  The calls here refuse it. */
    bool reentrant;

    /* K, 1 to REDLOCK_PERMITS_MAX: the lease is one of K permits of its one name, so that at most K
     * clients have one; 0: it is the name itself.  A permit is a slot, see redlock_lease_slot().
     *   Use the same K everywhere: where clients differ, the largest K is the bound.  A lease that
     * waits stands in the queue of a slot.  With up to 17 permits later leases may pass the one
     * that has waited longest, for 1 s and once for each slot.  The name itself is no permit.
     *   A permit cannot be shared, attached, detached, downgraded, upgraded or reentrant, and has
     * one name, of at most REDLOCK_PERMITS_BYTES_MAX / K bytes. */
    int64_t permits;

    /* Of redlock/sync.h alone (the calls here refuse it): gets the events of the lease while you
     * hold it, and `data`.  redlock_sync_cancel() finds the acquire by `data`. */
    redlock_sync_callback *on_event;
    void *data;
} redlock_lease_options;

#define REDLOCK_PERMITS_MAX       1024
#define REDLOCK_PERMITS_BYTES_MAX 262144 /* K times the bytes of the name, prefix included */

#define REDLOCK_FOREVER INT64_MAX

/* A name is 1 to REDLOCK_NAME_MAX bytes, prefix included, of any value, but must not begin with
 * "redlock:".  For a longer one lock a hash of it.  Readers have a name shared, a writer has it
 * exclusively, alone.  A waiting writer keeps new readers out.
 * The elements of an array of names have the size of the first. */
typedef struct redlock_name {
    size_t size; /* sizeof(redlock_name) */
    const void *bytes;
    size_t length;
    redlock_mode mode; /* redlock_release_token() and looks heed REDLOCK_SLOT alone */
    int slot;          /* of REDLOCK_SLOT: 0 to REDLOCK_PERMITS_MAX - 1 */
} redlock_name;

/* The name that is a C string, exclusively. */
static inline redlock_name redlock_name_of(const char *text)
{
    redlock_name name;
    memset(&name, 0, sizeof name);
    name.size = sizeof name;
    name.bytes = text;
    name.length = text ? strlen(text) : 0;
    return name;
}

/* Asks for a lease on one name (a C string), or on several different ones: all or none.
 *   The callback gets ACQUIRED or NOT_ACQUIRED, once; after ACQUIRED any number of AT_RISK,
 * HEALTHY, EXTENDED, NOT_EXTENDED, CHANGED, NOT_CHANGED, ANNOUNCED; then LOST, RELEASED, or LOST
 * and, after a redlock_lease_release(), RELEASED.  ACQUIRED comes only if a quorum granted the
 * lease and more than the margin is left, just before the callback.  Codes of NOT_ACQUIRED:
 *   E_HELD         by the last answers of a quorum, another holder or a waiter has a name
 *   E_UNAVAILABLE  too few masters answered; event->votes has the reasons
 *   E_OVERLOAD     for wait_ms and ttl_ms / 4, masters were behind with what this client asks
 *   E_REPLICA, E_SAME_MASTER, E_NO_MASTER   the list leaves no quorum
 *   E_DIFFERS      see fleet.  A wait may move for twice connect_timeout_ms before that
 *   E_TOO_SLOW, E_CANCELLED, E_CLOSED, E_MEMORY
 * A callback may acquire again in NOT_ACQUIRED and LOST.  Better set wait_ms: else each E_HELD
 * costs the masters a round trip, and other codes may come at once.
 *   `lease` receives the handle, to be freed with redlock_lease_free(); `options` may be NULL.
 * Returns REDLOCK_OK (the outcome follows), or at once E_NAME, E_TTL, E_ARGUMENT, E_MEMORY,
 * E_CLOSED, E_FORKED: then *lease is NULL and no callback comes. */
REDLOCK_API REDLOCK_MUST_USE redlock_code redlock_acquire(redlock *client, redlock_lease **lease,
                                                          const char *name,
                                                          const redlock_lease_options *options,
                                                          redlock_lease_callback *callback,
                                                          void *data);
REDLOCK_API REDLOCK_MUST_USE redlock_code redlock_acquire_names(
    redlock *client, redlock_lease **lease, const redlock_name *names, size_t count,
    const redlock_lease_options *options, redlock_lease_callback *callback, void *data);

/* Takes charge of a lease that another process acquired, by its token: renews it on the masters
 * that vote, and never sets it where it is gone.  ACQUIRED: a quorum still had it.  NOT_ACQUIRED
 * with E_GONE: no quorum can have it; with E_UNAVAILABLE: that is not known, and the lease stays as
 * it is.  One process alone may have a token: if another gives it back, LOST follows.  A name that
 * the lease has shared must be given as shared.  options->fence is refused, for only the first
 * holder knows the fence; wait_ms is not used.  Returns as redlock_acquire_names(). */
REDLOCK_API REDLOCK_MUST_USE redlock_code redlock_attach(redlock *client, redlock_lease **lease,
                                                         const redlock_name *names, size_t count,
                                                         const char *token,
                                                         const redlock_lease_options *options,
                                                         redlock_lease_callback *callback,
                                                         void *data);

/* Gives back, by its token, a lease that another process acquired, or with REDLOCK_SLOT one permit
 * of a name.  RELEASED comes once, as after redlock_lease_release().  The answer of a master that
 * abstains confirms nothing, so E_UNAVAILABLE may come though all have deleted the token.  Returns
 * as redlock_acquire_names(); free the handle. */
REDLOCK_API REDLOCK_MUST_USE redlock_code redlock_release_token(
    redlock *client, redlock_lease **lease, const redlock_name *names, size_t count,
    const char *token, redlock_lease_callback *callback, void *data);

/* Validity left, in ms rounded down; 0 when the lease is not held: not yet, not any more, being
 * released; 0 for NULL.  It reads CLOCK_BOOTTIME at each call: it is right when the loop is late.
 * Call it before each step that needs the lock: a lease is not a mutex that waits for you. */
REDLOCK_API int64_t redlock_lease_valid_for(const redlock_lease *lease);

/* The fencing token of the lease, which the protected resource should check.  A holder that paused
 * past its lease may still write, and only the resource can refuse it (fencing.md).
 *   A positive integer below 2^53.  If one acquire had ended before another sent its first request,
 * its fence is smaller, for any common name.  Readers beside each other may have equal fences.  All
 * names of the lease have the same one; renewals keep it, redlock_lease_upgrade() does not.  Fences
 * grow across restarts of masters while their wall clocks agree within clock_skew_ms, and while no
 * more than options.spare masters are wrong.
 *   0 before ACQUIRED, for a lease that asked for none, and for NULL; then it stays. */
REDLOCK_API int64_t redlock_lease_fence(const redlock_lease *lease);

/* The slot of a lease that is one of K permits: 0 to K - 1.  No two clients have the same slot of a
 * name at once, so it can be the number of a worker, a port or a folder.  Fences grow for each
 * slot.  Known from ACQUIRED until you free the handle.  -1 before, without permits, for NULL. */
REDLOCK_API int redlock_lease_slot(const redlock_lease *lease);

typedef struct redlock_place {
    size_t size;        /* sizeof(redlock_place) */
    unsigned position;  /* waiters ahead, in this client and on the masters */
    int64_t expires_ms; /* until the holder's lease expires unless renewed; -1 unknown or never */
} redlock_place;

/* The place in the queue of a lease that waits, by the answers of the last refresh (each second
 * or so).  The time that the call takes grows with the waiters of this client.
 * Returns REDLOCK_OK; E_STATE: not in the queue, or no quorum answers; E_ARGUMENT, E_FORKED. */
REDLOCK_API redlock_code redlock_lease_place(const redlock_lease *lease, redlock_place *place);

/* Renews now, and with ttl_ms > 0 for that ttl from now on.  EXTENDED or NOT_EXTENDED
 * (E_UNAVAILABLE, E_MAX_HOLD) follows, or LOST or RELEASED.  An upgrade under way ends first.
 * Returns REDLOCK_OK, E_STATE (not held, or an extend is under way), E_TTL, E_FORKED. */
REDLOCK_API redlock_code redlock_lease_extend(redlock_lease *lease, int64_t ttl_ms);

/* Makes a writer a reader: from this call on the lease has all its names shared, and keeps writers
 * out without a gap.  It cannot fail: the library repeats it until a quorum knows, past max_hold_ms
 * too.  CHANGED follows, or LOST or RELEASED instead.  The fence stays.
 * Returns REDLOCK_OK, E_STATE (not held, all shared, or a change is under way), E_FORKED. */
REDLOCK_API redlock_code redlock_lease_downgrade(redlock_lease *lease);

/* Makes a reader the writer if it is the only reader on a quorum of masters.  It tries once and
 * never waits, for two readers that waited for each other would wait for ever; it passes writers
 * that wait.  Until CHANGED comes the lease is a reader's; then all its names are exclusive, and a
 * fenced lease has a new, larger fence.  NOT_CHANGED: it stayed a reader's all the time; E_HELD
 * (others read one of the names), E_UNAVAILABLE, E_MAX_HOLD or E_MEMORY.  LOST or RELEASED may come
 * instead.  Nothing is renewed during an upgrade: let time pass before you try again.
 * Returns REDLOCK_OK, E_STATE (not held, no name shared, attached, or being changed), E_FORKED. */
REDLOCK_API redlock_code redlock_lease_upgrade(redlock_lease *lease);

/* True if the lease has a name shared.  It means nothing for a lease that is over.  NULL: false. */
REDLOCK_API bool redlock_lease_is_shared(const redlock_lease *lease);

/* Ends validity at once.  Then the next waiter of this client gets the lease in memory, or the
 * masters that may have it get the release.  RELEASED follows, with code
 *   OK             there was no other holder before: a quorum confirmed that the lease was still
 *                  ours, or the next waiter got it while it was valid
 *   E_GONE         too few masters still had it for a quorum, or LOST came before
 *   E_UNAVAILABLE  too few voting masters answered in time; the library repeats the release
 * A release during the acquire cancels it (NOT_ACQUIRED, E_CANCELLED).
 * Returns REDLOCK_OK, E_STATE after NOT_ACQUIRED, RELEASED or a first call, E_FORKED. */
REDLOCK_API redlock_code redlock_lease_release(redlock_lease *lease);

/* Frees the handle and leaves the lease to its ttl, for another process to redlock_attach() or
 * redlock_release_token().  No callback comes any more, and after the call the library writes no
 * renewal.  One that is on its way does not take the names again after another process has given
 * them back by this library.  Extend a lease from the queue first: it may have 3 s (see wait_ms).
 * Returns REDLOCK_OK; E_STATE: not held, or after a downgrade or an upgrade (also one that failed);
 * E_FORKED.  After an error the handle lives on. */
REDLOCK_API redlock_code redlock_lease_detach(redlock_lease *lease);

/* Moves a lease to another client of this thread, with other masters or logins.  It is held all the
 * time, if both lists may be in use together (change.md).  Handle, callback, token, fence, slot and
 * announcement stay.  MOVED: a quorum of the masters of `to` has it, and it belongs to `to`.
 * NOT_MOVED, with their votes: it is what it was.  Its end may come instead; nothing if `to` is
 * freed.  A moved lease cannot be upgraded.  A lease that waits goes with its place in the queue:
 * MOVED has valid_ms 0, NOT_MOVED has E_CANCELLED if it waits no more.  Returns REDLOCK_OK;
 * E_STATE: it neither waits nor is held, was changed, or another call is under way.  E_DIFFERS,
 * E_ARGUMENT: see redlock_may_move(), or it waits and the label of `to` is longer.  E_TTL,
 * E_CLOSED, E_FORKED, E_MEMORY. */
REDLOCK_API redlock_code redlock_lease_move(redlock_lease *lease, redlock *to);

/* Says whether leases of this client may move to the other one.  redlock_last_error() says why not.
 * E_DIFFERS: quorums of both lists need not meet (change.md), so others may have the names there.
 * E_ARGUMENT: the other client has another prefix, only looks, or is the same one. */
REDLOCK_API redlock_code redlock_may_move(redlock *client, const redlock *to);

/* Frees the handle, in any state, inside its own callback too.  The library releases a lease that
 * is held or being acquired in the background; one being attached stays.  NULL is allowed. */
REDLOCK_API void redlock_lease_free(redlock_lease *lease);

/* The token that the masters hold for this lease, with its label; "" before the first round.  Each
 * round of an acquire has a new token; from ACQUIRED on it stays.  After a release it may be the
 * token of the next holder: do not use it any more.  The string lives as long as the handle. */
REDLOCK_API const char *redlock_lease_token(redlock_lease *lease);

#endif
