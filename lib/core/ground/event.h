/*
 * event.h - the vocabulary between the pure core and its shell.  Read first.
 *
 * The shell tells the core what happened (struct event) and what time it is;
 * the core answers with what to do (struct effect).  Nothing here knows a
 * socket, a clock, Redis or libev.
 *
 * Promises of the shell
 *   - Each request is answered by exactly one EVENT_REPLY: its reply, or
 *     ANSWER_LOST when the connection ended first.
 *   - Requests to one master are carried out and answered in the order sent.
 *   - Each EFFECT_CONNECT is followed by exactly one EVENT_CLOSED, sooner or
 *     later.  Before it come EVENT_CONNECTED, if the connection was made, and
 *     all the ANSWER_LOST of that connection.
 *   - Effects are carried out in the order given and never call the core.
 */
#ifndef REDLOCK_CORE_EVENT_H
#define REDLOCK_CORE_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "ground/requests.h"

/* Microseconds of a clock that never jumps and counts suspend. */
typedef int64_t usec;
#define NEVER INT64_MAX
#define MS(n) ((usec)(n)*1000)

#define MASTERS_MAX   15
#define TOKEN_RANDOM  16                          /* random bytes of a token */
#define TOKEN_TEXT    22                          /* the same in base64url */
#define TOKEN_MAX     95                          /* with ':' and a label */
#define TTL_MS_MOST   (INT64_C(24) * 3600 * 1000) /* no client may ask for a longer ttl */
#define PERMITS_MOST  1024                        /* of one name */
#define VALUE_MOST    65536                       /* bytes that can be said of a name */
#define PARTIES_MOST  256                         /* of a barrier */
#define LATCH_MOST    1000                        /* arrivals that a latch waits for */
#define LATCH_ID_MAX  64                          /* of a latch, of an arrival */
#define WISH_TEXT_MAX 200                         /* bytes of a wish */
#define CURSOR_MAX    20                          /* digits of a survey's cursor */
#define VOTE_TEXT_MAX 120                         /* most bytes kept of a text of a master */
#define RUN_ID_MAX    43                          /* longest run_id */
#define CLOCK_WINDOW  MS(60000)                   /* a proposal further above TIME is cut */

/* Bytes that somebody else owns. */
struct slice {
    const char *bytes;
    size_t length;
};

static inline struct slice slice_of(const char *text)
{
    return (struct slice){text, strlen(text)};
}

static inline bool slices_are_same(struct slice a, struct slice b)
{
    return a.length == b.length && (a.length == 0 || memcmp(a.bytes, b.bytes, a.length) == 0);
}

struct names; /* names.h */
struct claim; /* claim.h */
struct lease; /* lease.h */
struct task;  /* recipes/task.h */

/* ---- The settings of the core --------------------------------------------- */

struct engine_config {
    unsigned masters;
    unsigned spare; /* the number of masters that may be wrong, whatever they do */
    int64_t drift_ppm;
    int64_t max_ttl_ms;
    int64_t skew_ms;
    bool looks_only;       /* no lease is ever asked for: the masters need not know max_ttl_ms */
    const char *successor; /* of one that looks: our list is over, and this one follows: */
    uint16_t ends_at;      /* so it says to these masters (bits) */
    bool revives;          /* or it is not, for masters where no end has changed since: */
    int64_t changes[MASTERS_MAX];
    bool trust_restarts;
    usec connect_timeout;
    usec request_timeout; /* 0: it follows from the round trip */
    unsigned backlog;     /* unanswered requests of ours with which a master is behind */
    usec local_turn;      /* how long a lease goes on in memory; 0: the times of handover.c */
    bool strict_order;    /* no lease does, and each waiter is enqueued for itself */
    char label[65];       /* "": none */
    char channel[40];     /* on which masters tell this client of handovers */
    const char *fleet; /* whose clients count on the same masters; NULL: nothing is said of them */
    const char *addresses[MASTERS_MAX]; /* of the masters, as listed; only with a fleet */
};

/* ---- Requests: core → master; their kinds are in requests.h -------------- */

#define READERS "redlock:shared"  /* the value of a name that is shared */
#define PERMITS "redlock:permits" /* told as that of a name with permits out */

/* How a lease has its names: as each was named when it was asked for, or, since a change, all
 * alike. */
enum lease_mode { MODE_AS_NAMED, MODE_SHARED, MODE_EXCLUSIVE };

/* Where the text of a request's script was when it was sent: ahead of it, under way, or in it. */
enum text_went { TEXT_NOT, TEXT_AHEAD, TEXT_WITH };

/* The answer brings its request's tag back unchanged. */
struct tag {
    enum request_kind kind;
    uint32_t round;        /* see struct question; 0: no claim asks.  Of a task: its number */
    struct claim *claim;   /* NULL for HELLO, ADOPT, KILL, and where a task asks */
    usec sent_at;          /* read before the request went to the link */
    int64_t ttl : 40;      /* ACQUIRE, GRANT, QUEUE, RENEW, UPGRADE: the ttl that was asked for */
    uint64_t mode : 2;     /* enum lease_mode: in which the names are asked for; UPGRADE: are had */
    uint64_t converts : 1; /* RENEW: a name that the mode shares, and that has the token
                              itself, is shared from then on */
    uint64_t text : 2;     /* of a task: enum text_went */
};

/* A master works out its quarantine from these. */
struct quarantine_terms {
    int64_t max_ttl_ms;
    int64_t drift_ppm;
    int64_t skew_ms;
    bool trust;     /* a restarted master votes at once */
    usec other_ago; /* HELLO: since another process answered there, more than 1; 0: none did */
};

/* A client tells each master which list it counts on. */
struct agree_request {
    enum list_saying {
        SAYS_NO_MORE = -1, /* it counted on the list */
        SAYS_NOTHING,      /* it only looks */
        SAYS_OURS,         /* it counts on the list */
        SAYS_OVER,         /* nobody may count on the list any more */
        SAYS_NOT_OVER      /* takes that back */
    } says;
    usec kept; /* how long the master keeps in mind who counts on it */
    unsigned quorum;
    const struct engine_config *config; /* the rest */
    usec told_time; /* the master's wall clock in its last answer to this; 0: none */
    const char *run_ids[MASTERS_MAX]; /* "": no answer to what was asked since then */
    const char *successor;            /* OVER: the list in place of it */
    int64_t changes;                  /* NOT_OVER: of ends there, as the master told them last */
};

/* GRANT; UPGRADE, of no slot. */
struct grant_request {
    usec proposal;    /* for the master's logical clock; 0: no fence is asked for */
    uint16_t permits; /* of a slot: how many the name is said to have */
};

struct queue_request {
    usec ticket;      /* the order of the place */
    uint16_t permits; /* of a slot: how many the name is said to have */
};

struct renew_request {
    bool heal;      /* set the token again where the name is absent */
    usec not_after; /* the master refuses once its wall clock is past this; 0: no limit */
};

/* UNSAY: the term alone. */
struct announce_request {
    usec term;
    int64_t number; /* of the announcement, within its term */
    struct slice value;
};

/* ARRIVE; DEPART: the generation and the number of parties alone. */
struct barrier_request {
    int64_t generation;
    int64_t kept_ms; /* how long the master keeps in mind that it is open */
    uint16_t parties;
    bool passed; /* the barrier was passed */
};

struct tally_request {
    struct slice id;      /* "": of any latch */
    struct slice arrival; /* "": none */
    bool open;            /* the latch is known to be open */
};

struct mend_request {
    struct slice id;
    const char *run;      /* the process that the record is for */
    struct slice arrived; /* the arrivals, one a line */
    int64_t ends_ms;      /* when the latch's life ends, by the master's wall clock */
    uint16_t arrivals;    /* for how many it waits */
    bool open;
};

struct drop_request {
    struct slice id;
    int64_t age_ms; /* it must have been there for at least this time */
};

/* Somebody wishes to have the name. */
struct ask_request {
    usec id;            /* of the wish; see recipes/wish.h */
    struct slice words; /* who asks, a space and the text */
    uint16_t least;     /* waiters that there are: the asker may be about to be enqueued */
};

struct survey_request {
    struct slice cursor;
    uint16_t keys; /* how many keys are looked at */
    bool foreign;  /* also at values of other software that may be locks */
};

/* All that it points to stays in memory until the answer. */
struct request {
    struct tag tag;
    bool whole; /* send the script's text: the master has forgotten it, or may have */

    const struct names *names; /* of every kind but HELLO, ADOPT and KILL */

    /* Of a lease, an announcement or a party. */
    const char *token;
    size_t token_length;
    const char *label; /* the token's last label_length bytes, the same for all of a client */
    size_t label_length;

    /* How long the master keeps what it is asked for: the names, the place and what that is given,
     * what is said, a party, us as a listener.  RELEASE: that no renewal heals; 0: it keeps
     * nothing */
    int64_t ttl_ms;
    const char *channel; /* on which it tells us of changes; NULL: it need not */

    union {                                /* by the tag's kind */
        struct quarantine_terms terms;     /* HELLO, ADOPT */
        int64_t kill_id;                   /* KILL */
        const struct agree_request *agree; /* AGREE */
        struct grant_request grant;        /* GRANT, UPGRADE */
        usec fence;                        /* RAISE */
        struct queue_request queue;
        struct renew_request renew;
        uint16_t tokens_told;             /* PEEK: most tokens reported per list; 0: 16 */
        struct announce_request announce; /* ANNOUNCE, UNSAY */
        struct barrier_request barrier;   /* ARRIVE, DEPART */
        struct tally_request tally;
        struct mend_request mend;
        struct drop_request drop;
        struct survey_request survey;
        struct ask_request ask;
    };
};

/* ---- Answers: master → core -------------------------------------------- */

enum answer {
    ANSWER_YES,      /* ACQUIRE, GRANT: granted.  RAISE: stored.  QUEUE: the names are ours.
                        RENEW: renewed.  UPGRADE: ours alone.  RELEASE: the names were ours.
                        KILL: done.  AGREE: see lists.  ANNOUNCE: it is said.  UNSAY: it was said.
                        OBSERVE: see said.
                        SURVEY: see survey.  ARRIVE, DEPART: the barrier was passed.
                        TALLY, MEND: the latch is here, and not open; see latch.
                        DROP: it is here no more */
    ANSWER_HEALED,   /* RENEW: a name was absent, and is set again */
    ANSWER_AHEAD,    /* QUEUE: the names are ours, but another waiter is ahead */
    ANSWER_QUEUED,   /* QUEUE: enqueued; see queue; ARRIVE: counted; see barrier */
    ANSWER_READ,     /* UPGRADE: the names are ours, but not ours alone: others read one */
    ANSWER_HELD,     /* another token has the name; ACQUIRE, GRANT: a plain refusal; ANNOUNCE:
                        something later is said; ARRIVE, DEPART: others wait for another number of
                        parties, and we are not counted.  ASK: see heed */
    ANSWER_ABSENT,   /* RAISE, RENEW, UPGRADE, RELEASE, PEEK, ASK: the name is free.
                        ANNOUNCE: it does not hold the token.  UNSAY, OBSERVE: nothing is said.
                        DEPART: we are counted no more, and it is not open.
                        TALLY, MEND: this process has no latch */
    ANSWER_LATE,     /* RENEW: the request came past not_after; see master_time */
    ANSWER_HELLO,    /* HELLO, ADOPT: see hello */
    ANSWER_NOSCRIPT, /* the master has forgotten the script */
    ANSWER_NO_CLOCK, /* GRANT, RAISE, UPGRADE: redlock:clock is lost; hello makes it again */
    ANSWER_ERROR,    /* any other error reply: text */
    ANSWER_LOST,     /* the connection ended before the answer: outcome unknown */
    ANSWER_OPEN,     /* ARRIVE, DEPART: enough parties were counted here at one time.
                        TALLY, MEND: the latch is here, and open */
    ANSWER_OVER      /* ARRIVE, DEPART: we are not counted, for this generation or a later one was
                        passed; see latest */
};

struct hello {
    char run_id[RUN_ID_MAX + 1]; /* of its process */
    char version[32];
    char role[12];     /* "master", "slave"; "cluster": it is a node of one */
    char eviction[24]; /* maxmemory-policy if maxmemory is set, else "" */
    bool aof;
    int64_t uptime_s;
    int64_t client_id;  /* of this connection; 0 unknown */
    usec time;          /* the master's wall clock */
    usec abstains;      /* the rest of its quarantine; 0 or less: none */
    int64_t max_ttl_ms; /* the largest that any client told this master */
    usec age;           /* of its process, by its record; TIME if it was adopted by hand */
    usec clock;         /* its logical clock */
};

/* An announcement about a name, by the token that held it in this term.  In one term, a later
 * announcement has a larger number. */
struct said {
    usec term; /* its fencing token; 0: nothing is said */
    int64_t number;
    struct slice token, value;
    int64_t remaining_ms;
};

/* PEEK: HELD. */
struct peek_reply {
    struct slice value;
    int64_t remaining_ms; /* -1 unknown, -2 never expires */
    unsigned waiting;     /* the number of waiters */
    unsigned reading;     /* the number of readers, or of those who have a permit */
    struct slice waiters; /* the tokens of the first ones, one a line */
    struct slice readers; /* likewise */
    uint16_t permits;     /* the value is PERMITS: how many slots the name is said to have */
};

/* Of another slot of the name; below 0: of none, or not told. */
struct slots_reply {
    int16_t free_slot; /* it is free, with nobody enqueued for it */
    int16_t next_slot; /* HELD: its queue is the shortest; QUEUED: its first waiter came later */
};

/* QUEUE: QUEUED. */
struct queue_reply {
    struct slots_reply slots;
    unsigned position;    /* the number of waiters ahead of us */
    int64_t remaining_ms; /* of the holder: -1 unknown, -2 never expires */
    bool foreign;         /* the holder is of another library, and hands over to nobody */
};

/* ARRIVE, DEPART. */
struct barrier_reply {
    uint16_t parties;    /* for how many those wait that are counted */
    unsigned counted;    /* the number of parties that are counted */
    struct slice tokens; /* OPEN: of all parties that are counted, one a line */
    int64_t latest;      /* OVER: the latest generation that was passed */
};

/* TALLY, MEND: YES, OPEN. */
struct latch_reply {
    struct slice id;
    uint16_t arrivals;    /* for how many it waits */
    int64_t ends_ms;      /* when its life ends, by the master's wall clock */
    int64_t remaining_ms; /* how long it lives yet */
    usec age;             /* how long it has been there */
    struct slice arrived; /* the arrivals, sorted, one a line */
};

/* ASK: HELD. */
struct heed_reply {
    struct slice value;
    int64_t remaining_ms; /* as of PEEK */
    unsigned waiting;     /* the number of waiters */
    unsigned heeding;     /* the number of channels to which wishes are sent */
};

/* SURVEY. */
struct survey_reply {
    struct slice cursor;
    int64_t keys;       /* how many the master has */
    unsigned left_out;  /* the number of names that had no room */
    struct slice names; /* of each its length, a colon and its bytes */
};

struct reply {
    struct tag tag;
    enum answer answer;
    bool uncounted;    /* LOST: it came, and may not count */
    usec clock;        /* GRANT, RAISE, QUEUE, UPGRADE: the master's logical clock; 0: not told */
    struct slice text; /* ERROR, LOST: why */
    union {            /* by the tag's kind */
        struct peek_reply
            peek; /* the largest, and so it stands first: its zeros are those of all */
        struct slots_reply grant; /* HELD, of a slot */
        struct queue_reply queue;
        usec master_time; /* RENEW: LATE */
        struct said said; /* OBSERVE: YES */
        struct barrier_reply barrier;
        struct latch_reply latch;
        struct survey_reply survey;
        struct heed_reply heed;
        struct slice lists;        /* AGREE: YES; as lib/wire/scripts/agree.lua has them */
        const struct hello *hello; /* HELLO, ADOPT: HELLO */
    };
};

_Static_assert(sizeof(struct reply) == offsetof(struct reply, peek) + sizeof(struct peek_reply),
               "the first of the union is the largest");

/* Makes it a reply that tells nothing yet. */
static inline void reply_begin(struct reply *reply, const struct tag *tag)
{
    *reply = (struct reply){.tag = *tag};
    if (tag->kind == REQUEST_GRANT)
        reply->grant = (struct slots_reply){-1, -1};
    else if (tag->kind == REQUEST_QUEUE)
        reply->queue = (struct queue_reply){.slots = {-1, -1}, .remaining_ms = -1};
    else if (tag->kind == REQUEST_PEEK)
        reply->peek.remaining_ms = -1;
}

/* A master reports on a client's channel one of three things.  It gave the names to its first
 * waiter, who is here.  It has a free slot with nobody enqueued for it, and a waiter for another
 * slot is here.  An announcement that the
 * client observes has changed. */
struct push {
    struct slice name; /* the push is about what is said of it, and nothing else; or NULL */
    struct said said;
    struct slice token;
    usec clock;    /* the logical clock, advanced for this grant; 0: nothing is given */
    int free_slot; /* if nothing is given */
};

/* ---- Events: shell → core ---------------------------------------------- */

/* The terms on which a lease is asked for; times in microseconds. */
struct terms {
    usec ttl;
    usec margin;
    usec wait;     /* NEVER: for ever */
    usec max_hold; /* 0: no cap */
    usec at_least; /* from ACQUIRED nobody else has the names this long, released or not */
    bool renew;
    bool fence;           /* with a fencing token */
    bool shared;          /* every name is shared; the core goes by its names */
    bool inspects;        /* it is there to look at others; the core goes by EVENT_INSPECT */
    bool all_answers;     /* its inspection waits for all masters, and not for a quorum alone */
    uint16_t tokens_told; /* of its inspection: see struct request */
    unsigned permits;     /* the lease is one of that number of slots; 0: the name itself */
    usec moves_by;        /* the shadow of a lease that is held until then: see lease_move() */
};

enum event_kind {
    EVENT_TIMER,     /* the core's deadline has come: one is handled, so send it while one is due */
    EVENT_CONNECTED, /* master */
    EVENT_CLOSED,    /* master, text */
    EVENT_REPLY,     /* master, reply */
    EVENT_SUBSCRIBED, /* master, text: from now on, what the process of that run_id publishes on our
                         channel is heard */
    EVENT_ALIVE,      /* master: its subscription has answered an EFFECT_PROBE */
    EVENT_UNSUBSCRIBED, /* master: not subscribed (any more); once for each EFFECT_SUBSCRIBE */
    EVENT_PUSH,         /* master, push */
    EVENT_ACQUIRE,      /* lease */
    EVENT_ATTACH,       /* lease */
    EVENT_RELEASE,      /* lease: also cancels its acquire */
    EVENT_EXTEND,       /* lease, ttl (0: as before) */
    EVENT_DOWNGRADE,    /* lease: all its names are shared from now on */
    EVENT_UPGRADE,      /* lease: all its names are to be exclusive */
    EVENT_INSPECT,      /* lease */
    EVENT_ABANDON,      /* lease: the user drops it, and it is released */
    EVENT_DETACH,       /* lease: the user drops it, and it stays on the masters */
    EVENT_ADOPT,        /* master */
    EVENT_TASK_BEGIN,   /* task: it was made, or given something else to say */
    EVENT_TASK_LEAVE,   /* task: a party leaves its barrier, a call about a latch is cancelled; an
                           outcome follows */
    EVENT_TASK_END,     /* task: the user drops it, and the shell must not use it any more */
    EVENT_CLOSE,        /* no new leases; all are released */
    EVENT_GIVE_UP       /* closing has taken too long: releases that are under way end now */
};

struct event {
    enum event_kind kind;
    unsigned master;
    union {
        struct lease *lease;
        struct task *task;
    };
    usec ttl;
    const char *text; /* CLOSED: why; NULL if the core asked for it.  SUBSCRIBED: run_id */
    const struct reply *reply;
    const struct push *push;
};

/* ---- Effects: core → shell --------------------------------------------- */

enum effect_kind {
    EFFECT_CONNECT,    /* master */
    EFFECT_DISCONNECT, /* master: EVENT_CLOSED follows */
    EFFECT_SUBSCRIBE,  /* master: make a subscription to our channel, on a connection of its own */
    EFFECT_PROBE, /* master: ask its subscription for a sign of life; EVENT_ALIVE, or nothing */
    EFFECT_UNSUBSCRIBE, /* master: end the subscription; EVENT_UNSUBSCRIBED follows */
    EFFECT_SEND,        /* master, request */
    EFFECT_TELL,        /* lease has an outcome: fetch it with engine_tell() */
    EFFECT_TELL_TASK,   /* task has news: fetch it with task_tell() */
    EFFECT_READY,       /* every master was reached or tried: engine_readiness() */
    EFFECT_CLOSED,      /* EVENT_CLOSE is done: no release that is owed is waited for */
    EFFECT_NOTICE,      /* the master's state has changed: for the log */
    EFFECT_LISTS        /* masters have told of other lists, or do so no more: for the log */
};

struct effect {
    enum effect_kind kind;
    unsigned master;
    const struct request *request;
    union {
        struct lease *lease;
        struct task *task;
    };
};

/* ---- Outcomes: core → user, fetched with engine_tell() ------------------ */

enum outcome_kind {
    OUTCOME_ACQUIRED, /* the kinds are in the order of their reports */
    OUTCOME_NOT_ACQUIRED,
    OUTCOME_EXTENDED,
    OUTCOME_NOT_EXTENDED,
    OUTCOME_AT_RISK,
    OUTCOME_HEALTHY,
    OUTCOME_LOST,
    OUTCOME_RELEASED,
    OUTCOME_SEEN,
    OUTCOME_CHANGED, /* these two while the lease is held; LOST and RELEASED take them back */
    OUTCOME_NOT_CHANGED,
    OUTCOMES,
    OUTCOME_ANNOUNCED = OUTCOMES, /* these are not told by engine_tell(): one by an announcer, */
    OUTCOME_MOVED,                /* two by the shadow of a lease that moves */
    OUTCOME_NOT_MOVED
};

enum cause {
    CAUSE_NONE,
    CAUSE_HELD,
    CAUSE_UNAVAILABLE,
    CAUSE_TOO_SLOW,
    CAUSE_EXPIRED,
    CAUSE_GONE,
    CAUSE_MAX_HOLD,
    CAUSE_CANCELLED,
    CAUSE_CLOSED,
    CAUSE_MEMORY,
    CAUSE_REPLICA,
    CAUSE_SAME_MASTER,
    CAUSE_NO_MASTER, /* a cluster node, or several servers */
    CAUSE_DIFFERS,   /* other clients of the fleet count on other masters */
    CAUSE_OVERLOAD,  /* too much was asked of the masters before */
    CAUSE_OVER       /* of a party alone; at most 15: see struct lease */
};

/* The vote of one master in a round. */
enum vote {
    VOTE_NOTHING,
    VOTE_GRANTED,
    VOTE_HEALED,
    VOTE_HELD,
    VOTE_FREE,
    VOTE_RELEASED,
    VOTE_REFUSED,
    VOTE_TIMEOUT,
    VOTE_UNREACHABLE,
    VOTE_ABSTAINS
};

struct outcome {
    enum outcome_kind kind;
    enum cause cause;
    unsigned granted; /* the number of masters that have the lease, as far as is known */
    usec valid;       /* validity left; 0: over */
    usec ends;        /* the same; LOST: below 0 once it is over, and since when */
    usec elapsed;     /* since the user's call */
    unsigned rounds;
    usec fence; /* the fencing token; 0: none */
    usec kept;  /* RELEASED: how long a quorum of masters keeps the names from others */
};

/* ---- What the shell may look at, with the views of engine.h --------------- */

enum master_state { MASTER_DOWN, MASTER_CONNECTING, MASTER_PREPARING, MASTER_UP, MASTER_LEAVING };

/* The times of a histogram; see histogram.h. */
#define TIME_BUCKETS 28
#define BUCKET_US(i) (INT64_C(1) << (BUCKET_BITS + (i))) /* the longest time in bucket i */
#define BUCKET_BITS  7
struct times {
    uint64_t sum; /* us */
    uint64_t buckets[TIME_BUCKETS];
};

struct engine_counters {
    uint64_t acquires, acquired, contended, unavailable, rounds, renewals, renewals_missed, heals,
        raises, handoffs, handed_here, pushes, found, yields, lost, released, timeouts, connects,
        disconnects, owed;
    struct times acquiring; /* from the call to ACQUIRED */
    struct times queued;    /* from the call until the names were handed over */
    struct times holding;   /* from ACQUIRED until the lease is held no more */
    struct times left;      /* validity, when a renewal reached its quorum */
};

/* ---- What the shell lends the core ---------------------------------------- */

/* Where effects go. */
struct sink {
    void (*emit)(void *shell, const struct effect *effect);
    void *shell;
};

/* The shell passes random bytes to each step that may draw a token; the core takes them from the
 * front, at most RANDOMNESS_PER_STEP a step. */
bool event_may_draw(enum event_kind kind);
#define RANDOMNESS_PER_STEP 64
struct randomness {
    const uint8_t *bytes;
    size_t left;
};

/* The shell passes the allocator: the core has none of its own. */
struct memory {
    void *(*take)(void *pool, size_t size); /* zeroed; NULL when there is none */
    void (*give)(void *pool, void *block, size_t size);
    void *pool;
};

#endif
