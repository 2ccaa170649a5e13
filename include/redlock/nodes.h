/*
 * redlock/nodes.h - what is going on: the masters of a client, and its counters.
 *
 * redlock.h includes this file, and is where its contract stands.
 *
 *   redlock_node_count()       the number of masters
 *   redlock_node_get()    what is known of one of them
 *   redlock_node_tls()    how it is spoken to under TLS
 *   redlock_node_adopt()       an operator's word that a restarted master has nothing to forget
 *   redlock_stats_get()   the counters, as numbers
 *   redlock_stats_text()  the same, and the masters, as OpenMetrics text
 *
 * All but redlock_node_adopt() only look: they ask no master, and call nobody.  options.on_node of
 * redlock.h tells when a master has changed.
 */
#ifndef REDLOCK_NODES_H
#define REDLOCK_NODES_H

#include "../redlock.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Masters ------------------------------------------------------------ */

typedef enum redlock_node_state {
    REDLOCK_NODE_DOWN,       /* not connected; text says why */
    REDLOCK_NODE_CONNECTING, /* being connected or prepared */
    REDLOCK_NODE_UP,         /* votes */
    REDLOCK_NODE_ABSTAINS,   /* restarted; votes again in abstains_ms */
    REDLOCK_NODE_REFUSED     /* a replica, a node of a cluster, listed before, or several servers:
                                does not vote until that is over; text says why */
} redlock_node_state;

typedef struct redlock_node {
    const char *node; /* as in redlock_vote */
    redlock_node_state state;
    const char *text;        /* last trouble, "" if none; never "" of one that is DOWN */
    int64_t abstains_ms;     /* ABSTAINS: until it votes again; else 0 */
    int64_t rtt_us;          /* smoothed round trip, -1 unknown */
    int64_t clock_offset_us; /* master's wall clock less ours, 0 unknown */
    const char *run_id;      /* "" unknown */
    const char *version;     /* "7.0.15" (Redis), "valkey 9.1.2", "" unknown */
    const char *role;        /* "master", "slave", "" unknown */
    int64_t uptime_s;        /* at the last handshake, -1 unknown */
    const char *eviction;    /* maxmemory-policy if maxmemory is set, else "" */
    bool aof;                /* append-only file enabled */
    unsigned in_flight;      /* requests not yet answered */
    int64_t max_ttl_ms;      /* the longest that any client told this master, 0 unknown */
} redlock_node;

/* The number of masters; facts about master `index`, from 0 in the order of the list.
 * The strings are valid until the loop runs again, or the client is freed.
 * E_ARGUMENT if there is no such master. */
REDLOCK_API unsigned redlock_node_count(const redlock *client);
REDLOCK_API redlock_code redlock_node_get(const redlock *client, unsigned index,
                                          redlock_node *node);

/* What the handshake of TLS told of a master. */
typedef struct redlock_tls {
    const char *protocol; /* "TLSv1.3" */
    const char *peer;     /* what its certificate calls it: the first host, or its subject */
    int64_t expires_s;    /* its certificate expires in so long, by our wall clock; it may have */
    bool verified;        /* against a CA and a name; false with tls_verify "none" */
} redlock_tls;

/* Fills `tls`, of which `size` is sizeof(redlock_tls) as you compiled it.  The strings are valid as
 * above.  E_STATE if there is no connection under TLS to that master, E_ARGUMENT if there is no
 * such master. */
REDLOCK_API redlock_code redlock_node_tls(const redlock *client, unsigned index, redlock_tls *tls,
                                          size_t size);

/* Lifts the quarantine of master `index`: for an operator who knows that the master
 * is new and has no holder of any lease.  It takes effect for this client when
 * the master answered (redlock_node_get() then says UP), for others within
 * about a second.  The master's grants count for fences after clock_skew_ms, unless
 * another master has a logical clock as high.  Returns REDLOCK_OK, E_STATE if the
 * master is not connected, E_ARGUMENT if there is no such master or the client only
 * looks, E_FORKED. */
REDLOCK_API redlock_code redlock_node_adopt(redlock *client, unsigned index);

/* ---- Counters ----------------------------------------------------------- */

/* Counts since redlock_open(). */
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

/* Times are counted in buckets: the first has those of at most REDLOCK_BUCKET_US(0) microseconds,
 * bucket i those of more than REDLOCK_BUCKET_US(i - 1) and at most REDLOCK_BUCKET_US(i), 128 us to
 * 2.4 hours, and the last one, REDLOCK_BUCKETS - 1, all that are longer. */
#define REDLOCK_BUCKETS      28
#define REDLOCK_BUCKET_US(i) (INT64_C(128) << (i))

/* Times in microseconds.  Counters and sums begin with redlock_open(). */
typedef struct redlock_stats {
#define REDLOCK_COUNTER_FIELD(name, help) uint64_t name;
    REDLOCK_COUNTERS(REDLOCK_COUNTER_FIELD)
#undef REDLOCK_COUNTER_FIELD
    uint64_t held;            /* leases held now */
    uint64_t waiting;         /* leases with a wait_ms that are being acquired now */
    uint64_t queue_us;        /* sum of the times that queue_times counts */
    uint64_t acquire_us;      /* sum of the times that acquire_times counts */
    uint64_t at_risk;         /* leases held now that are AT_RISK */
    uint64_t abstaining;      /* masters that abstain now: REDLOCK_NODE_ABSTAINS */
    uint64_t hold_us;         /* sum of the times that hold_times counts */
    uint64_t renewal_left_us; /* sum of the times that renewal_left_times counts */

    /* From redlock_acquire() to ACQUIRED. */
    uint64_t acquire_times[REDLOCK_BUCKETS];
    /* From redlock_acquire() until the lease was handed over, by the masters or within this client;
     * leases that met no holder are not among them. */
    uint64_t queue_times[REDLOCK_BUCKETS];
    /* From ACQUIRED until the lease was released, left, freed or found lost.  Of one that waited
     * for longer than 33 s, this may be up to 66 ms too long. */
    uint64_t hold_times[REDLOCK_BUCKETS];
    /* The validity that was left of the time before when a renewal reached a quorum: a lease whose
     * renewal takes longer than that is lost. */
    uint64_t renewal_left_times[REDLOCK_BUCKETS];
} redlock_stats;

/* Copies the statistics; `size` is sizeof(redlock_stats), in bytes, as you compiled it. */
REDLOCK_API void redlock_stats_get(const redlock *client, redlock_stats *stats, size_t size);

/* Writes all of the statistics, the quorum, and of each master its vote, round trip and clock, as
 * OpenMetrics text: REDLOCK_COUNTERS as counters (redlock_acquires_total), the numbers of now as
 * gauges (redlock_held), and times in seconds as histograms (redlock_hold_seconds).  It works as
 * snprintf: returns the length of the whole text in bytes, NUL not counted; with size 0 `buffer`
 * may be NULL.  A moment later the text may be some bytes longer, as masters come and go. */
REDLOCK_API size_t redlock_stats_text(const redlock *client, char *buffer, size_t size);

#ifdef __cplusplus
}
#endif

#endif
