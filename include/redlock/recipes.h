/*
 * redlock/recipes.h - elections, barriers, latches, work that is done once, and wishes.
 *
 * The calls with "sync" are for threads that wait, as those of redlock/sync.h; the others are for a
 * loop, as those of redlock.h.  The contracts of these headers hold here too.  Besides:
 *   - `timeout_ms` limits how long a call waits.  0: no limit.  REDLOCK_ZERO: the call ends as soon
 *     as the masters have answered.  Else it is above 0.
 *   - `name` comes without the prefix of the client.  Options and their strings are copied.
 *   - Free each handle before its client, in its callback too; NULL is allowed, and no callback
 *     comes after that.  A handle keeps the loop alive while results may come.
 *   - Results: E_UNAVAILABLE: too few masters answered; E_CANCELLED: the call was ended; E_CLOSED:
 *     the client was; E_REPLICA, E_SAME_MASTER, E_NO_MASTER: the list leaves no quorum; E_DIFFERS.
 *   - A call of the loop returns REDLOCK_OK, E_ARGUMENT (also if the client only looks), E_NAME,
 *     E_TTL, E_CLOSED, E_FORKED, E_MEMORY.
 *   - A call of a thread returns the code of its result.  If it did nothing, it returns an error of
 *     the line above, or E_STATE in a callback.  A redlock_sync_close() ends its wait.
 *     redlock_sync_cancel() ends redlock_sync_campaign() alone: give others a timeout_ms. */
#ifndef REDLOCK_RECIPES_H
#define REDLOCK_RECIPES_H

#include "../redlock.h"

#define REDLOCK_VALUE_MAX      65536 /* bytes of a value */
#define REDLOCK_PARTIES_MAX    256   /* of a barrier */
#define REDLOCK_GENERATION_MAX (INT64_C(1) << 53)
#define REDLOCK_ARRIVALS_MAX   1000                             /* that a latch waits for */
#define REDLOCK_LATCH_LIFE_MAX (INT64_C(30) * 24 * 3600 * 1000) /* ms */
#define REDLOCK_LATCH_ID_SIZE  65                               /* bytes of an id, with the NUL */

/* ---- Elections.  A leader holds a fenced lease on one name, exclusively; its term is the fence.
 * So at most one leads at a time, and terms grow, as redlock_lease_fence() says.  A leader must
 * stop at LOST.  The resource that it writes to must refuse smaller terms (fencing.md). */
typedef struct redlock_campaign redlock_campaign; /* stands for leader, term after term */
typedef struct redlock_campaign_options {
    size_t size;
    int64_t ttl_ms, margin_ms; /* of its leases, as in redlock_lease_options */
    int64_t timeout_ms;        /* longest wait for each term, in turn; then NOT_ACQUIRED */
    /* The candidate announces this in each term, as soon as it leads: 0 to REDLOCK_VALUE_MAX bytes.
     * NULL: nothing, so observers do not hear of it, until redlock_campaign_announce().  Without
     * memory as a term begins, it announces nothing in that term, and ANNOUNCED does not come. */
    const void *value;
    size_t length;
    bool once; /* LOST is final, unless it resigns; else it stands again after LOST */
} redlock_campaign_options;

/* Gets the events of its lease (redlock_lease_callback), of one term after the other:
 *   ACQUIRED    it leads; event->fence is its term
 *   ANNOUNCED   a quorum of masters has its value
 *   LOST        stop leading now: another one may lead when event->valid_ms are over.  The
 *               candidate stands for another term when the callback has returned
 *   RELEASED, NOT_ACQUIRED   final: it resigned or cannot stand; event->code says which.  E_DIFFERS
 *               may pass, as while masters are changed: begin another campaign later */
typedef void redlock_campaign_callback(redlock_campaign *candidate, const redlock_event *event,
                                       void *data);

/* Waits in turn for a fenced lease on `name`, and leads while it has it.  `options` may be NULL. */
REDLOCK_API REDLOCK_MUST_USE redlock_code redlock_campaign_begin(
    redlock *client, redlock_campaign **candidate, const char *name,
    const redlock_campaign_options *options, redlock_campaign_callback *callback, void *data);

/* The lease of the present term, or of the one that it stands for: ask it for validity, fence and
 * place.  The candidate owns it: do not release, free, detach or change it.  It lives until the
 * candidate gets LOST or is freed; NULL if it could not stand again.  The candidate keeps its term
 * over redlock_lease_move(), and from MOVED on it stands with the other client. */
REDLOCK_API redlock_lease *redlock_campaign_lease(const redlock_campaign *candidate);

/* Announces `value` in place of the former one: now if it leads, and in each later term.  Returns
 * as redlock_lease_announce().  If it fails, the former value stays, in later terms too. */
REDLOCK_API REDLOCK_MUST_USE redlock_code redlock_campaign_announce(redlock_campaign *candidate,
                                                                    const void *value,
                                                                    size_t length);

/* Ends the candidacy: the name goes to the next waiter, and the announcement is taken back.  The
 * callback gets RELEASED, or NOT_ACQUIRED with E_CANCELLED if it did not lead.  It does not stand
 * again.  Returns REDLOCK_OK, E_FORKED, or E_STATE if it has resigned or ended before. */
REDLOCK_API redlock_code redlock_campaign_resign(redlock_campaign *candidate);
REDLOCK_API void redlock_campaign_free(redlock_campaign *candidate); /* resigns, too */

/* Announces `value` (0 to REDLOCK_VALUE_MAX bytes, which are copied) for the lease's name, in place
 * of what the lease announced before.  The masters keep it while the lease is valid.  A release,
 * redlock_lease_free(), redlock_lease_detach() and redlock_lease_downgrade() take it back on the
 * masters that are connected.  On others, and when the process dies, it ends with the validity that
 * the lease had when the library last repeated it.
 *   The lease's callback gets REDLOCK_ANNOUNCED when a quorum of masters has stored the value: once
 * for each call, unless a later call or the end of the lease comes before.  Field event->granted is
 * their number.  It includes masters in quarantine, which observers do not believe yet.
 * Returns REDLOCK_OK, E_STATE (not held, shared, a permit, without a fence, with several names, or
 * about to move), E_ARGUMENT (length), E_CLOSED, E_FORKED, E_MEMORY.  An error changes nothing. */
REDLOCK_API REDLOCK_MUST_USE redlock_code redlock_lease_announce(redlock_lease *lease,
                                                                 const void *value, size_t length);

typedef struct redlock_observer redlock_observer;
typedef struct redlock_leader {
    size_t size;
    redlock_code code; /* REDLOCK_OK: it is known */
    int64_t term;      /* of the leader that announces; 0: nobody announces, or it is not known */
    const void *value; /* what the leader announces; never NULL */
    size_t length;     /* its bytes */
    unsigned said;     /* the number of masters that have it */
    unsigned masters;  /* N */
    const char *text;  /* E_UNAVAILABLE: an error that a master still answers with; else "" */
} redlock_leader;

typedef void redlock_observer_callback(redlock_observer *observer, const redlock_leader *leader,
                                       void *data);

/* Reports what is announced of `name`: first as it is now, then each change, until redlock_close(),
 * also over redlock_relist().  A client with looks_only may observe, and asks once a second.
 *   - An announcement is reported when a quorum of masters that vote has it: while the masters are
 *     well at once, and within 5 s at the latest.  One that is soon replaced may be left out.
 *   - Terms never go back, nor do the values of one term.
 *   - Nobody (REDLOCK_OK, term 0) is reported when a quorum has answered, and no announcement that
 *     may still be reported can have a quorum.
 *   - E_UNAVAILABLE is reported when the masters that can be asked have answered, and that does not
 *     decide it.  The observer goes on asking.
 * It is not promised that the leader still leads: a lost one is reported until another one
 * announces or the masters forget it.  A leader that has announced nothing is not reported.  So
 * send the term with each request to the leader, which refuses other terms than its own. */
REDLOCK_API REDLOCK_MUST_USE redlock_code
redlock_observer_begin(redlock *client, redlock_observer **observer, const char *name,
                       redlock_observer_callback *callback, void *data);
REDLOCK_API void redlock_observer_free(redlock_observer *observer);

/* Waits until this thread leads, and begins to announce the value of the options.  `lease` receives
 * an ordinary lease: the thread leads while redlock_sync_lease_valid_for() is above 0;
 * redlock_sync_lease_fence() is its term, redlock_sync_lease_release() resigns.  `options` may be
 * NULL; `once` makes no difference.  The call does not wait until a quorum has the value, as
 * redlock_sync_lease_announce() does.  If the announcement cannot begin, since memory is out or the
 * lease has just ended, the call still returns REDLOCK_OK, and result->text says why.
 * Returns what redlock_sync_acquire() returns: E_HELD when the time is over, E_CANCELLED after
 * redlock_sync_cancel() with NULL for `data`. */
REDLOCK_API REDLOCK_MUST_USE redlock_code
redlock_sync_campaign(redlock_sync *client, redlock_sync_lease **lease, const char *name,
                      const redlock_campaign_options *options, redlock_sync_result *result);

/* Announces, and waits until a quorum of masters has stored it, at most until the lease is lost.
 * Returns as redlock_lease_announce(); E_CANCELLED: another thread announced something else,
 * downgraded or released the lease meanwhile; E_EXPIRED, E_GONE, E_MAX_HOLD: the lease was lost. */
REDLOCK_API redlock_code redlock_sync_lease_announce(redlock_sync_lease *lease, const void *value,
                                                     size_t length, redlock_sync_result *result);

/* Reports what is announced of `name` now; it takes no longer than to connect to a silent master
 * and to ask it.  `leader` receives the report, with "" for text, which result->text has.  `value`,
 * a buffer of `size` bytes, receives the value, cut if leader->length is more; it may be NULL. */
REDLOCK_API redlock_code redlock_sync_leader_get(redlock_sync *client, const char *name,
                                                 redlock_leader *leader, void *value, size_t size,
                                                 redlock_sync_result *result);

/* Waits until a leader announces with a term above `after_term` (0: any), and reports it likewise.
 * E_UNAVAILABLE: the time is over, and `leader` has the last report; its code is REDLOCK_OK if the
 * masters know of no such leader.  A list that leaves no quorum ends the wait at once. */
REDLOCK_API REDLOCK_MUST_USE redlock_code redlock_sync_leader_next(
    redlock_sync *client, const char *name, int64_t after_term, int64_t timeout_ms,
    redlock_leader *leader, void *value, size_t size, redlock_sync_result *result);

/* ---- Barriers.  A party waits at a barrier until N parties have arrived. ---- */
typedef struct redlock_barrier redlock_barrier; /* one party */
typedef struct redlock_barrier_options {
    size_t size;
    int64_t parties; /* N, 1 to REDLOCK_PARTIES_MAX: N parties must arrive, and all name this N */
    /* Which use of the barrier this is, such as the number of a round, 0 to REDLOCK_GENERATION_MAX.
     * Use each once, and larger ones later.  For at least max_ttl_ms after a generation was passed,
     * each party that comes there passes at once.  For a week after that a party that was there
     * passes, and a new party gets E_OVER.  So do all at a generation before the latest passed. */
    int64_t generation;
    int64_t ttl_ms;     /* a party that dies counts no longer; up to max_ttl_ms; 0: 10,000 */
    int64_t timeout_ms; /* longest wait for parties and masters; then it leaves.  REDLOCK_ZERO:
                         * it passes if it is the last to arrive */
    /* The token of an undecided result: this party is the same one, and counts once.  It passes,
     * also days after the others, or is undecided again.  One party at a time may have the token.
     * A worker that is started again within its ttl would count twice: give it a token of its own
     * from the start, such as its number.  But at a generation that is used again within a week,
     * such a party passes at once, alone.  NULL: a new party. */
    const char *token;
} redlock_barrier_options;

typedef struct redlock_barrier_result {
    size_t size;
    /* REDLOCK_OK: it passed.
     * E_NOT_PASSED (too late), E_CANCELLED, E_CLOSED: neither it nor who counted it passes.
     * E_PARTIES: likewise; others wait at this generation for `others` parties, or passed so.
     * E_OVER: the masters know only that a later generation was passed, or this one before it came
     *   or by another number of parties.  Do not come again: use a generation above `latest`.
     * E_UNDECIDED: a quorum of masters answered, and it is still undecided. */
    redlock_code code;
    bool undecided;    /* it is not known whether the barrier was passed; others that counted this
                        * party may pass.  Arrive again, with `token`, unless it is E_OVER */
    unsigned parties;  /* of the options */
    unsigned arrived;  /* the most parties that a master counted, as far as is known */
    unsigned others;   /* E_PARTIES, or undecided for that: parties the others wait for; else 0 */
    unsigned answered; /* the number of masters that counted it, or know of others */
    unsigned masters;  /* N */
    char token[REDLOCK_TOKEN_SIZE];
    const char *text; /* one line for people, also why masters did not answer; it may change */
    int64_t latest;   /* E_OVER: the latest generation that was passed; else 0 */
} redlock_barrier_result;

typedef void redlock_barrier_callback(redlock_barrier *party, const redlock_barrier_result *passage,
                                      void *data);

/* Arrives, and calls back once.  No party passes before all have arrived, and wait at one time.
 *   - After a party has passed, the others pass: those that wait, and those that come later, as
 *     said at `generation`.  A party that it counted never gets a result `did not pass`.
 *   - A party without a timeout passes when all have arrived and reach the same quorum of masters.
 *     If it hears of no quorum for half of max_ttl_ms, it gets E_UNAVAILABLE.
 * It is not promised that the others still live when a party passes: they did within their ttl.  A
 * wrong master may let parties pass early, unless options.spare allows for it.  The masters forget
 * that a generation was passed after a week, or when all that knew it lose their data in turn.  A
 * party that comes then waits for new ones.  redlock_close() makes a party leave, result first. */
REDLOCK_API REDLOCK_MUST_USE redlock_code redlock_barrier_arrive(
    redlock *client, redlock_barrier **party, const char *name,
    const redlock_barrier_options *options, redlock_barrier_callback *callback, void *data);

/* Leaves (E_CANCELLED).  The callback still comes, and may report that the party passed.
 * Returns REDLOCK_OK, E_FORKED, or E_STATE if it leaves already or the callback came. */
REDLOCK_API redlock_code redlock_barrier_leave(redlock_barrier *party);
REDLOCK_API void redlock_barrier_free(redlock_barrier *party); /* leaves; others may count it */

/* Arrives, and waits for the result.  `passage` receives it, with "" for text, which result->text
 * has; it may be NULL.  The options may point into it, as options->token to its token. */
REDLOCK_API REDLOCK_MUST_USE redlock_code redlock_sync_barrier_arrive(
    redlock_sync *client, const char *name, const redlock_barrier_options *options,
    redlock_barrier_result *passage, redlock_sync_result *result);

/* ---- Latches.  A latch is made once, waits for a number of arrivals, and is open from then on,
 * for the rest of its life.  A process that has arrived may die: the arrival stays. */
typedef struct redlock_latch redlock_latch; /* one call about a latch */
typedef struct redlock_latch_options {
    size_t size;
    int64_t arrivals;    /* create: 1 to REDLOCK_ARRIVALS_MAX must arrive.  No default */
    int64_t life_ms;     /* create: it lives for 1,000 to REDLOCK_LATCH_LIFE_MAX, open or not; then
                          * the name may have another latch.  0: 3,600,000 */
    int64_t timeout_ms;  /* then the call reports what it knows.  create goes on for half of
                          * max_ttl_ms at most, count as with REDLOCK_ZERO */
    const char *id;      /* arrive, await, count: of the latch you mean, as its creator got it.
                          * NULL: any.  Set it where a name has one latch after the other */
    const char *arrival; /* arrive: the name of the arrival, which counts once, no matter how often
                          * it is used and by which client: 1 to 64 bytes of printable ASCII without
                          * spaces.  NULL: a new one, which the result names */
} redlock_latch_options;

typedef struct redlock_latch_result {
    size_t size;
    /* REDLOCK_OK: it was done.  E_NOT_OPEN: await: its time was over.
     * E_HELD: create: the name has another latch, with this `id` and `arrivals`.
     * E_GONE: no quorum has it: its life is over, too many masters lost it, or there was none. */
    redlock_code code;
    bool undecided;    /* it is not known whether the arrival counts, or the latch was made.  Arrive
                        * again, with `arrival`; or create again: E_HELD with this `id`: it was */
    bool open;         /* the latch is known to be open; always of await with REDLOCK_OK */
    unsigned arrivals; /* how many it waits for; 0: not known */
    unsigned arrived;  /* how many have arrived, as far as was read */
    char id[REDLOCK_LATCH_ID_SIZE];      /* of the latch; "": not known */
    char arrival[REDLOCK_LATCH_ID_SIZE]; /* of arrive; else "" */
    unsigned answered;                   /* the number of masters that answered at least once */
    unsigned masters;                    /* N */
    char who[REDLOCK_LATCH_ID_SIZE];     /* for people: the arrival that most masters name, and
                                          * more than options.spare of them; "": none */
} redlock_latch_result;

typedef void redlock_latch_callback(redlock_latch *latch, const redlock_latch_result *tally,
                                    void *data);

/* Each call calls back once.  `options` may be NULL where no field is missing.
 *   create   makes the latch, with a new id, unless the name has one.  Of several calls at most one
 *            gets REDLOCK_OK, and nobody takes its latch away
 *   arrive   counts: REDLOCK_OK when a quorum of masters has stored it
 *   await    waits until the latch is open
 *   count    reports how many have arrived, and whether it is open
 * No call reports `open` before N different arrivals have begun.  After one has, no later call
 * reports `not open`.  An arrival that got REDLOCK_OK is not lost though masters restart and
 * forget, one after the other: calls put it back.  (With f spare votes that takes 3f + 2 masters.)
 * If too many forget before anybody calls, the latch is E_GONE.
 *   It is not promised that a latch which a call has found stays for its life.  If a creator dies
 * or loses the connection, remains of a latch that was not made may be left on less than a quorum:
 * nobody can arrive there.  Calls that find remains clear them after max_ttl_ms + clock_skew_ms.
 * If remains leave create no quorum till then, it gets E_UNAVAILABLE: create again.  An arrival
 * clears them at once, unless its latch ends within that time: let a latch live for that time
 * longer than its last arrival needs.  A master whose data is deleted while it runs (FLUSHALL,
 * eviction), or whose clock is more than clock_skew_ms off, is wrong until the latch ends. */
REDLOCK_API REDLOCK_MUST_USE redlock_code redlock_latch_create(
    redlock *client, redlock_latch **latch, const char *name, const redlock_latch_options *options,
    redlock_latch_callback *callback, void *data);
REDLOCK_API REDLOCK_MUST_USE redlock_code redlock_latch_arrive(
    redlock *client, redlock_latch **latch, const char *name, const redlock_latch_options *options,
    redlock_latch_callback *callback, void *data);
REDLOCK_API REDLOCK_MUST_USE redlock_code redlock_latch_await(
    redlock *client, redlock_latch **latch, const char *name, const redlock_latch_options *options,
    redlock_latch_callback *callback, void *data);
REDLOCK_API REDLOCK_MUST_USE redlock_code redlock_latch_count(
    redlock *client, redlock_latch **latch, const char *name, const redlock_latch_options *options,
    redlock_latch_callback *callback, void *data);

/* Ends the call (E_CANCELLED).  Returns as redlock_barrier_leave(). */
REDLOCK_API redlock_code redlock_latch_cancel(redlock_latch *latch);
REDLOCK_API void redlock_latch_free(redlock_latch *latch); /* ends it too; the latch stays */

/* These do it, and wait for the result, in `tally` or NULL; options may point into it (`id`). */
REDLOCK_API REDLOCK_MUST_USE redlock_code redlock_sync_latch_create(
    redlock_sync *client, const char *name, const redlock_latch_options *options,
    redlock_latch_result *tally, redlock_sync_result *result);
REDLOCK_API REDLOCK_MUST_USE redlock_code redlock_sync_latch_arrive(
    redlock_sync *client, const char *name, const redlock_latch_options *options,
    redlock_latch_result *tally, redlock_sync_result *result);
REDLOCK_API REDLOCK_MUST_USE redlock_code redlock_sync_latch_await(
    redlock_sync *client, const char *name, const redlock_latch_options *options,
    redlock_latch_result *tally, redlock_sync_result *result);
REDLOCK_API REDLOCK_MUST_USE redlock_code redlock_sync_latch_count(
    redlock_sync *client, const char *name, const redlock_latch_options *options,
    redlock_latch_result *tally, redlock_sync_result *result);

/* ---- Once per key.  Of many who would do the same work one does it; if it fails, the next tries.
 * Acquire the work's name, and look: if record->open, it was done.  Else do it, record it if it
 * succeeded, and then release.  The record is a latch of one arrival, named "NAME once KEY". */
typedef struct redlock_once redlock_once; /* a look, or a record that is written */
typedef struct redlock_once_options {
    size_t size;
    const char *key;  /* of the work, such as its day; a word, as the arrival of a latch */
    const char *note; /* record: likewise; later looks find it in record->who.  Such as host@time */
    int64_t life_ms;  /* record: as of a latch, from the first try to write it */
} redlock_once_options;

typedef void redlock_once_callback(redlock_once *once, const redlock_latch_result *record,
                                   void *data);

/* Both take a lease that is held on one name, exclusively (else E_STATE), and call back once.
 *   look     REDLOCK_OK: record->open says whether it was done.  E_HELD: it is another's latch
 *   record   REDLOCK_OK: a quorum has the record, and the lease is still valid.  E_EXPIRED: the
 *            lease ended before, so another may have begun.  Else it was not written, or is
 *            `undecided`: a look may find it or not.  Three tries of 10 s and half of max_ttl_ms
 * After a record with REDLOCK_OK no look reports `not open` while it lives, as latches promise: so
 * nobody begins the work again.  It is not promised that work is done exactly once: a process that
 * dies leaves a part, and work without a record is done again.  So is all work if too many masters
 * forget, and after a change of the list: records do not go along. */
REDLOCK_API REDLOCK_MUST_USE redlock_code redlock_once_look(redlock_lease *lease,
                                                            redlock_once **once,
                                                            const redlock_once_options *options,
                                                            redlock_once_callback *callback,
                                                            void *data);
REDLOCK_API REDLOCK_MUST_USE redlock_code redlock_once_record(redlock_lease *lease,
                                                              redlock_once **once,
                                                              const redlock_once_options *options,
                                                              redlock_once_callback *callback,
                                                              void *data);
REDLOCK_API void redlock_once_free(redlock_once *once); /* before its lease; a record may stay */

/* These do it, and wait for the result.  `record` receives it, and may be NULL. */
REDLOCK_API REDLOCK_MUST_USE redlock_code
redlock_sync_once_look(redlock_sync_lease *lease, const redlock_once_options *options,
                       redlock_latch_result *record, redlock_sync_result *result);
REDLOCK_API REDLOCK_MUST_USE redlock_code
redlock_sync_once_record(redlock_sync_lease *lease, const redlock_once_options *options,
                         redlock_latch_result *record, redlock_sync_result *result);

/* ---- Wishes.  Somebody asks the holder of a name to let go, and takes nothing (asking.md). */
typedef struct redlock_asker redlock_asker;
typedef struct redlock_heeder redlock_heeder;
typedef struct redlock_ask_options {
    size_t size;
    const char *text;   /* at most 200 bytes without control characters; NULL: "" */
    int64_t timeout_ms; /* then E_UNAVAILABLE */
    bool again; /* for a waiter: asks each holder until it is freed, and reports the first alone */
} redlock_ask_options;

typedef struct redlock_asked {
    size_t size;
    redlock_code code; /* REDLOCK_OK: the name is held; E_GONE: not, or permits alone are out */
    char holder[REDLOCK_TOKEN_SIZE]; /* the value that most masters tell, or "" */
    unsigned heard;                  /* masters on which the holder heeds; 0: it learns nothing */
    unsigned waiting, told, masters; /* waiters; masters that tell this holder; N */
} redlock_asked;

typedef struct redlock_wish {
    size_t size;
    const char *who, *text; /* the label of the client that asks, or "-"; its text */
    unsigned waiting;       /* waiters for the name */
} redlock_wish;

typedef void redlock_ask_callback(redlock_asker *asker, const redlock_asked *asked, void *data);
typedef void redlock_wish_callback(redlock_heeder *heeder, const redlock_wish *wish, void *data);

/* Asks, and calls back once.  Masters keep the wish for 15 s, for the token of this holder. */
REDLOCK_API REDLOCK_MUST_USE redlock_code redlock_ask(redlock *client, redlock_asker **asker,
                                                      const char *name,
                                                      const redlock_ask_options *options,
                                                      redlock_ask_callback *callback, void *data);
REDLOCK_API void redlock_asker_free(redlock_asker *asker);
REDLOCK_API REDLOCK_MUST_USE redlock_code redlock_sync_ask(redlock_sync *client, const char *name,
                                                           const redlock_ask_options *options,
                                                           redlock_asked *asked,
                                                           redlock_sync_result *result);

/* Calls back once for each wish of others from now on, if more masters than options.spare tell it.
 * Free it when the lease ends.  If masters tell that another process released its token, and the
 * rest is no quorum, the lease renews at once: a broken lock is LOST within two round trips.  Just
 * that without `callback`, for readers too.  E_STATE: not held, shared, a permit, several names. */
REDLOCK_API REDLOCK_MUST_USE redlock_code redlock_heed(redlock_lease *lease,
                                                       redlock_heeder **heeder,
                                                       redlock_wish_callback *callback, void *data);
REDLOCK_API void redlock_heeder_free(redlock_heeder *heeder);

/* The next wish for a lease, which heeds from the first call on.  Waits `wait_ms` at most (0: it
 * looks, cheaply; or REDLOCK_FOREVER).  Its texts stay until the next call for the lease; the last
 * 16 wishes are kept.  Without `wish` it only hears of a break.  E_UNAVAILABLE: nobody asks.
 * E_EXPIRED, E_GONE, E_MAX_HOLD, E_CANCELLED: the lease ended.  E_STATE: or one thread waits. */
REDLOCK_API REDLOCK_MUST_USE redlock_code redlock_sync_wanted(redlock_sync_lease *lease,
                                                              redlock_wish *wish, int64_t wait_ms,
                                                              redlock_sync_result *result);

#endif
