/*
 * client_shell.h - a client's process: it starts, is stopped and goes on, ends.  It has a clock,
 * memory, and a loop, which runs the real pump (lib/client/pump.c) when there is something to read
 * or a timer is due.
 *
 *     read links → pump_step() until it rests
 *
 * Between any two of these the process may not be run for a while.
 */
#ifndef SIM_CLIENT_SHELL_H
#define SIM_CLIENT_SHELL_H

#include "client.h"
#include "ground/shared.h"
#include "lease/lease.h"
#include "masters/master.h"
#include "model_net.h"
#include "subscription.h"

enum link_phase { LINK_CLOSED, LINK_CONNECTING, LINK_UP, LINK_ENDING };

struct pending {
    struct pending *next;
    struct tag tag;
};

/* The connection to a master for requests. */
struct shell_link {
    enum link_phase phase;
    struct conn *conn;
    bool asked, greeted;
    struct queue output; /* not flushed */
    struct pending *first, *last;
    unsigned expected;
    usec vague;         /* by what the client may misjudge this master's clock, */
    usec compared;      /* as it was then; true time */
    usec counted_since; /* true time: the number of requests sent since, */
    unsigned sent;
    uint32_t leases_before; /* and of leases that were gone by then */
};

/* The next action of the process. */
enum turn { TURN_OVER, TURN_READ, TURN_PUMP };

struct account {
    int64_t blocks, bytes;
    struct chance chance;
    unsigned fail_permille;
};

struct shell {
    struct world *world;
    struct shell *mate; /* another client of the same process; NULL: it has none.  See movers.h */
    unsigned index;
    unsigned quorum;               /* as its configuration has it */
    unsigned masters;              /* likewise, how many its list has, */
    uint8_t servers[MASTERS_MAX];  /* and which: of each of these its number in the world */
    uint8_t entry_of[MASTERS_MAX]; /* the other way round; MASTERS_MAX: not in the list */
    const struct list_kind *kind;  /* NULL: all clients have one list */
    usec began_at;                 /* true time, of its process */
    usec unheard_at, unsettled_at; /* likewise: see lists_rules.c */
    bool differs, is_over;
    usec ended_at;   /* more than N - Q masters tell that its list is over; 0: not */
    usec over_since; /* our clock: its list was refused as it is over, for no other reason */
    bool strict;     /* it keeps strict order */
    bool running;    /* a process; it may have freed its client */
    redlock *client;
    struct clock clock;
    usec read_at, reading; /* of it, the last one: true time, its own */
    struct account account;
    struct link *links_made; /* all of its links */
    struct peer *peers;      /* of its links, if these are the real ones */
    uint32_t subscribed;     /* a bit for each master to which there is a notification connection */
    struct shell_link links[MASTERS_MAX];
    struct model_subscription subscriptions[MASTERS_MAX];
    struct chance secrets;

    uint32_t leases_made;
    enum turn turn;
    usec stopped_until;   /* true time */
    usec ran_again_local; /* after its last stop, our clock */
    uint64_t timer_order; /* of the timer that counts */
    usec timer_at;
    bool holds_loop;
    uint32_t written;   /* in this turn: a bit for each master */
    bool began_another; /* in this step of the pump a lease has sent its first request */
    unsigned may_come[MASTERS_MAX]; /* notifications */
    unsigned let_go;                /* leases that were, and still have a record */

    struct user_lease *all;
    struct user_observer *observers;
    struct user_party *parties;
    struct user_latch *latches; /* calls without an outcome */
    struct user_heeder *heeders;
    struct user_asker *askers;
    struct user_work *works;
    bool ready_told, close_asked, closed, closed_told;
    usec close_since;    /* true time */
    uint32_t moved_away; /* leases, from this client to its mate */
    uint32_t waits;      /* turns that waited for the mate, since it ran last */
    uint32_t channel;    /* of this process */
    uint32_t process;    /* its number, which the clients of a process share */
    usec proposals_off;  /* by how much this client is wrong about the time */
    struct pending *spare;
};

/* The core's record of a master; NULL: it is not in the list. */
static inline struct master *shell_master(const struct shell *shell, unsigned server)
{
    unsigned entry = shell->entry_of[server];
    return shell->client && entry < MASTERS_MAX ? &shell->client->engine->masters[entry] : NULL;
}

/* The process that runs now: clock, memory and random numbers are its own. */
extern struct shell *shell_present;

struct shell *shell_new(struct world *world, unsigned index);
void shell_start(struct shell *shell);
/* The process ends; its connections with it. */
void shell_stop(struct shell *shell);
void shell_free(struct shell *shell);

usec shell_now(struct shell *shell);
void shell_happens(struct shell *shell, const struct happening *happening);
/* There is something to read on a link. */
void shell_readable(struct shell *shell);
/* HAPPENS_STIR: a link can go on where it was, now or when the process runs again. */
void shell_stirs(struct shell *shell);
/* SIGSTOP, SIGCONT. */
void shell_pause(struct shell *shell, usec how_long);
bool shell_is_stopped(const struct shell *shell);
/* Nothing else is going on in it. */
bool shell_is_idle(const struct shell *shell);
/* After user calls from outside: lets the loop run. */
void shell_pump(struct shell *shell);

#endif
