/*
 * redlock/recipes.h - what is more than one lease: elections, barriers, latches.
 *
 * Read redlock.h first: its contract on callbacks, threads and lifetimes stands here too.
 *
 *   redlock_campaign_begin()       stands for leader of a name, again and again
 *   redlock_campaign_resign()         ends that
 *   redlock_lease_announce()       says something to all who observe the name
 *   redlock_observer_begin()        hears it
 *   redlock_barrier_arrive()         waits at a barrier until all parties have arrived
 *   redlock_barrier_leave()         waits there no longer
 *   redlock_latch_create()   makes a latch, which opens when enough have arrived
 *   redlock_latch_arrive()   arrives at it
 *   redlock_latch_await()    waits until it is open
 *   redlock_latch_count()    tells how many have arrived
 *
 * For threads that wait redlock/sync.h has redlock_sync_lease_announce(),
 * redlock_sync_leader_get(), redlock_sync_barrier_arrive() and redlock_sync_latch_create(),
 * _arrive(), _await() and _count().
 *
 * A leader is whoever holds a lease on a name exclusively, with a fence; its term is the fence.  So
 * at most one leads at any moment, as long as redlock keeps its promises, and terms grow from each
 * leader to the next, even where it cannot.  A leader must stop when it is told LOST, and whatever
 * it writes to must refuse smaller terms than it has seen (doc/fencing.md).
 */
#include "../redlock.h" /* before the guard, as sync.h needs what is here */

#ifndef REDLOCK_RECIPES_H
#define REDLOCK_RECIPES_H

#ifdef __cplusplus
extern "C" {
#endif

#define REDLOCK_VALUE_MAX      65536 /* bytes of a value */
#define REDLOCK_PARTIES_MAX    256   /* of a barrier */
#define REDLOCK_GENERATION_MAX (INT64_C(1) << 53)
#define REDLOCK_ARRIVALS_MAX   1000                             /* that a latch waits for */
#define REDLOCK_LATCH_LIFE_MAX (INT64_C(30) * 24 * 3600 * 1000) /* ms */
#define REDLOCK_LATCH_ID_SIZE  65                               /* bytes of an id, with the NUL */

/* ---- Campaigns -------------------------------------------------------------------------- */

/* Somebody who stands for leader of a name: one lease after the other. */
typedef struct redlock_campaign redlock_campaign;

/* Start from REDLOCK_CAMPAIGN_INIT. */
typedef struct redlock_campaign_options {
    size_t size; /* set by REDLOCK_CAMPAIGN_INIT */

    /* As for a lease (redlock_lease_options): what a crashed leader keeps others waiting for,
     * at most, and how long before its end LOST is told.  Default 10,000 and -1. */
    int64_t ttl_ms;
    int64_t margin_ms;

    /* How long to wait for each term while another one leads, in turn among all who wait; then
     * NOT_ACQUIRED.  Default REDLOCK_FOREVER. */
    int64_t wait_ms;

    /* Announced as soon as it leads, in each term: 0 to REDLOCK_VALUE_MAX bytes, which are copied;
     * "" and 0 announce that it leads, and no more.  NULL (the default): nothing is announced, and
     * observers are not told of it, unless redlock_campaign_announce() follows.  Where memory is
     * out as a term begins, nothing is announced in it, and ANNOUNCED is not told. */
    const void *value;
    size_t length;

    /* After LOST it stands again by itself, for another term.  Default true; else LOST is the last
     * that is told, unless it resigns. */
    bool again;
} redlock_campaign_options;

#ifndef __cplusplus
#define REDLOCK_CAMPAIGN_INIT                                                                      \
    {                                                                                              \
        .size = sizeof(redlock_campaign_options), .ttl_ms = 10000, .margin_ms = -1,                \
        .wait_ms = REDLOCK_FOREVER, .again = true                                                  \
    }
#else
static inline redlock_campaign_options redlock_campaign_init()
{
    redlock_campaign_options options = redlock_campaign_options();
    options.size = sizeof options;
    options.ttl_ms = 10000;
    options.margin_ms = -1;
    options.wait_ms = REDLOCK_FOREVER;
    options.again = true;
    return options;
}
#define REDLOCK_CAMPAIGN_INIT redlock_campaign_init()
#endif

/*
 * The events of its lease (redlock_lease_callback in redlock/leases.h), of one term after the
 * other: ACQUIRED   it leads; event->fence is its term ANNOUNCED  a quorum of masters says its
 * value LOST       stop leading now: another one may lead when event->valid_ms are over.  With
 * `again` it stands for another term when the callback has returned RELEASED, NOT_ACQUIRED   final:
 * it resigned, or cannot stand (event->code) `event` lives until the callback returns; `data` is
 * yours.
 */
typedef void redlock_campaign_callback(redlock_campaign *candidate, const redlock_event *event,
                                       void *data);

/*
 * Stands for leader of `name`: waits in turn for a fenced lease on it, and leads while it has that.
 *
 *   candidate  receives the handle, to be freed with redlock_campaign_free(), before the client is
 *   name       without the prefix, which is put before it
 *   options    NULL for the defaults
 * Returns REDLOCK_OK and what redlock_acquire() returns; E_ARGUMENT, of which redlock_last_error()
 * says nothing, if one of these is NULL, or the value is too long.  May be called in any callback,
 * on the loop's thread alone, as all calls here.
 */
REDLOCK_API REDLOCK_MUST_USE redlock_code redlock_campaign_begin(
    redlock *client, redlock_campaign **candidate, const char *name,
    const redlock_campaign_options *options, redlock_campaign_callback *callback, void *data);

/* The lease of the present term, or of the one that it stands for: for redlock_lease_valid_for(),
 * redlock_lease_fence(), redlock_lease_place().  It is the candidate's: do not release, free, leave
 * or change it.  It stays until the candidate is told LOST, or is freed; NULL if it could not stand
 * again. */
REDLOCK_API redlock_lease *redlock_campaign_lease(const redlock_campaign *candidate);

/* Announces `value` in place of the former one, now if it leads, and in each term that follows.
 * Returns what redlock_lease_announce() returns, but while it does not lead REDLOCK_OK, E_ARGUMENT
 * or E_MEMORY.  If it fails, the former value stays, in the terms that follow too. */
REDLOCK_API REDLOCK_MUST_USE redlock_code redlock_campaign_announce(redlock_campaign *candidate,
                                                                    const void *value,
                                                                    size_t length);

/* Ends the candidacy: the name goes to the next who waits for it, and what was announced is taken
 * back.  RELEASED, or NOT_ACQUIRED with E_CANCELLED if it did not lead, is told, and it does not
 * stand again, also if the lease is lost in between.  Returns REDLOCK_OK, E_STATE if it has ended
 * or has resigned before, E_FORKED. */
REDLOCK_API redlock_code redlock_campaign_resign(redlock_campaign *candidate);

/* Resigns, if it has not ended, and tells nothing more.  NULL is allowed.  May be called in its own
 * callback. */
REDLOCK_API void redlock_campaign_free(redlock_campaign *candidate);

/* ---- Announcing ------------------------------------------------------------------------- */

/*
 * Says `value` of the lease's name from now on, in place of what the lease said before.  The
 * masters keep it for as long as the lease is valid, and it is said again as the lease is renewed.
 * A release, redlock_lease_free(), redlock_lease_detach() and redlock_lease_downgrade() take it
 * back on all masters that are connected then; elsewhere, and when the process dies, it ends when
 * the validity that the lease had when it was last said ends.
 *
 *   lease    is held exclusively, has one name, which is no permit, and a fence
 *   value    0 to REDLOCK_VALUE_MAX bytes, which are copied; NULL if there are none
 * The lease's callback is told REDLOCK_ANNOUNCED when a quorum of masters has stored it
 * (event->granted), once for each call unless a later call or the end of the lease comes before.
 * Masters in quarantine are counted there too, which observers do not believe yet.
 * Returns REDLOCK_OK; E_STATE: the lease is no such lease (redlock_last_error()); E_ARGUMENT: the
 * value is too long; E_MEMORY, and what was said before stays; E_CLOSED, E_FORKED.
 * May be called in any callback, on the loop's thread alone.
 */
REDLOCK_API REDLOCK_MUST_USE redlock_code redlock_lease_announce(redlock_lease *lease,
                                                                 const void *value, size_t length);

/* ---- Observing -------------------------------------------------------------------------- */

typedef struct redlock_observer redlock_observer;

typedef struct redlock_leader {
    redlock_code code; /* REDLOCK_OK: it is known; E_UNAVAILABLE: too few masters answer to know;
                        * E_REPLICA, E_SAME_MASTER, E_NO_MASTER: the list leaves no quorum */
    int64_t term;      /* of the leader that says so; 0: nobody says anything, or it is not known */
    const void *value; /* what the leader says; never NULL */
    size_t length;     /* its bytes */
    unsigned said;     /* the number of masters that say so */
    unsigned masters;  /* N */
    const char *text;  /* E_UNAVAILABLE: the last error of a master that answers with one still, as
                        * where the user has not the rights to look (doc/operating.md); else "" */
} redlock_leader;

/* `leader` and its value live until the callback returns; `data` is yours. */
typedef void redlock_observer_callback(redlock_observer *observer, const redlock_leader *leader,
                                       void *data);

/*
 * Tells what is announced of a name: first what is said now, and then each change, with the term of
 * the leader that says it.
 *   It is told when a quorum of masters that vote say the same; while the masters are well, as
 * soon as they have stored it (they push it to the first 1,000 observers of a name, and what is
 * longer than 524 bytes to as many as make 512 kB; the others are told to ask), and at the latest
 * within 5 s.  A term is never told after a larger one, nor what a leader said before after what it
 * said later.  Some of what is said and replaced soon may be passed over.
 *   Nobody (code OK, term 0) is told when a quorum of masters answered, and no quorum can say
 * anything that may still be told.
 *   Not known (E_UNAVAILABLE) is told when the masters that can be asked have answered, and what
 * they say does not decide it.  The observer goes on asking.
 *
 * What it does not promise: that the leader still leads.  A leader that was lost is told until
 * another one announces, or until the masters forget it; and one that leads but has announced
 * nothing is not told.  So what is sent to the leader bears the term, and the leader refuses other
 * terms than its own.
 *
 *   observer   receives the handle, to be freed with redlock_observer_free(), before the client is
 *   name       without the prefix, which is put before it
 * The observer keeps the loop alive.  After redlock_close() it is told nothing more.  A client that
 * only looks (options.looks_only) may observe; it asks once a second, and is pushed nothing.
 * Returns REDLOCK_OK, E_ARGUMENT, E_NAME, E_CLOSED, E_FORKED, E_MEMORY.
 * May be called in any callback, on the loop's thread alone.
 */
REDLOCK_API REDLOCK_MUST_USE redlock_code
redlock_observer_begin(redlock *client, redlock_observer **observer, const char *name,
                       redlock_observer_callback *callback, void *data);

/* No callback of it is called any more.  NULL is allowed.  May be called in its own callback. */
REDLOCK_API void redlock_observer_free(redlock_observer *observer);

/* ---- Barriers --------------------------------------------------------------------------- */

/* One that waits at a barrier. */
typedef struct redlock_barrier redlock_barrier;

/* Start from REDLOCK_BARRIER_INIT, and set `parties`. */
typedef struct redlock_barrier_options {
    size_t size; /* set by REDLOCK_BARRIER_INIT */

    /* How many parties must have arrived, 1 to REDLOCK_PARTIES_MAX: the same for all who arrive at
     * one generation.  No default. */
    int64_t parties;

    /* Which use of the barrier this is, 0 to REDLOCK_GENERATION_MAX; such as the number of the
     * round that all parties are in.  Each generation is a barrier of its own, to be used once, and
     * later ones have larger numbers.  Who arrives at one that was passed passes at once, for at
     * least max_ttl_ms; after that for a week a party that was there passes, and a new one is told
     * E_OVER, as are all who come to one before the latest that was passed.  Default 0. */
    int64_t generation;

    /* A party that died while it waits is counted for so long, at most.  At most max_ttl_ms.
     * Default 10,000. */
    int64_t ttl_ms;

    /* How long to wait; then the party leaves.  It waits for masters too, as long as it has reached
     * no quorum of them.  0: it passes if it is the last one to arrive.
     * Default REDLOCK_FOREVER. */
    int64_t wait_ms;

    /* passage.token of an earlier call that was told that it is undecided: this party is that one,
     * and is not counted twice.  It passes, also days after the others did, or is undecided again,
     * for it may have been counted before.  One party at a time may have the token.  A worker that
     * may die and be started again within its ttl would be counted twice: let it have a token of
     * its own from the start, such as its number, the same at each start.  But at a generation that
     * is used a second time within a week such a party passes at once, alone.  Default NULL: a new
     * party. */
    const char *token;
} redlock_barrier_options;

#ifndef __cplusplus
#define REDLOCK_BARRIER_INIT                                                                       \
    {                                                                                              \
        .size = sizeof(redlock_barrier_options), .ttl_ms = 10000, .wait_ms = REDLOCK_FOREVER       \
    }
#else
static inline redlock_barrier_options redlock_barrier_init()
{
    redlock_barrier_options options = redlock_barrier_options();
    options.size = sizeof options;
    options.ttl_ms = 10000;
    options.wait_ms = REDLOCK_FOREVER;
    return options;
}
#define REDLOCK_BARRIER_INIT redlock_barrier_init()
#endif

/* How it went. */
typedef struct redlock_barrier_result {
    /* REDLOCK_OK: it passed.
     * E_NOT_PASSED: its time was over.  E_CANCELLED, E_CLOSED: redlock_barrier_leave() was called,
     * or redlock_close().  It did not pass, and no other party passes that has counted it.
     * E_PARTIES: others wait at this generation for `others` parties, or have passed; likewise.
     * E_OVER: the masters know of this generation only that a later one was passed, or this one
     *   before the party came, or by another number of parties; see `latest`.  It does not help to
     *   come again: go on with a later one.
     * E_UNAVAILABLE: too few masters answered; see `undecided`.
     * E_UNDECIDED: a quorum answered, and what it says does not decide it: one of them was open
     *   with this party, or it has come back.
     * E_REPLICA, E_SAME_MASTER, E_NO_MASTER: wrong entries of the list leave no quorum; see
     *   `undecided`. */
    redlock_code code;

    /* It is not known whether the barrier was passed, and others may pass that have counted this
     * party.  Arrive again, with `token`, to find out, unless the code is E_OVER.  Always with
     * E_UNDECIDED. */
    bool undecided;

    unsigned parties;  /* as asked for */
    unsigned arrived;  /* the most parties that a master counted, as far as is known */
    unsigned others;   /* E_PARTIES, or undecided for that reason: the number that others wait for,
                        * or waited for when they passed; else 0 */
    unsigned answered; /* the number of masters that have counted it, or have told of others */
    unsigned masters;  /* N */
    char token[REDLOCK_TOKEN_SIZE];
    const char *text; /* the same for people, in one line, and why masters did not answer; its words
                       * may change */
    int64_t latest;   /* E_OVER: the latest generation that was passed; else 0 */
} redlock_barrier_result;

/* `passage` lives until the callback returns; `data` is yours. */
typedef void redlock_barrier_callback(redlock_barrier *party, const redlock_barrier_result *passage,
                                      void *data);

/*
 * Arrives at a barrier, and is told once how that went: it passes when as many parties as it is for
 * have arrived and wait there at one time.
 *   Each party is on all masters, which count it, and forget it a ttl after they last heard of it.
 * A master opens when it counts enough of them at one time, and takes nobody off from then on.  A
 * party passes when as many parties as the barrier is for are each counted on a quorum of open
 * masters, and a quorum has been told so.  Then all others pass too: those who wait, and those who
 * come later. So nobody passes early.  A party that waits for ever passes when all have arrived and
 * each of them reaches the same quorum of masters. Whoever leaves asks the masters to count it no
 * more, and what it is told is true: not passed is told only if a quorum of masters that vote had
 * not opened and counts it no more.  Else it passed, or it is undecided. A party that has heard of
 * no quorum for half of max_ttl_ms is told E_UNAVAILABLE, for the masters remember what they know
 * for about so long.
 *
 * What it does not promise: that the other parties live yet when this one has passed; they did
 * within their ttl.  A master that is wrong may let parties pass early, unless spare votes allow
 * for it (options.spare).  That a generation was passed is forgotten after a week, or earlier
 * if all masters that knew it have lost their data, one after the other: a party that comes after
 * that waits there for new ones.
 *
 *   party     receives the handle, to be freed with redlock_barrier_free(), before the client is
 *   name      without the prefix, which is put before it
 *   options   copied
 * The party keeps the loop alive until it is told.  redlock_close() makes it leave; it is told
 * before the client is closed.
 * Returns REDLOCK_OK, E_ARGUMENT (also for a client that only looks), E_NAME, E_TTL, E_CLOSED,
 * E_FORKED, E_MEMORY.
 * May be called in any callback, on the loop's thread alone.
 */
REDLOCK_API REDLOCK_MUST_USE redlock_code redlock_barrier_arrive(
    redlock *client, redlock_barrier **party, const char *name,
    const redlock_barrier_options *options, redlock_barrier_callback *callback, void *data);

/* Leaves the barrier: how that went is told, and may be that it passed.  Returns REDLOCK_OK,
 * E_STATE if it leaves already or has been told, E_FORKED. */
REDLOCK_API redlock_code redlock_barrier_leave(redlock_barrier *party);

/* Leaves, if it has not been told yet, and is told nothing: others may pass that have counted it.
 * NULL is allowed.  May be called in its own callback. */
REDLOCK_API void redlock_barrier_free(redlock_barrier *party);

/* ---- Latches ---------------------------------------------------------------------------- */

/* One call about a latch. */
typedef struct redlock_latch redlock_latch;

/* Start from REDLOCK_LATCH_INIT. */
typedef struct redlock_latch_options {
    size_t size; /* set by REDLOCK_LATCH_INIT */

    /* create: how many must arrive, 1 to REDLOCK_ARRIVALS_MAX.  No default. */
    int64_t arrivals;

    /* create: how long the latch lives, 1,000 to REDLOCK_LATCH_LIFE_MAX, open or not.  Then it is
     * gone, and the name may have another one.  Default 3,600,000: an hour. */
    int64_t life_ms;

    /* How long the call goes on; then it tells what it knows.  0: until the masters have answered.
     * create goes on for half of max_ttl_ms at most, and count as if it were 0.  Default
     * REDLOCK_FOREVER. */
    int64_t wait_ms;

    /* arrive, await, count: of the latch that is meant, as tally.id has told it to its creator.
     * Default NULL: whichever the name has.  Give it where a name has one latch after the other. */
    const char *id;

    /* arrive: says who arrives, and is counted once, however often and by whomever it is used: 1 to
     * 64 bytes of printable ASCII without spaces.  Default NULL: a new one, which tally.arrival
     * tells. */
    const char *arrival;
} redlock_latch_options;

#ifndef __cplusplus
#define REDLOCK_LATCH_INIT                                                                         \
    {                                                                                              \
        .size = sizeof(redlock_latch_options), .life_ms = 3600000, .wait_ms = REDLOCK_FOREVER      \
    }
#else
static inline redlock_latch_options redlock_latch_init()
{
    redlock_latch_options options = redlock_latch_options();
    options.size = sizeof options;
    options.life_ms = 3600000;
    options.wait_ms = REDLOCK_FOREVER;
    return options;
}
#define REDLOCK_LATCH_INIT redlock_latch_init()
#endif

/* How it went. */
typedef struct redlock_latch_result {
    /* REDLOCK_OK: it was done.
     * E_HELD: create: the name has another latch; `id` and `arrivals` are of that.
     * E_NOT_OPEN: await: its time was over.
     * E_GONE: no quorum of masters has the latch: its life is over, too many masters have lost it,
     *   or there never was one.
     * E_UNAVAILABLE: too few masters answered.  E_CANCELLED, E_CLOSED: redlock_latch_cancel() was
     *   called, or redlock_close().
     * E_REPLICA, E_SAME_MASTER, E_NO_MASTER: wrong entries of the list leave no quorum. */
    redlock_code code;

    /* The arrival may be counted, or the latch may have been made, and whether is not known.
     * Arrive again, with `arrival`; create again, and if that is told E_HELD with this `id` then it
     * was made. */
    bool undecided;

    bool open;         /* the latch is known to be open; always of await with REDLOCK_OK */
    unsigned arrivals; /* how many it waits for; 0: not known */
    unsigned arrived;  /* how many have arrived, as far as was read */
    char id[REDLOCK_LATCH_ID_SIZE];      /* of the latch; "": not known */
    char arrival[REDLOCK_LATCH_ID_SIZE]; /* of arrive; else "" */
    unsigned answered;                   /* the number of masters that answered at least once */
    unsigned masters;                    /* N */
} redlock_latch_result;

/* `tally` lives until the callback returns; `data` is yours. */
typedef void redlock_latch_callback(redlock_latch *latch, const redlock_latch_result *tally,
                                    void *data);

/*
 * A latch is made once, waits for so many arrivals, and is open from then on, for the rest of its
 * life.  Whoever has arrived need not wait, and may die: the arrival stays.  Each call tells its
 * callback once how it went.
 *
 *   create   makes it, with a new id, unless the name has one.  Where several are made at once, so
 *            that none is on a quorum of masters, each is tried again.  One at most is REDLOCK_OK,
 *            and nobody takes that one away
 *   arrive   is counted: REDLOCK_OK when a quorum of masters has stored that
 *   await    waits until it is open
 *   count    tells how many have arrived, and whether it is open
 *
 * It is never told to be open before so many different arrivals were begun, nor not to be open to a
 * call that begins after somebody was told that it is.  An arrival that was told REDLOCK_OK is not
 * lost, though masters restart and forget, one after the other: who has read a quorum of masters
 * puts the latch back on those that have lost it, when their quarantine is over, and waits as long
 * again as the quorum took for the other masters to say so.  (With f spare votes 3f + 2 masters at
 * least are needed for that.)  If too many forget before anybody calls, the latch is E_GONE.
 *
 * What it does not promise: that a latch which was told to be there stays for its life.  One that
 * was not made may be left on less than a quorum of masters, where its creator died or lost the
 * connection: nobody can arrive there.  Where nobody has arrived at another latch of the name,
 * calls that find it in the way take it away when it has been there for max_ttl_ms + clock_skew_ms;
 * until then create is E_UNAVAILABLE if such leave it no quorum: create again.  An arrival takes it
 * away at once, and puts its latch there before it is told, on all masters that vote and answer;
 * but not if its latch ends within that time.  So give a latch a life that is longer than its last
 * arrival needs by max_ttl_ms + clock_skew_ms.  A master whose data is deleted while it runs
 * (FLUSHALL, eviction), or whose wall clock is more than clock_skew_ms off, counts as wrong, as for
 * leases; it stays so until the latch ends.
 *
 *   latch     receives the handle, to be freed with redlock_latch_free(), before the client is
 *   name      without the prefix, which is put before it
 *   options   copied; NULL for the defaults where none is missing
 * The call keeps the loop alive until it is told.  redlock_close() ends it.
 * Returns REDLOCK_OK, E_ARGUMENT (also for a client that only looks), E_NAME, E_CLOSED, E_FORKED,
 * E_MEMORY.  May be called in any callback, on the loop's thread alone.
 */
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

/* Ends the call, which tells E_CANCELLED.  Returns REDLOCK_OK, E_STATE if it has been told or
 * cancelled, E_FORKED. */
REDLOCK_API redlock_code redlock_latch_cancel(redlock_latch *latch);

/* Ends the call, if it has not been told yet, and tells nothing.  The latch stays.  NULL is
 * allowed.  May be called in its own callback. */
REDLOCK_API void redlock_latch_free(redlock_latch *latch);

#ifdef __cplusplus
}
#endif

#endif
