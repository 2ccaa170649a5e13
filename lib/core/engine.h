/*
 * engine.h - leases × masters: the one door into the core.
 *
 *     engine_step(engine, now, random, event)   something happened
 *     engine_next_deadline(engine)              when to send EVENT_TIMER
 *     engine_tell(engine, now, random, lease)   what to tell the user, now
 *
 * Time and random bytes come in as arguments; effects go out through the sink.
 */
#ifndef REDLOCK_CORE_ENGINE_H
#define REDLOCK_CORE_ENGINE_H

#include "lease.h"
#include "line.h"
#include "master.h"

struct engine_config {
    unsigned masters;
    int64_t drift_ppm;
    int64_t max_ttl_ms;
    int64_t skew_ms;
    bool trust_restarts;
    usec connect_timeout;
    usec request_timeout; /* 0: from the round trip */
    char label[65];       /* "": none */
    char channel[40];     /* on which masters tell this client of handovers */
};

struct engine_counters {
    uint64_t acquires, acquired, contended, unavailable, rounds, renewals, renewals_missed, heals,
        raises, handoffs, handed_here, pushes, found, yields, queue_us, lost, released, timeouts,
        connects, disconnects, owed, held, acquire_us;
};

#define STANDING_BUCKETS 64

struct lease_list {
    struct lease *first;
    uint64_t count;
    enum lease_place place;
};

struct engine {
    struct engine_config config;
    struct memory memory;
    struct sink sink;
    struct engine_counters counters;

    usec now;                  /* of the step under way */
    struct randomness *random; /* likewise */
    uint64_t jitter;           /* state of a small generator; jitter is no secret */
    usec renewal_phase;        /* clients of one machine do not renew at the same moments */

    char label[66]; /* the end of all our tokens: ':' and the label, or "" */
    size_t label_length;
    unsigned quorum;
    int64_t max_ttl_ms; /* the longest ttl in use: ours, or what masters vouch for */
    uint32_t last_round;
    usec clock; /* logical: above all that masters told us of, and all that we proposed */
    enum cause misconfigured; /* found before EFFECT_READY: no lease can be had */
    bool ready_told, closing, closed_told;
    struct deadline deadline; /* closing goes on, or claims without one are looked at */

    struct deadlines deadlines;
    struct lease_list busy; /* all but HELD, while the masters or a timer concern them */
    struct lease_list held;
    struct lease_list idle; /* all others */
    struct claim *abandoned;
    struct claim *standing[STANDING_BUCKETS];
    struct line *lines[LINE_BUCKETS];
    uint64_t in_lines;
    usec listen_until; /* somebody waits, or did a while ago; 0: nobody */
    struct round *free_rounds;
    unsigned spare_rounds; /* how many of them */
    struct master masters[MASTERS_MAX];
};

/* False when memory is out.  `seed` for the jitter. */
bool engine_init(struct engine *engine, const struct engine_config *config,
                 const struct memory *memory, const struct sink *sink, uint64_t seed);
/* Starts to connect. */
void engine_start(struct engine *engine, usec now);
/* Frees what the core has; emits nothing.  Leases are the shell's to free, after
 * lease_drop() of each. */
void engine_free(struct engine *engine);
/* One that was made and not dropped; NULL if there is none. */
struct lease *engine_any_lease(const struct engine *engine);
/* What a lease holds in the core, when the engine is about to be freed. */
void lease_drop(struct engine *engine, struct lease *lease);

void engine_step(struct engine *engine, usec now, struct randomness *random,
                 const struct event *event);
usec engine_next_deadline(const struct engine *engine);
bool engine_tell(struct engine *engine, usec now, struct randomness *random, struct lease *lease,
                 struct outcome *outcome);

/* CAUSE_NONE: a quorum may grant; else why not. */
enum cause engine_readiness(const struct engine *engine, usec now);
/* Something other than idle connections is under way. */
bool engine_is_busy(const struct engine *engine);
/* Releases not yet confirmed. */
unsigned engine_owed(const struct engine *engine);

/* ---- for the machines ---------------------------------------------------- */

void engine_emit(struct engine *engine, enum effect_kind kind, unsigned master,
                 struct lease *lease);
void engine_send(struct engine *engine, unsigned master, const struct request *request);
/* Between `low` and `high`. */
usec engine_jitter(struct engine *engine, usec low, usec high);
uint32_t engine_next_round(struct engine *engine);
struct round *engine_take_round(struct engine *engine);
void engine_give_round(struct engine *engine, struct round *round);
/* Moves it from the list that it is in. */
void engine_list(struct engine *engine, struct lease_list *list, struct lease *lease);
void engine_unlist(struct engine *engine, struct lease *lease);
/* A master came up or cannot be hoped for: all that may wait for it look again. */
void engine_master_up(struct engine *engine, unsigned master);
void engine_master_down(struct engine *engine, unsigned master);
/* Another process answers in its place: what the former one said of our places in line is over. */
void engine_master_replaced(struct engine *engine, unsigned master);
void engine_check_ready(struct engine *engine);

#endif
