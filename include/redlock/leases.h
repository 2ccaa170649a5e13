/*
 * redlock/leases.h - leases: asking for them, holding, changing and giving them back.
 *
 * redlock.h includes this file, and is where its contract stands.
 *
 *   redlock_acquire()        asks for a lease; so does redlock_acquire_names(), for several names
 *   redlock_lease_callback         gets what becomes of it: redlock_event
 *   redlock_lease_valid_for()      how long it is good for, now
 *   redlock_lease_fence()          a number for the resource to refuse late holders by
 *   redlock_lease_slot()           which of the permits of a name it is
 *   redlock_lease_place()      its place in the queue, while it waits
 *   redlock_lease_extend()         renews it now
 *   redlock_lease_downgrade(), redlock_lease_upgrade(), redlock_lease_is_shared()
 *                            a writer becomes a reader, and the only reader the writer
 *   redlock_lease_release(), redlock_lease_free()
 *                            give it back
 *   redlock_lease_detach(), redlock_attach(), redlock_release_token(), redlock_lease_token()
 *                            leave it to another process, which has its token
 *
 *   redlock_inspect()        who has a name, and who waits for it
 *   redlock_survey_begin()   which names are held or waited for
 */
#ifndef REDLOCK_LEASES_H
#define REDLOCK_LEASES_H

#include <string.h>

#include "../redlock.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum redlock_event_kind {
    REDLOCK_ACQUIRED,     /* the lease is yours for event->valid_ms */
    REDLOCK_NOT_ACQUIRED, /* final; event->code says why */
    REDLOCK_EXTENDED,     /* redlock_lease_extend() succeeded */
    REDLOCK_NOT_EXTENDED, /* redlock_lease_extend() failed; the lease is still valid for valid_ms */
    REDLOCK_AT_RISK,      /* still yours, but on a bare quorum, or a renewal missed the quorum */
    REDLOCK_HEALTHY,      /* no longer at risk */
    REDLOCK_LOST,         /* final; told valid_ms BEFORE the lease ends: stop now */
    REDLOCK_RELEASED,     /* final; event->code tells whether the lease was still yours */
    REDLOCK_SEEN,         /* the answer to redlock_inspect(); final */
    REDLOCK_CHANGED, /* redlock_lease_downgrade(): readers can come in.  redlock_lease_upgrade():
                      * from now on the lease is exclusive */
    REDLOCK_NOT_CHANGED, /* redlock_lease_upgrade() failed; the lease is what it was */
    REDLOCK_ANNOUNCED    /* a quorum of masters says what was given to redlock_lease_announce() */
} redlock_event_kind;

/* The answer of one master. */
typedef enum redlock_vote_kind {
    REDLOCK_VOTE_NONE,        /* not asked, or the round was decided before the answer */
    REDLOCK_VOTE_GRANTED,     /* acquire, renewal: the master has the lease */
    REDLOCK_VOTE_HEALED,      /* renewal: the master had lost the lease and took it again */
    REDLOCK_VOTE_HELD,        /* another holder has the name: see holder, remaining_ms */
    REDLOCK_VOTE_FREE,        /* renewal, release, inspect: no holder has the name; a master that
                               * abstains, and may have forgotten one, is ABSTAINS instead */
    REDLOCK_VOTE_RELEASED,    /* release: the lease was still ours and is given back */
    REDLOCK_VOTE_REFUSED,     /* the master answered with an error: see text */
    REDLOCK_VOTE_TIMEOUT,     /* no answer in time; what the master did is unknown */
    REDLOCK_VOTE_UNREACHABLE, /* no connection, none that may be used yet (the master is mute), or
                               * lost before the answer: see text */
    REDLOCK_VOTE_ABSTAINS     /* the master restarted; it votes again in remaining_ms */
} redlock_vote_kind;

#define REDLOCK_READERS "redlock:shared"  /* the value of a name that is shared */
#define REDLOCK_PERMITS "redlock:permits" /* told of a name with permits out */

typedef struct redlock_vote {
    const char *node; /* the master, as "127.0.0.1:7101"; never with its password */
    redlock_vote_kind kind;
    const char *holder;   /* HELD: value of the key (token, label); NULL unknown; for readers,
                           * who share the name, REDLOCK_READERS; where permits are out or
                           * waited for and nobody holds the name itself, REDLOCK_PERMITS */
    int64_t remaining_ms; /* HELD: left of the holder's ttl, -1 unknown, -2 never expires */
    const char *text;     /* REFUSED, UNREACHABLE: why, never ""; else "" */
    unsigned waiting;     /* HELD, of redlock_inspect(): number of waiters for the name */
    const char *waiters;  /* likewise the tokens of the first 16 (options.tokens_told), one a
                           * line; else "" */
    unsigned readers;     /* HELD, of redlock_inspect(): number of readers; 0: held exclusively.
                           * With `permits`: the number of permits that are out */
    const char *reader_tokens; /* likewise the tokens of as many of them, one a line; else "" */
    unsigned permits; /* HELD, of redlock_inspect() of one name: K, the largest that a client asked
                       * for in the last hour, or as many as are seen to be; 0: not about permits */
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
    int64_t elapsed_ms;        /* since the call that asked for the lease was carried out */
    int64_t fence;             /* of a fenced lease, from ACQUIRED on; else 0 */
    const redlock_vote *votes; /* one for each master, in the order of the list */
    const char *text;          /* one line for people: what happened and why */
    unsigned spare;            /* options.spare: the number of masters that may be wrong at once */
    int64_t ends_ms;           /* LOST: as valid_ms, but negative if LOST is told late (the process
                                * was stopped, the machine asleep): the time since the lease ended.
                                * With E_GONE it may have ended earlier.  Else valid_ms. */
} redlock_event;

/* `event` and all that it points to live until the callback returns; `data` is yours. */
typedef void redlock_lease_callback(redlock_lease *lease, const redlock_event *event, void *data);

/* How a lease has a name.  A struct that nobody has filled hardly has one of these values by
 * chance: all others are refused. */
typedef enum redlock_mode {
    REDLOCK_EXCLUSIVE = 0,
    REDLOCK_SHARED = 0x5ead0e50, /* with other readers */
    REDLOCK_SLOT = 0x51075107    /* one of its permits */
} redlock_mode;

/* Gets AT_RISK, HEALTHY and LOST of a lease of redlock/sync.h. */
typedef void redlock_sync_callback(const redlock_event *event, void *data);

/*
 * Options of one lease.  A field that is 0 has its default.
 */
typedef struct redlock_lease_options {
    size_t size; /* sizeof(redlock_lease_options) */

    /* How long the masters keep the lease unless it is renewed; at most
     * max_ttl_ms. 0: 10,000.  Short ttls free a crashed holder's
     * lock sooner, long ones ride out longer outages.  A lease that was handed over in memory (see
     * wait_ms) is valid for no longer than this from then on; but the masters keep it for the ttl
     * of its former holder, if that was longer, until it is released. */
    int64_t ttl_ms;

    /* How long to wait while others hold the lease: first come, first served among
     * the waiters of all clients, and the release hands it over.  The waiters of one
     * client share: a lease is handed over among them in memory for 50 ms after the
     * masters gave it to the client (10 ms if a hundred handovers were made by then; where
     * the masters are far away four round trips, at most 500 ms; longer only if the next
     * waiter is first on the masters too), and a waiter that comes up to 50 ms after
     * another drew a place in the queue may use that place.  A client that reaches no
     * quorum has no place in the queue until it does.  0: one try.  REDLOCK_FOREVER:
     * until cancelled (redlock_lease_release()).
     *   The masters hand a lease over for 3 s at most, of which event->valid_ms tells.  The library
     * renews it to its ttl within half a second of ACQUIRED, also with `no_renew`. */
    int64_t wait_ms;

    /* LOST is told this long before the lease ends, and ACQUIRED only if more
     * than this is left.  Choose the time that you need to stop.  0: ttl/20, but at
     * least 10 ms and at most ttl/4.  REDLOCK_ZERO: none. */
    int64_t margin_ms;

    /* No renewal later than this after the lease was acquired (but that of a release
     * with at_least_ms), so that a leaked handle cannot hold a lock for ever.  0: no cap. */
    int64_t max_hold_ms;

    /* The library renews the lease: about ttl/3 after the last renewal, sooner if that
     *would leave less than half of the time up to LOST.  With no_renew it does not, and
     * the lease ends (LOST) unless redlock_lease_extend() is called. */
    bool no_renew;

    /* The lease has a fencing token, see redlock_lease_fence().  Default false: a plain
     * lease costs the masters less. */
    bool fence;

    /* REDLOCK_SHARED: the lease has all its names shared, see redlock_name.  Else each name has its
     * own mode. */
    redlock_mode mode;

    /* Nobody else has the names within this time after ACQUIRED was told, also if the lease is
     * released sooner (but readers of a shared name come in beside a reader).  So a job that hosts
     * start at about the same time runs once, if their tries do not wait for longer (wait_ms).
     *   A release before that time renews the lease once, for the rest of it, and leaves it to the
     * masters.  RELEASED is told when a quorum has answered that; E_UNAVAILABLE: too few did, and
     * the names may be free when the ttl of the last renewal ends; E_GONE: another holder may have
     * had them.  redlock_lease_free() and redlock_close() do the same.  No renewal shortens a ttl:
     * where that of the last one (or of a former holder that handed over in memory) ends later,
     * the names are kept until then.
     *   Not kept are a lease that is LOST, by max_hold_ms too, or whose process died: it ends with
     * its ttl; and a lease that is detached, or released by token.  One that was attached counts
     * from its own ACQUIRED.
     *   0 to max_ttl_ms (a little less where drift_factor squared times max_ttl_ms is above
     * clock_skew_ms: a restarted master abstains for no longer); default 0. */
    int64_t at_least_ms;

    /* Of redlock/sync.h alone (the calls of this header refuse it, E_ARGUMENT): a thread that
     * holds such a lease and acquires the same names once more gets the same lease once more,
     * see redlock_sync_acquire().  Default false. */
    bool reentrant;

    /* K, 1 to REDLOCK_PERMITS_MAX: the lease is one of K permits of its one name, so that at most
     * K clients have one; 0 (the default): it is the name itself.  Each permit is a slot, which its
     * holder has exclusively: see redlock_lease_slot().  All else of a lease is as ever, also the
     * fence. Use the same K everywhere.  Of clients with different ones each takes slots below its
     * own K, so the largest K is the bound, and after it was lowered slots beyond it drain. A lease
     * that waits stands in the queue of one slot, first come, first served; a slot with nobody in
     * its queue is offered to the lease that has waited longest.  The first of a queue that hears
     * of a later lease at the head of another one stands there as well, in at most 16 more queues:
     * so of up to 17 permits the lease that has waited longest is passed by later ones for a
     * refresh (1 s) at most, and once for each slot.  A lease with others ahead in its queue may be
     * passed for as long once more after each of them. A permit and the name itself have nothing to
     * do with each other: who holds the name exclusively keeps nobody from a permit.  A lease with
     * a permit cannot be detached, downgraded or upgraded.  E_ARGUMENT: below 0 or above the
     * maximum, with several names, with a shared one, with redlock_attach(), with `reentrant`, or
     * if K times the bytes of the name is above REDLOCK_PERMITS_BYTES_MAX, for a master looks at
     * all slots at once: 1,024 permits are of a name of 256 bytes at most, and a name of 1,024
     *bytes has 256. */
    int64_t permits;

    /* Of redlock/sync.h alone (the calls of this header refuse them, E_ARGUMENT): gets what becomes
     * of the lease while it is held; NULL: nothing does.  `data` is handed to it, and
     * redlock_sync_cancel() finds the acquire by it. */
    redlock_sync_callback *on_event;
    void *data;
} redlock_lease_options;

#define REDLOCK_PERMITS_MAX       1024
#define REDLOCK_PERMITS_BYTES_MAX 262144 /* K times the bytes of the name, prefix included */

#define REDLOCK_FOREVER INT64_MAX
/* A name is 1 to REDLOCK_NAME_MAX bytes, prefix included, of any value; with the
 * prefix it must not begin with "redlock:".  (A master handles each name of a request several
 * times, that of permits once for each, and serves nobody else meanwhile.  For a longer name lock
 * a hash of it.)  Readers have a name shared, a writer has it
 * exclusively: while a lease has it exclusively no other lease has it, and while leases
 * have it shared no lease has it exclusively.  A waiting writer keeps new readers out, and
 * readers that are next to each other in the queue get the name together.
 *
 * Several names are an array, in which each has the size of the first. */
typedef struct redlock_name {
    size_t size; /* sizeof(redlock_name) */
    const void *bytes;
    size_t length;
    redlock_mode mode; /* of redlock_release_token(): REDLOCK_SLOT, or else it is not used */
    int slot;          /* REDLOCK_SLOT: which one, 0 to REDLOCK_PERMITS_MAX - 1; else not used */
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
/*
 * Asks for a lease on one name (a C string), or on several names at once
 * (all or none; the order does not matter, duplicates are refused).
 *
 * Sends SET name token NX PX ttl (several names, a fence, a wait, a shared name: one script) to
 * all masters in parallel.  `callback` gets ACQUIRED or NOT_ACQUIRED, once; after ACQUIRED any
 * number of AT_RISK, HEALTHY, EXTENDED, NOT_EXTENDED, CHANGED, NOT_CHANGED; then LOST, RELEASED, or
 * LOST and, after a redlock_lease_release(), RELEASED.  ACQUIRED is told only if a quorum granted
 * the lease and now < valid_until - margin, tested last, immediately before the callback.  The code
 * of NOT_ACQUIRED is E_HELD, E_UNAVAILABLE, E_TOO_SLOW, E_CANCELLED, E_CLOSED, E_MEMORY, or, where
 * the list leaves no quorum, E_REPLICA, E_SAME_MASTER or E_NO_MASTER.  E_HELD: as a quorum of
 * masters answered last, another holder or a waiter has a name.  E_UNAVAILABLE: too few answered
 * that, and event->votes has the reasons.
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
                                                          redlock_lease_callback *callback,
                                                          void *data);
REDLOCK_API REDLOCK_MUST_USE redlock_code redlock_acquire_names(
    redlock *client, redlock_lease **lease, const redlock_name *names, size_t count,
    const redlock_lease_options *options, redlock_lease_callback *callback, void *data);

/*
 * Takes charge of a lease that another process acquired, by its token (see
 * redlock_lease_token(), redlock_lease_detach()): renews it on all masters that vote, without ever
 * setting it where it is gone.  The callback gets ACQUIRED if a quorum still had the
 * lease, NOT_ACQUIRED with E_GONE if so many have it no more that no quorum can have it,
 * and with E_UNAVAILABLE if that is not known.  A master that abstains may have come up with
 * a token that was given back meanwhile: it is not asked.  A failed attach leaves the lease as it
 * is.  One process alone may have a token: if another one gives it back while this one attaches,
 * or later, the next renewal tells LOST.  Otherwise as redlock_acquire_names(); wait_ms is not
 * used. A name that the lease has shared must be given as shared, or the lease counts as gone.  The
 * lease keeps the fence that it was acquired with, which only its first holder knows: E_ARGUMENT if
 * options->fence is set.
 */
REDLOCK_API REDLOCK_MUST_USE redlock_code redlock_attach(redlock *client, redlock_lease **lease,
                                                         const redlock_name *names, size_t count,
                                                         const char *token,
                                                         const redlock_lease_options *options,
                                                         redlock_lease_callback *callback,
                                                         void *data);

/*
 * Gives back, by its token, a lease that another process acquired.  The
 * callback gets RELEASED once, as after redlock_lease_release(), but the word of a master that
 * abstains confirms nothing: it may have come up with a token that was given back before.  So
 * E_UNAVAILABLE may be told though all masters have deleted the token.  The handle is to be
 * freed; returns as redlock_acquire_names().  One name with REDLOCK_SLOT is one of its permits: for
 * an operator, as the holder of a permit gives back its lease.
 */
REDLOCK_API REDLOCK_MUST_USE redlock_code redlock_release_token(
    redlock *client, redlock_lease **lease, const redlock_name *names, size_t count,
    const char *token, redlock_lease_callback *callback, void *data);

/*
 * Asks every master for the holder of the names and for their waiters, and changes
 * nothing.  The callback gets SEEN once: code OK if a quorum answered, else
 * E_UNAVAILABLE, or E_CLOSED, or, where the list leaves no quorum, E_REPLICA, E_SAME_MASTER,
 * E_NO_MASTER;
 * `granted` is the largest number of masters that name the same holder (of the first
 * name that is held there).  A master that abstains may have forgotten a holder: if
 * it has none, it counts as not answered, and its vote is ABSTAINS.  The call ends
 * once a quorum agrees on the holder, or that all names are free, and the other
 * masters have had as long again: the vote of a silent master is NONE.  With
 * options.all_answers it ends when each that is connected has answered, or has TIMEOUT.
 * Of several names permits are not told.  A client asks for 8 inspections at a time, for fewer
 * where the masters take long, and for a further one when one has ended, so any number may be begun
 * at once.  One that no quorum answered while others were under way, or right after, goes again
 * before it is told.
 * The handle is to be freed; returns as redlock_acquire_names().
 */
REDLOCK_API REDLOCK_MUST_USE redlock_code redlock_inspect(redlock *client, redlock_lease **lease,
                                                          const redlock_name *names, size_t count,
                                                          redlock_lease_callback *callback,
                                                          void *data);

/* ---- Which names there are -------------------------------------------------- */

/* A survey under way, until redlock_survey_free(). */
typedef struct redlock_survey redlock_survey;

/* What one master has told next.  A name may be told more than once. */
typedef struct redlock_survey_page {
    unsigned node;             /* the index of the master */
    redlock_code code;         /* OK; E_UNAVAILABLE: it tells no more, text says why */
    bool last;                 /* it has told all, or tells no more */
    const char *text;          /* E_UNAVAILABLE: why; else "" */
    const redlock_name *names; /* without the prefix of the client */
    size_t count;
    uint64_t looked_at; /* keys so far, about */
    uint64_t keys;      /* of its database */
    uint64_t left_out;  /* names so far that are too long for an answer: above 130,000 bytes
                         * together with those that the master keeps beside them */
} redlock_survey_page;

typedef void redlock_survey_callback(redlock_survey *survey, const redlock_survey_page *found,
                                     void *data);

/*
 * Goes through the keys of every master for the names that are held, waited for, or have permits
 * out, beginning with the prefix of the client.  redlock_inspect() then tells about each: what is
 * told here was so on one master at some time since this call, and a name that was taken or given
 * back meanwhile may be missing or free.  `callback` gets what each master says, about 250 keys at
 * a time (about a millisecond of the master's time), until each has told `last`; a master that went
 * is not asked again.  A master that lies may never tell `last`: who does not want to wait for that
 * frees the survey.
 *
 * A value of other software may be anything, so a name that has one is told only if somebody of
 * this library waits for it, or with `foreign`, which tells each name that may be a lock of other
 * software: a string of at most 256 bytes that expires.
 *
 * The user needs the right to scan, dbsize and getrange, and to the keys.  The
 * handle is to be freed; returns REDLOCK_OK, E_ARGUMENT, E_MEMORY, E_CLOSED, E_FORKED.
 */
REDLOCK_API REDLOCK_MUST_USE redlock_code redlock_survey_begin(redlock *client,
                                                               redlock_survey **survey,
                                                               bool foreign,
                                                               redlock_survey_callback *callback,
                                                               void *data);

/* Ends it, in its own callback too.  NULL is allowed. */
REDLOCK_API void redlock_survey_free(redlock_survey *survey);

/*
 * Validity left, in ms rounded down; 0 when the lease is not held: not yet,
 * not any more, being released; 0 for NULL.  It reads CLOCK_BOOTTIME at each call, so
 * it is right even when the loop is late.  Call it before each step that needs the
 * lock: a lease is not a mutex that waits for you.
 */
REDLOCK_API int64_t redlock_lease_valid_for(const redlock_lease *lease);

/*
 * The lease's fencing token, for the protected resource to check: a holder that
 * paused past its lease may still write, and only the resource can refuse it
 * (doc/fencing.md has how, for files, SQL, Redis and object stores).
 *
 * A positive integer below 2^53, larger than every fence told before to a holder
 * of any of the names: if one acquire had ended before another sent its first
 * request, its fence is the smaller one, whatever clocks, delays, pauses and expiry
 * do.  Readers that have a name at the same time may have equal fences.  It is the same for all
 * names of the lease, and renewals do not change it; redlock_lease_upgrade() does.
 * Fences grow across restarts of masters while the masters' wall clocks agree within
 * clock_skew_ms, and while no more masters are wrong than options.spare: with 0 and
 * an odd number of masters a single FLUSHALL, eviction, failover or lie may let the
 * fence go back, as it may make two holders.
 *
 * 0 before ACQUIRED was told, for a lease that asked for no fence, and for NULL.  It
 * stays readable until the handle is freed.
 */
REDLOCK_API int64_t redlock_lease_fence(const redlock_lease *lease);

/*
 * The slot of a lease that is one of K permits: 0 to K - 1.  No two clients have the same slot of a
 * name at once, so it serves as the number of a worker, of a port or of a folder; a resource of a
 * slot checks the fences of that slot.  It is known from ACQUIRED on, and stays readable until the
 * handle is freed.  -1 before, for a lease that asked for no permit, and for NULL.
 */
REDLOCK_API int redlock_lease_slot(const redlock_lease *lease);

typedef struct redlock_place {
    size_t size;        /* sizeof(redlock_place) */
    unsigned position;  /* number of waiters ahead, in this client and on the masters */
    int64_t expires_ms; /* until the holder's lease expires unless renewed; -1 unknown or never */
} redlock_place;

/*
 * The place in the queue of a lease that is being acquired, as the masters told it at
 * the last refresh (each second or so).  The call takes time that grows with the
 * number of waiters of this client.
 * Returns REDLOCK_OK, or E_STATE if the lease is not in the queue: not yet, not any
 * more, or while no quorum of masters answers; E_ARGUMENT: place->size; E_FORKED.
 */
REDLOCK_API redlock_code redlock_lease_place(const redlock_lease *lease, redlock_place *place);

/*
 * Renews now, with a new ttl if `ttl_ms` > 0 (it then counts for later renewals
 * too).  EXTENDED or NOT_EXTENDED (E_UNAVAILABLE, E_MAX_HOLD) follows, or LOST or
 * RELEASED in its place.  While an upgrade is under way the renewal waits for its end.
 * Returns REDLOCK_OK, E_STATE if the lease is not held or an extend is already
 * under way, E_TTL (also below 0), E_FORKED.
 */
REDLOCK_API redlock_code redlock_lease_extend(redlock_lease *lease, int64_t ttl_ms);

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
REDLOCK_API redlock_code redlock_lease_downgrade(redlock_lease *lease);

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
REDLOCK_API redlock_code redlock_lease_upgrade(redlock_lease *lease);

/* The lease has a name shared: it was asked for so, or was made so by a downgrade.
 * After an upgrade it says so until CHANGED is told.  Ask redlock_lease_valid_for() as well:
 * a lease that is not held any more may say anything.  False for NULL. */
REDLOCK_API bool redlock_lease_is_shared(const redlock_lease *lease);

/*
 * Ends validity at once.  Then the lease goes to the next waiter of this client
 * in memory, or the release to every master that may have the lease.  RELEASED
 * follows, with code
 *   REDLOCK_OK             a quorum confirmed that the lease was still ours, or it
 *                          was handed over in memory, still valid, to the next waiter
 *                          of this client: there was no other holder before
 *   REDLOCK_E_GONE         the masters that vote and still had the lease were too few for a
 *                          quorum, or LOST had been told already
 *   REDLOCK_E_UNAVAILABLE  too few masters that vote answered in time to tell; the release
 *                          stays owed and is repeated in the background
 * A release of a lease that is still being acquired cancels it (NOT_ACQUIRED,
 * E_CANCELLED).  After LOST it speeds the cleaning up, and RELEASED follows too.
 * Returns REDLOCK_OK, or E_STATE after NOT_ACQUIRED, RELEASED or a first call, and
 * for a handle of redlock_inspect() or redlock_release_token(); E_FORKED.
 */
REDLOCK_API redlock_code redlock_lease_release(redlock_lease *lease);

/*
 * Frees the handle and leaves the lease to its ttl, for another process to
 * redlock_attach() or redlock_release_token().  No callback is called any more.
 * Once this has returned no renewal of the lease is written or repeated.  One that is on its way
 * does not take the names again after another process has given them back by this library.
 * A lease that waited may have been handed over for 3 s at most (see wait_ms): if that is too
 * short, redlock_lease_extend() it and wait for EXTENDED first.
 * Returns REDLOCK_OK, or E_STATE if the lease is not held, or was downgraded or upgraded,
 * be it in vain (what was sent about that may yet arrive, and only this client knows), or
 * E_FORKED; after an error the handle lives on.
 */
REDLOCK_API redlock_code redlock_lease_detach(redlock_lease *lease);

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
REDLOCK_API const char *redlock_lease_token(redlock_lease *lease);

#ifdef __cplusplus
}
#endif

#endif
