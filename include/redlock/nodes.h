/*
 * redlock/nodes.h - the masters of a client, and its counters.  redlock.h includes this file, and
 * its contract holds here.  All calls but redlock_node_adopt() only look: they ask no master.
 */
#ifndef REDLOCK_NODES_H
#define REDLOCK_NODES_H

#include "../redlock.h"

/* ---- Masters ------------------------------------------------------------ */

typedef enum redlock_node_state {
    REDLOCK_NODE_DOWN,       /* not connected; text says why */
    REDLOCK_NODE_CONNECTING, /* being connected or prepared */
    REDLOCK_NODE_UP,         /* votes */
    REDLOCK_NODE_ABSTAINS,   /* restarted; votes again in abstains_ms */
    REDLOCK_NODE_REFUSED     /* not one independent master, or listed twice; text says why */
} redlock_node_state;

typedef struct redlock_node {
    size_t size;      /* sizeof(redlock_node): you set it */
    const char *node; /* as in redlock_vote */
    redlock_node_state state;
    const char *text;         /* the last trouble, "" for none; never "" while DOWN */
    int64_t abstains_ms;      /* time until an ABSTAINS master votes again; else 0 */
    int64_t rtt_us;           /* smoothed round trip; -1: unknown */
    int64_t clock_offset_us;  /* the master's wall clock less ours; 0: unknown */
    const char *run_id;       /* "": unknown */
    const char *version;      /* "7.0.15" (Redis), "valkey 9.1.2"; "": unknown */
    const char *role;         /* "master", "slave"; "": unknown */
    int64_t uptime_s;         /* at the last hello; -1: unknown */
    const char *eviction;     /* maxmemory-policy; "" while maxmemory is not set */
    bool aof;                 /* the master has an append-only file */
    bool tls_verified;        /* a CA and a name were checked; false with tls_verify "none" */
    unsigned in_flight;       /* requests without an answer yet */
    int64_t max_ttl_ms;       /* the longest that any client told this master; 0: unknown */
    const char *tls_protocol; /* "TLSv1.3"; "": there is no connection under TLS */
    const char *tls_peer;     /* first host of the master's certificate, or its subject; or "" */
    int64_t tls_expires_s;    /* until it expires, by our wall clock; below 0: it has; or 0 */
} redlock_node;

/* redlock_node_count() returns the number of masters.  redlock_node_get() fills `node` with facts
 * about master `index`, from 0 in the order of the list.  The strings are valid until the loop runs
 * again, or the client is freed.  E_ARGUMENT: there is no such master, or node->size is unknown. */
REDLOCK_API unsigned redlock_node_count(const redlock *client);
REDLOCK_API redlock_code redlock_node_get(redlock *client, unsigned index, redlock_node *node);

/* Lifts the quarantine of master `index`, for an operator who knows that nobody holds a lease on
 * it.  This client counts its votes once it has answered (its state then is UP); other clients do
 * within about a second.  Its grants count for fences after clock_skew_ms, unless another master
 * has a logical clock as high.  Returns REDLOCK_OK; E_STATE if the master is not connected;
 * E_ARGUMENT if there is no such master or the client only looks; E_FORKED. */
REDLOCK_API redlock_code redlock_node_adopt(redlock *client, unsigned index);

/* ---- Counters ----------------------------------------------------------- */

/* All counts begin with redlock_open(), sums of times are in microseconds.  The table is closed
 * with 0.2.0, as a new line would move fields: later counters are fields behind all others. */
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
    X(yields, "minorities given back because another waiter was ahead")                            \
    X(lost, "leases lost")                                                                         \
    X(released, "leases released")                                                                 \
    X(requests, "requests sent")                                                                   \
    X(replies, "replies received")                                                                 \
    X(timeouts, "requests not answered in time")                                                   \
    X(connects, "connections begun")                                                               \
    X(disconnects, "connections lost")                                                             \
    X(protocol_errors, "connections closed for a malformed or unexpected reply")                   \
    X(owed, "releases owed that needed more than the first try")

/* Bucket 0 counts times of at most REDLOCK_BUCKET_US(0) microseconds; bucket i those above
 * REDLOCK_BUCKET_US(i - 1) and at most REDLOCK_BUCKET_US(i); the last bucket all longer ones. */
#define REDLOCK_BUCKETS      28
#define REDLOCK_BUCKET_US(i) (INT64_C(128) << (i))

typedef struct redlock_stats {
    size_t size; /* sizeof(redlock_stats): you set it */
#define REDLOCK_COUNTER_FIELD(name, help) uint64_t name;
    REDLOCK_COUNTERS(REDLOCK_COUNTER_FIELD)
#undef REDLOCK_COUNTER_FIELD
    uint64_t held;            /* leases held now */
    uint64_t waiting;         /* leases with a wait_ms that are being acquired now */
    uint64_t queue_us;        /* sum of the times in queue_times */
    uint64_t acquire_us;      /* sum of the times in acquire_times */
    uint64_t at_risk;         /* leases held now that are AT_RISK */
    uint64_t abstaining;      /* masters that are REDLOCK_NODE_ABSTAINS now */
    uint64_t hold_us;         /* sum of the times in hold_times */
    uint64_t renewal_left_us; /* sum of the times in renewal_left_times */
    /* From redlock_acquire() to ACQUIRED. */
    uint64_t acquire_times[REDLOCK_BUCKETS];
    /* From redlock_acquire() until a lease that had met a holder was handed over. */
    uint64_t queue_times[REDLOCK_BUCKETS];
    /* From ACQUIRED to the end of the lease.  After a wait above 33 s, up to 66 ms too long. */
    uint64_t hold_times[REDLOCK_BUCKETS];
    /* The validity that was left when a renewal reached a quorum. */
    uint64_t renewal_left_times[REDLOCK_BUCKETS];
} redlock_stats;

/* Fills `stats`.  Returns REDLOCK_OK, or E_ARGUMENT if stats->size is unknown. */
REDLOCK_API redlock_code redlock_stats_get(redlock *client, redlock_stats *stats);

/* Writes OpenMetrics text: all statistics, the quorum, and the vote, round trip and clock of each
 * master.  Counters are named as redlock_acquires_total, numbers of now as redlock_held (a gauge),
 * times in seconds as redlock_hold_seconds (a histogram).  The function works as snprintf() and
 * returns the whole length.  A moment later the text may be longer, as masters come and go. */
REDLOCK_API size_t redlock_stats_text(const redlock *client, char *buffer, size_t size);

#endif
