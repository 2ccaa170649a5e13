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
 *     later, with EVENT_CONNECTED before it if it came about, and all the
 *     ANSWER_LOST of that connection before it as well.
 *   - Effects are carried out in the order given and never call the core.
 */
#ifndef REDLOCK_CORE_EVENT_H
#define REDLOCK_CORE_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Microseconds of a clock that never jumps and counts suspend. */
typedef int64_t usec;
#define NEVER INT64_MAX
#define MS(n) ((usec)(n)*1000)

#define MASTERS_MAX  15
#define TOKEN_RANDOM 16                          /* bytes drawn for a token */
#define TOKEN_TEXT   22                          /* the same in base64url */
#define TOKEN_MAX    95                          /* with ':' and a label */
#define TTL_MS_MOST  (INT64_C(24) * 3600 * 1000) /* no client may ask for a longer ttl */
#define SAYING_MAX   120                         /* what is kept of a master's words */
#define CLOCK_WINDOW MS(60000)                   /* a proposal beyond TIME by more is cut */

struct names; /* names.h */
struct claim; /* claim.h */
struct lease; /* lease.h */

/* ---- Requests: core → master ------------------------------------------- */

enum request_kind {
    REQUEST_HELLO,   /* who are you, since when, may you vote? first on a connection */
    REQUEST_ADOPT,   /* end the quarantine by hand; answered like HELLO */
    REQUEST_KILL,    /* end our former connection on this master */
    REQUEST_ACQUIRE, /* take all names if all are free */
    REQUEST_GRANT, /* the same, not past those who wait; tells the logical clock, and moves it on */
    REQUEST_RAISE, /* store the fence, if the token is ours */
    REQUEST_QUEUE, /* stand in line for the names, or go on standing there */
    REQUEST_RENEW, /* prolong where the token is ours; take again if allowed */
    REQUEST_RELEASE, /* give back where the token is ours */
    REQUEST_PEEK     /* who holds the names, for how long? */
};

/* Comes back untouched with the answer. */
struct tag {
    enum request_kind kind;
    uint32_t round;      /* 0: part of no round */
    struct claim *claim; /* NULL for HELLO, ADOPT, KILL */
    usec sent_at;        /* read before the request was handed to the link */
    usec ttl;            /* ACQUIRE, GRANT, QUEUE, RENEW: what was asked for */
};

/* What a master needs to work out its quarantine. */
struct quarantine_terms {
    int64_t max_ttl_ms;
    int64_t drift_ppm;
    int64_t skew_ms;
    bool trust; /* a restarted master votes at once */
};

struct request {
    struct tag tag;
    bool whole; /* send the script itself: the master has forgotten it */

    /* ACQUIRE, GRANT, RAISE, QUEUE, RENEW, RELEASE, PEEK (no token); these stay until it was
     * answered */
    const struct names *names;
    const char *token;
    size_t token_length;
    const char *label; /* its last label_length bytes, kept once for all tokens of a client */
    size_t label_length;

    /* ACQUIRE, GRANT, QUEUE, RENEW */
    int64_t ttl_ms;

    usec proposal; /* GRANT: to the master's logical clock; 0: without a fence */
    usec fence;    /* RAISE */

    /* QUEUE: its place in the order; ttl_ms is how long it stands there, and keeps what
     * it is given, without being heard of again */
    usec ticket;
    const char *channel; /* on which it is told what it is given */

    /* RENEW */
    bool heal;      /* set it again where it is absent */
    usec not_after; /* refuse when the master's wall clock is past this; 0: no such limit */

    struct quarantine_terms terms; /* HELLO, ADOPT */
    int64_t kill_id;               /* KILL */
};

/* ---- Answers: master → core -------------------------------------------- */

enum answer {
    ANSWER_YES,      /* ACQUIRE, GRANT: granted, RAISE: stored, QUEUE: it is ours, RENEW: renewed,
                        RELEASE: was ours, KILL: done */
    ANSWER_HEALED,   /* RENEW: was absent, is set again */
    ANSWER_AHEAD,    /* QUEUE: it is ours, but somebody who is ahead of us waits there */
    ANSWER_QUEUED,   /* QUEUE: we stand in line; remaining_ms, position */
    ANSWER_HELD,     /* somebody else has it; ACQUIRE, GRANT: a plain refusal */
    ANSWER_ABSENT,   /* RAISE, RENEW, RELEASE, PEEK: nobody has it */
    ANSWER_LATE,     /* RENEW: past not_after; master_time tells */
    ANSWER_HELLO,    /* HELLO, ADOPT: see hello */
    ANSWER_NOSCRIPT, /* send it whole */
    ANSWER_NO_CLOCK, /* GRANT, RAISE: it has lost redlock:clock; hello makes it again */
    ANSWER_ERROR,    /* any other error reply: text */
    ANSWER_LOST      /* the connection ended before the answer: outcome unknown */
};

struct hello {
    char run_id[44]; /* of its process */
    char version[16];
    char role[12];     /* "master", "slave" */
    char eviction[24]; /* maxmemory-policy if maxmemory is set, else "" */
    bool aof;
    int64_t uptime_s;
    int64_t client_id;  /* of this connection; 0 unknown */
    usec time;          /* the master's wall clock */
    usec abstains;      /* left of its quarantine; 0 or less: none */
    int64_t max_ttl_ms; /* largest that any client told this master */
    usec age;           /* of its process, as its record says; TIME if it was adopted by hand */
    usec clock;         /* its logical clock */
};

struct reply {
    struct tag tag;
    enum answer answer;
    int64_t remaining_ms; /* HELD of PEEK, QUEUED: -1 unknown, -2 never expires */
    unsigned position;    /* QUEUED: so many are ahead of us in line */
    usec master_time;     /* LATE */
    usec clock;           /* GRANT, RAISE, QUEUE: its logical clock; 0: not told */
    const char *text;     /* ERROR, LOST: why; HELD of PEEK: the value; else NULL */
    size_t text_length;
    const struct hello *hello; /* HELLO */
};

/* A master gave the names to the first in line, and tells it on its channel. */
struct push {
    const char *token;
    size_t token_length;
    usec clock; /* moved on for this grant */
};

/* ---- Events: shell → core ---------------------------------------------- */

/* What a lease is asked for with; times in microseconds. */
struct terms {
    usec ttl;
    usec margin;
    usec wait;     /* NEVER: for ever */
    usec max_hold; /* 0: no cap */
    bool renew;
    bool fence; /* with a fencing token */
};

enum event_kind {
    EVENT_TIMER,     /* the core's deadline has come: handles one, call again while due */
    EVENT_CONNECTED, /* master */
    EVENT_CLOSED,    /* master, text */
    EVENT_REPLY,     /* master, reply */
    EVENT_LISTENING, /* master, text: what the process of that run_id says on our channel is heard
                        from now on */
    EVENT_ALIVE,     /* master: its notification connection has answered an EFFECT_PROBE */
    EVENT_DEAF,      /* master: it is not, or not any more; once for each EFFECT_LISTEN */
    EVENT_PUSH,      /* master, push */
    EVENT_ACQUIRE,   /* lease */
    EVENT_ATTACH,    /* lease */
    EVENT_RELEASE,   /* lease: also cancels an acquire */
    EVENT_EXTEND,    /* lease, ttl (0: as before) */
    EVENT_INSPECT,   /* lease */
    EVENT_ABANDON,   /* lease: nobody wants to hear of it again */
    EVENT_DETACH,    /* lease: the same, and leave it on the masters */
    EVENT_ADOPT,     /* master */
    EVENT_CLOSE,     /* no new leases, give back all */
    EVENT_GIVE_UP    /* closing has taken too long: end what is still being released */
};

struct event {
    enum event_kind kind;
    unsigned master;
    struct lease *lease;
    usec ttl;
    const char *text; /* CLOSED: why, NULL if we asked for it.  LISTENING: run_id */
    const struct reply *reply;
    const struct push *push;
};

/* ---- Effects: core → shell --------------------------------------------- */

enum effect_kind {
    EFFECT_CONNECT,    /* master */
    EFFECT_DISCONNECT, /* master: EVENT_CLOSED follows */
    EFFECT_LISTEN,     /* master: open a notification connection, subscribe to our channel */
    EFFECT_PROBE,      /* master: ask for a sign of life on it; EVENT_ALIVE follows, or nothing */
    EFFECT_DEAFEN,     /* master: close it again; EVENT_DEAF follows */
    EFFECT_SEND,       /* master, request */
    EFFECT_TELL,       /* lease has an outcome: fetch it with engine_tell() */
    EFFECT_READY,      /* every master was reached or tried: engine_readiness() */
    EFFECT_CLOSED,     /* EVENT_CLOSE is done: nothing is owed */
    EFFECT_NOTICE      /* master changed its state: for the log */
};

struct effect {
    enum effect_kind kind;
    unsigned master;
    const struct request *request;
    struct lease *lease;
};

/* ---- Outcomes: core → user, fetched with engine_tell() ------------------ */

enum outcome_kind {
    OUTCOME_ACQUIRED, /* in the order in which they are told */
    OUTCOME_NOT_ACQUIRED,
    OUTCOME_EXTENDED,
    OUTCOME_NOT_EXTENDED,
    OUTCOME_AT_RISK,
    OUTCOME_HEALTHY,
    OUTCOME_LOST,
    OUTCOME_RELEASED,
    OUTCOME_SEEN
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
    CAUSE_SAME_MASTER /* at most 15: see struct lease */
};

/* What one master had to say in a round. */
enum saying {
    SAID_NOTHING,
    SAID_GRANTED,
    SAID_HEALED,
    SAID_HELD,
    SAID_FREE,
    SAID_RELEASED,
    SAID_REFUSED,
    SAID_TIMEOUT,
    SAID_UNREACHABLE,
    SAID_ABSTAINS
};

struct outcome {
    enum outcome_kind kind;
    enum cause cause;
    unsigned granted; /* masters that have the lease, as far as known */
    usec valid;       /* validity left; 0: over */
    usec elapsed;     /* since it was asked for */
    unsigned rounds;
    usec fence; /* the fencing token; 0: none */
};

/* Where effects go. */
struct sink {
    void (*emit)(void *shell, const struct effect *effect);
    void *shell;
};

/* Random bytes handed in with each step; the core takes from the front.  A step
 * takes at most RANDOMNESS_PER_STEP. */
#define RANDOMNESS_PER_STEP 64
struct randomness {
    const uint8_t *bytes;
    size_t left;
};

/* Memory handed in: the core has no allocation policy of its own. */
struct memory {
    void *(*take)(void *pool, size_t size); /* zeroed; NULL when there is none */
    void (*give)(void *pool, void *block, size_t size);
    void *pool;
};

#endif
