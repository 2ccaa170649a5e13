/*
 * client_shell.h - a client process: the real core, and around it a pump that does
 * what lib/client.c does, in the same order, on modelled links.
 *
 *     read links → (links' ends → queued calls → due deadlines → callbacks) until
 *     nothing is left → flush each link
 *
 * Between any two of these the process may not be run for a while.
 */
#ifndef SIM_CLIENT_SHELL_H
#define SIM_CLIENT_SHELL_H

#include "engine.h"
#include "ears.h"
#include "model_net.h"

enum operation {
    OP_ACQUIRE = 1,
    OP_INSPECT = 2,
    OP_EXTEND = 4,
    OP_RELEASE = 8,
    OP_DETACH = 16,
    OP_FREE = 32
};

/* What the user was told, and so what may still be told. */
enum known {
    KNOWN_ASKED, /* ACQUIRED or NOT_ACQUIRED will come */
    KNOWN_HELD,
    KNOWN_LOST,
    KNOWN_ENDED,
    KNOWN_ASKED_BACK, /* release by token: RELEASED will come */
    KNOWN_INSPECTING
};

struct user_lease {
    struct lease core;
    struct shell *shell;
    struct user_lease *next_asked, *prev_untold, *next_untold;
    struct user_lease *prev_all, *next_all;
    usec extend_ttl;
    uint8_t operations;
    bool asked, untold;
    bool ended, released;

    /* what the simulator knows of it */
    uint32_t number;
    uint8_t names[MODEL_NAMES], count;
    enum known known;
    bool by_token;
    uint32_t token;    /* its present one */
    unsigned extends;  /* asked and not answered */
    usec extend_until; /* at least so far the last extend must reach; our clock */
    usec end_known_at; /* likewise: since when this is its end */
    usec end;          /* our clock: until then it counts itself the holder */
    usec farthest_end; /* likewise: a promise that is withdrawn brings the end nearer */
    usec stop_by;      /* LOST was told: it may be winding down until then */
    usec began;        /* true time at which it was asked for */
    bool is_probe, is_hoarded;
    usec hold_over;   /* true time; it is given back then */
    usec fence;       /* that it was told; 0: none */
    usec first_sent;  /* true time; its first message about this acquire */
    usec stood_since; /* likewise: a quorum of masters has its place in line */
    uint16_t stands_on;
    usec passed_since[CLIENTS_MAX]; /* likewise: by leases of that client that asked long after */
};

enum link_phase { LINK_CLOSED, LINK_CONNECTING, LINK_UP, LINK_ENDING };

struct pending {
    struct pending *next;
    struct tag tag;
};

struct shell_link {
    enum link_phase phase;
    struct conn *conn;
    bool asked, greeted;
    struct queue output; /* not flushed */
    struct pending *first, *last;
    unsigned expected;
    usec vague;         /* by what the client may misjudge this master's clock, */
    usec compared;      /* as it was then; true time */
    usec counted_since; /* true time: so many requests were sent since, */
    unsigned sent;
    uint32_t leases_before; /* with so many leases made before */
};

enum stage { STAGE_IDLE, STAGE_READ, STAGE_STEP, STAGE_TELL, STAGE_FLUSH };

struct account {
    int64_t blocks, bytes;
    struct chance chance;
    unsigned fail_permille;
};

struct shell {
    struct world *world;
    unsigned index;
    bool running; /* has an engine */
    struct engine engine;
    struct clock clock;
    struct account account;
    struct shell_link links[MASTERS_MAX];
    struct chance secrets;
    uint8_t random[256];
    size_t random_left;

    uint32_t leases_made;
    enum stage stage;
    unsigned rounds;
    bool any, more;
    usec stopped_until;                     /* true time */
    usec stopped_at_local, ran_again_local; /* around its last stop, our clock */
    uint64_t timer_order;                   /* of the timer that counts */
    usec timer_at;

    struct user_lease *asked_first, *asked_last;
    struct user_lease *untold_first, *untold_last;
    struct user_lease *all, *telling;
    uint32_t adopt;
    bool ready, ready_told, close_asked, closing, closed, closed_told, closed_in_time;
    usec close_by;
    usec close_since; /* true time */
    int64_t config_max_ttl_ms;
    uint32_t channel; /* of this process */
    struct ear ears[MASTERS_MAX];
    usec proposals_off; /* by how much this client is wrong about the time */
    struct pending *spare;
};

struct shell *shell_new(struct world *world, unsigned index);
void shell_start(struct shell *shell);
/* The process ends; its connections with it. */
void shell_stop(struct shell *shell);
void shell_free(struct shell *shell);

usec shell_now(const struct shell *shell);
void shell_happens(struct shell *shell, const struct happening *happening);
/* There is something to read on a link. */
void shell_readable(struct shell *shell);
/* SIGSTOP, SIGCONT. */
void shell_pause(struct shell *shell, usec how_long);
bool shell_is_stopped(const struct shell *shell);
/* After user calls from outside: lets the pump run. */
void shell_pump(struct shell *shell);

/* The calls of redlock.h. */
struct user_lease *shell_lease(struct shell *shell, const uint8_t *names, unsigned count,
                               const struct terms *terms, const char *token);
void shell_ask(struct user_lease *lease, enum operation operation);
bool shell_is_held(const struct user_lease *lease);
bool shell_extend(struct user_lease *lease, usec ttl);
bool shell_release(struct user_lease *lease);
bool shell_detach(struct user_lease *lease);
void shell_lease_free(struct user_lease *lease);
void shell_close(struct shell *shell, usec patience);

#endif
