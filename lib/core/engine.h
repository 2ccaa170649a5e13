/*
 * engine.h - leases × masters: the one door into the core.
 *
 *     engine_step(engine, now, random, event)   handles one event
 *     engine_next_deadline(engine)              when the next EVENT_TIMER is due
 *     engine_tell(engine, now, lease, outcome)  the next outcome for the user
 *
 * Time and random bytes come in as arguments; effects go out through the sink.  Nobody outside
 * lib/core knows the struct of an engine or a lease: engine_master() and the calls behind it,
 * lease/view.h and recipes/view.h have views.
 */
#ifndef REDLOCK_CORE_ENGINE_H
#define REDLOCK_CORE_ENGINE_H

#include "ground/quorum.h"
#include "ground/told_list.h"
#include "lease/view.h"
#include "recipes/view.h"

/* The bytes that the shell finds for an engine, aligned as malloc() aligns them. */
size_t engine_size(void);
/* False when memory is out.  The jitter is drawn from `seed`. */
bool engine_init(struct engine *engine, const struct engine_config *config,
                 const struct memory *memory, const struct sink *sink, uint64_t seed);
/* Connects to all masters. */
void engine_start(struct engine *engine, usec now);
/* Frees the core's memory and emits nothing.  The shell frees the leases, each after its
 * lease_drop(). */
void engine_free(struct engine *engine);
/* An engine that only looks says to these masters (bits), at each look, that its list is over, and
 * `successor` follows: that text must outlive it.  Or it says that the list is not over, to masters
 * that kept and took back no end since they told these `changes`. */
void engine_end_list(struct engine *engine, const char *successor, uint16_t masters);
void engine_revive_list(struct engine *engine, const int64_t *changes);
/* Any lease that was made and not dropped; NULL if there is none. */
struct lease *engine_any_lease(const struct engine *engine);
/* Visits each lease of a user, those of a list in the order in which they came into it.  A visit
 * steps no engine but another one. */
void engine_visit_leases(const struct engine *engine,
                         void (*visit)(struct lease *lease, void *data), void *data);

void engine_step(struct engine *engine, usec now, struct randomness *random,
                 const struct event *event);
usec engine_next_deadline(const struct engine *engine);
bool engine_tell(struct engine *engine, usec now, struct lease *lease, struct outcome *outcome);

/* See lease_move(): both leases are valid now. */
void engine_move(struct engine *from, struct lease *lease, struct engine *to, struct lease *shadow,
                 usec now);

/* See lease_go_over(). */
void engine_move_waiter(struct engine *from, struct lease *lease, struct engine *to,
                        struct lease *fresh, usec now);

/* The lease of the announcer `former` has moved just now: `task` says the same in its place, and
 * `former` ends. */
void engine_move_announcement(struct engine *from, struct task *former, struct engine *to,
                              struct task *task, usec now);

/* ---- views: what the shell may look at ------------------------------------ */

/* One master.  The texts stay until the next step. */
struct master_view {
    enum master_state state;
    bool tried;                /* the first attempt to connect has ended, well or not */
    bool refused;              /* a replica, or a master that is listed twice */
    bool met;                  /* it has answered at least once: facts and offset are known */
    usec abstains_until;       /* by our clock; 0: it votes */
    usec round_trip;           /* smoothed; 0: unknown */
    usec offset;               /* its wall clock less our clock */
    unsigned in_flight;        /* requests that it has not answered */
    bool was_asked;            /* it has answered which lists are in use, on this connection */
    bool remembers;            /* it has told that, and not long ago */
    bool ended_ours;           /* it has told that our list is over */
    int64_t changes;           /* of ends, as it has told: others than before if there was one */
    struct slice successor;    /* the list in place of it, if it is over */
    const char *trouble;       /* why it is not UP; "": not known */
    const struct hello *facts; /* what it said of itself; texts are "" until it is met */
};

struct counters_view {
    const struct engine_counters *done; /* since the engine was made */
    uint64_t held, waiting, at_risk;    /* leases, now */
};

struct master_view engine_master(const struct engine *engine, unsigned index);
struct counters_view engine_count(const struct engine *engine);
/* The length of all tokens that the engine draws. */
size_t engine_token_length(const struct engine *engine);
/* CAUSE_NONE if a quorum may grant; else why none may. */
enum cause engine_readiness(const struct engine *engine, usec now);
/* The list of other clients for which ours may not be used, and the master that told it; false:
 * ours may.  The texts stay until the next step. */
bool engine_other_list(const struct engine *engine, struct told_list *list, unsigned *master);
/* See agreement_successor(); as above. */
bool engine_successor(const struct engine *engine, struct slice *successor);
/* See agreement_unlike(); as above. */
bool engine_unlike_list(const struct engine *engine, struct told_list *list);
/* The lists in use that the masters tell; the texts stay until the next step.  Returns their
 * number. */
unsigned engine_lists(const struct engine *engine, struct list_in_use lists[LISTS_IN_USE_MOST]);
/* The number of lists in use, with our own; 0: none is known. */
unsigned engine_count_lists(const struct engine *engine);
/* True if anything but idle connections is under way. */
bool engine_is_busy(const struct engine *engine);
/* The number of releases that are not yet confirmed. */
unsigned engine_owed(const struct engine *engine);

#endif
