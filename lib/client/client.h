/*
 * client.h - the structs of a client and a lease; the files behind redlock.h share them.
 *
 *   open.c      a client, from open to free
 *   relist.c    a client is left for another one: its leases and tasks go, then it closes
 *   move_call.c the call that moves a lease to another client
 *   leaders.c   the calls about what is said of a name: announcing, observing
 *   barriers.c  the calls about barriers
 *   looks.c     the calls about who has a name
 *   wishes.c    the calls about wishes: asking a holder, heeding
 *   surveys.c   the calls about which names there are
 *   calls.c     the calls about one lease, and about one master: check, queue, return
 *   task_calls.c a call about a task: checked, made, left to the pump
 *   options.c   reads and checks what the user configured
 *   metrics.c   counters and masters, as OpenMetrics text
 *   stats.c     counters, as numbers
 *   ask.c       a call about a lease → the queue that the pump carries out
 *   process.c   the calls of a client on a descriptor
 *   loop.c      the pump on an event loop: turns, a time to wake, what keeps the loop alive
 *   pump.c      queued calls → events → step → callbacks; knows no event loop
 *   quorums_meet.c whether those of two lists share enough masters
 *   moving.c    a lease is another client's, or stays where it is
 *   tasks.c     what leases announce, observers, parties at barriers: asked, told, freed
 *   parts.c     makes and frees a client's links, notification connections and core
 *   effects.c   an effect of the core → links, notification connections, queues
 *   events.c    an outcome of the core → the event that the user sees
 *   notify.c    notification connections for waiters
 *   nodes.c     the masters, as the user sees them
 *   logins.c    a login that a master denied, read anew
 *   successor.c the list in place of a client's own, as its masters tell it
 *   queues.c    leases with calls to carry out, leases with outcomes to tell
 *   moves.c     a lease that is to move, and its shadow
 *   views.c     the views of a name that the masters told to a look
 *   step.c      an event → the core
 *   memory.c    the core's memory
 *   report.c    the sentence for a call that failed, and the log
 *   error.c     the names and texts of codes
 *
 * Each file calls only files that stand below it.
 */
#ifndef REDLOCK_CLIENT_H
#define REDLOCK_CLIENT_H

#include <stddef.h>

#include "address.h"
#include "engine.h"
#include "forks.h"
#include "memory.h"
#include "redlock.h"
#include "system.h"

struct io_loop;
struct link;

/* The notification connection to one master.  A master may send one message on it for each QUEUE
 * request; a master that sends more is not heard for a while. */
struct subscriber {
    struct link *link; /* NULL until a lease waits */
    unsigned expected; /* messages that may come */
    unsigned floods;   /* in a row */
    usec flooded_at;
    usec paused_until;
    bool denied, warned; /* it was; and that was logged as a warning */
};

/* The calls about a lease that the pump has not yet carried out, in its order; see pump.c. */
enum operation {
    OP_ACQUIRE = 1,
    OP_INSPECT = 2,
    OP_EXTEND = 4,
    OP_DOWNGRADE = 8,
    OP_UPGRADE = 16,
    OP_RELEASE = 32,
    OP_DETACH = 64,
    OP_FREE = 128
};
#define OPS_ENDING_ANNOUNCEMENTS (OP_DOWNGRADE | OP_RELEASE | OP_DETACH | OP_FREE)

struct client_task;

struct lease_queue {
    redlock_lease *first, *last;
};

/* A task's place in a queue. */
struct queued_task {
    struct queued_task *next;
    bool queued;
};

struct task_queue {
    struct queued_task *first, *last;
};

struct redlock_lease {
    redlock *client;
    union {
        redlock_lease_callback *callback;
        redlock_look_callback *look_callback; /* inspects */
    };
    void *data;
    redlock_lease *next_asked, *next_untold; /* in the client's queues */
    uint32_t extend_ttl : 27;                /* ms: a day at most */
    bool moves : 1;                          /* to another client, or it is a shadow: see moves.h */
    bool asked : 1, untold : 1;              /* the lease is in that queue */
    bool lost : 1;                           /* LOST was reported */
    bool told : 1;                           /* an outcome was reported */
    union {
        int16_t slot;   /* since ACQUIRED was reported; -1: none */
        int16_t tokens; /* inspects: most tokens in each list of a master */
    };
    uint8_t operations;
    bool ended : 1;    /* NOT_ACQUIRED, RELEASED or the result of a look was reported */
    bool released : 1; /* a release was asked for, or there is nothing to release */
    bool reads : 1;    /* it has one name, which it wants shared */
    bool permit : 1;   /* it is to be one of the permits of a name */
    bool inspects : 1; /* it is a look: see look_of() */
    bool fenced : 1;   /* it has a fence, so that it can announce something */
    bool freed : 1;    /* dropped; its memory goes when the queue gets to it */
    bool ahead : 1;    /* asked, and in a queue that goes before `asked` */
    usec core[]; /* lease_size() bytes; then its lease_rare, if it has one; then token_text() */
};

_Static_assert(sizeof(redlock_lease) <= 6 * sizeof(usec), "a million of them");
_Static_assert(TTL_MS_MOST < 1 << 27, "extend_ttl has room for it");

/* Of a lease that inspects, or is fenced. */
union lease_rare {
    redlock_view *views;           /* inspects: the crowds that each master told; NULL: none did */
    struct client_task *announcer; /* is fenced: what it announces; NULL: nothing */
};

/* How far the pump is; see pump.h. */
enum stage { STAGE_REST, STAGE_EVENTS, STAGE_TELL, STAGE_FLUSH };

struct pump {
    enum stage stage;
    unsigned rounds; /* since the pump was at rest */
    bool any;        /* something happened in this round */
    bool more;       /* the pump rests, and has to go on at once */
};

struct redlock {
    struct engine *engine; /* in engine_room; NULL: not made yet */
    struct memory memory;  /* of the core, from the pool */
    struct pool pool;
    struct pump pump;
    usec now;           /* the last look at the clock; see step.h */
    struct io_loop *io; /* its place on the user's loop */
    bool shows_fd;      /* that is a loop of our own, run by redlock_process() */

    struct engine_config config; /* what was configured, for the core and for us */
    unsigned masters;
    char *nodes_file;     /* where the list was read; NULL: it did not come from a file */
    bool has_settings;    /* that file is one of settings */
    uint32_t login_stays; /* a bit for each master that denies its login, where that was logged */
    struct address addresses[REDLOCK_MASTERS_MAX];
    struct link *links[REDLOCK_MASTERS_MAX];
    struct subscriber subscribers[REDLOCK_MASTERS_MAX];
    bool has_waited;       /* there is a notification connection, or there was one */
    uint32_t unsubscribed; /* a bit for each master on which subscribing failed at once */
    char *logged[REDLOCK_MASTERS_MAX]; /* the last line in the log about each master */
    struct {                           /* what others count on, as it was logged; 0: like us */
        unsigned spare;
        int64_t max_ttl_ms;
    } unlike;
    bool refusal_logged; /* our list may not be used beside another one */
    bool unmet_logged;   /* nothing goes to the heir: its list and ours are not known to meet */
    struct randomness_store random;
    unsigned process; /* the process that opened the client */

    struct lease_queue left, releases, asked, looks; /* with calls to carry out; see queues.h */
    bool misplaced;          /* `asked` or `looks` has leases that belong into another */
    unsigned looking;        /* leases that inspect, and whose end was not reported yet */
    unsigned looks_room;     /* how many may inspect beside one, for now; see queues.h */
    unsigned looks_forgiven; /* how many that fail go again; see queues.h */
    bool look_was_dear;      /* since a look began last, one was */
    usec quickest_look[REDLOCK_MASTERS_MAX]; /* the least time that each master took; 0: unknown */
    struct lease_queue untold, cancelled;    /* with outcomes to tell; in the next round */
    redlock_lease *telling;                  /* the lease whose outcomes are being reported */
    uint32_t adopt;                          /* a bit for each master to be adopted */
    struct client_task *tasks;
    unsigned loud_tasks; /* those that are not quiet */
    struct task_queue tasks_asked, tasks_untold;

    char *prefix;
    char *fleet; /* NULL: none */
    char *client_name;
    void (*on_ready)(redlock *, redlock_code, const char *, void *);
    void (*on_log)(redlock_level, const char *, void *);
    void (*on_node)(redlock *, unsigned, void *);
    char *successor;  /* what redlock_successor() returned last, with logins; NULL: nothing */
    uint32_t changed; /* a bit for each master with a change to report */
    redlock_level log_level;
    void *data;

    bool ready; /* on_ready is due */
    bool pumping, logging, dying;
    bool close_asked, closing, closed, closed_told;
    usec close_by;
    void (*on_closed)(redlock *, unsigned, void *);
    void *closed_data;

    redlock *heir;                  /* the client to which all leases go; NULL: they stay */
    redlock *formers;               /* the first client that is left for this one */
    redlock *next_former;           /* of those for the same one */
    void (*leave)(redlock *client); /* due at leave_at, if there is an heir; see relist.c */
    usec leave_at;
    void (*stir)(redlock *client); /* loop_hold(), for files below it */

    redlock_vote votes[REDLOCK_MASTERS_MAX];
    const redlock_vote *each_vote[REDLOCK_MASTERS_MAX]; /* those */
    char text[1024];
    char error[256];

    max_align_t engine_room[]; /* engine_size() bytes */
};

/* The beginning of all keys and names that are the library's own on the masters. */
#define OWN "redlock:"

static inline struct lease *core_of(const redlock_lease *lease)
{
    return (struct lease *)(void *)lease->core;
}

/* NULL: it has none. */
static inline union lease_rare *rare_of(const redlock_lease *lease)
{
    bool has = lease->inspects || lease->fenced;
    return has ? (void *)((char *)lease->core + lease_size_of(core_of(lease))) : NULL;
}

static inline redlock_view *views_of(const redlock_lease *lease)
{
    return lease->inspects ? rare_of(lease)->views : NULL;
}

/* A look is a lease that inspects. */
static inline redlock_look *look_of(redlock_lease *lease)
{
    return (redlock_look *)(void *)lease;
}

static inline redlock_lease *lease_of_look(redlock_look *look)
{
    return (redlock_lease *)(void *)look;
}

static inline struct client_task *announcer_of(const redlock_lease *lease)
{
    return lease->fenced ? rare_of(lease)->announcer : NULL;
}

/* The last text of redlock_lease_token(), with room for any token of the lease. */
static inline char *token_text(const redlock_lease *lease)
{
    union lease_rare *rare = rare_of(lease);
    return rare ? (char *)(rare + 1) : (char *)lease->core + lease_size_of(core_of(lease));
}

static inline redlock_lease *lease_of_core(struct lease *core)
{
    return (redlock_lease *)(void *)((char *)core - offsetof(redlock_lease, core));
}

/* False in a child that was forked. */
static inline bool client_is_usable(const redlock *client)
{
    return client->process == forks_process();
}

/* The client was freed by a callback, or this is a child that a callback forked. */
static inline bool client_is_stopped(const redlock *client)
{
    return client->dying || !client_is_usable(client);
}

#endif
