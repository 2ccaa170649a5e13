/*
 * world.h - virtual time: the events to come, in their order.
 *
 * One run is one seed: masters, the network, clients with the real core, their
 * users, and whatever goes wrong.  It ends in peace: faults stop, users give back
 * what they hold, and then nothing may be left.
 */
#ifndef SIM_WORLD_H
#define SIM_WORLD_H

#include "model_master.h"
#include "random.h"

#define CLIENTS_MAX    6
#define FOREIGNERS_MAX 2

#define DRIFT_PPM 10000 /* that clients are configured with */

struct shell;
struct conn;

/* ---- options of a run ------------------------------------------------------- */

enum fault_kind {
    FAULT_DELAYS,      /* a path becomes slow for a while */
    FAULT_CUT,         /* nothing passes, both ways */
    FAULT_HALF_OUT,    /* requests do not arrive */
    FAULT_HALF_IN,     /* replies do not arrive */
    FAULT_RESET,       /* a connection breaks in the middle of what is under way */
    FAULT_REFUSE,      /* connections are refused for a while */
    FAULT_STOP_MASTER, /* SIGSTOP */
    FAULT_SLOW_MASTER,
    FAULT_CRASH_KEEPING, /* restarts with all its data */
    FAULT_CRASH_EMPTY,   /* with none */
    FAULT_CRASH_OLD,     /* with an older snapshot */
    FAULT_STEP_CLOCK,    /* a master's wall clock is set */
    FAULT_STOP_CLIENT,   /* SIGSTOP, or suspend, at any moment */
    FAULT_STUMBLE,       /* a client's process is not run for a while in the middle of its pump */
    FAULT_KILL_CLIENT,   /* the process ends, and is started again */
    FAULT_SCRIPT_FLUSH,
    FAULT_ERRORS,     /* LOADING, OOM */
    FAULT_FOREIGNERS, /* other clients that speak plain SET NX PX */
    FAULT_MEMORY,     /* allocations fail */
    FAULT_MIXED_TTL,  /* clients that know different longest ttls */
    FAULT_EVICT,      /* a master loses one key: an operator, or too little memory */
    FAULT_LATE_FIN,   /* a crashed master's farewell gets lost, on each connection by itself */
    FAULT_UNEVEN,     /* a client's way to each master is another: dead, slow, as ever */
    FAULT_LASTING,    /* a minority of masters, or of a client's links, stays broken in peace */
    FAULT_LIAR,       /* a master lies: see liar.h */
    FAULT_FORGET,     /* a master forgets, and goes on voting: see wrong.h */
    FAULT_KINDS,
    /* Of real links over bytes (bytes/): drawn by themselves, so that the rest of a run is the same
     * with all kinds of links. */
    FAULT_SHORT_WRITES = FAULT_KINDS, /* a connection takes a part of what is written */
    FAULT_SPLIT_READS,                /* what a master says comes in pieces */
    FAULT_CUT_SHORT,                  /* a connection ends in the middle of a reply */
    FAULT_MALFORMED,                  /* what comes is no reply, or none to that request */
    FAULTS_END
};

/* The main action of users. */
enum habit {
    HABIT_ANY,
    HABIT_WAITING, /* they wait, for few names, many with fences, and without haste */
    HABIT_WISHES,  /* they ask holders to let go, and hold for long */
    HABIT_WORKS,   /* they do work once */
    HABIT_CROWD,   /* see crowd.h */
    HABIT_LISTS,   /* see lists.h */
    HABIT_CHANGE   /* likewise, and change.h */
};

/* Clients have one of several lists of masters. */
static inline bool habit_has_lists(enum habit habit)
{
    return habit == HABIT_LISTS || habit == HABIT_CHANGE;
}

struct options {
    uint64_t seed;
    unsigned masters; /* 0: drawn */
    unsigned clients; /* 0: drawn */
    unsigned ops;     /* user calls; 0: drawn */
    int spare;        /* spare votes; -1: drawn where masters may be wrong, else 0 */
    int readers;      /* per mille; -1: drawn */
    int periods;      /* likewise */
    int tokens;       /* likewise */
    int permits;      /* likewise */
    int leaders;      /* likewise */
    int barriers;     /* likewise */
    int latches;      /* likewise */
    int asks;         /* per mille; -1: none, except in the profile wishes */
    int works;        /* likewise, in the profile once */
    int wrong;        /* masters wrong at once; -1: no more than the quorum tolerates */
    uint32_t faults;  /* that may be drawn: a bit for each fault_kind */
    uint32_t without; /* drawn all the same, and then left out */
    bool beyond;      /* clocks run apart by more than was promised */
    enum habit habit;
    bool trace;
    const char *only; /* the one rule to look at; NULL: all */
};

/* ---- what happens ------------------------------------------------------------- */

enum happening_kind {
    HAPPENS_WAKE,    /* shell: its timer, or something to read */
    HAPPENS_RESUME,  /* shell: its process runs again */
    HAPPENS_USER,    /* shell: the user does something */
    HAPPENS_SLEEP,   /* shell, number: its process is stopped for that time, in us */
    HAPPENS_TOKEN,   /* shell: the user is given the token of what another has detached */
    HAPPENS_REQUEST, /* conn: the first request under way arrives */
    HAPPENS_REPLY,   /* conn: the first reply under way arrives */
    HAPPENS_CONNECT, /* conn: connect() has ended */
    HAPPENS_BREAK,   /* conn: the client sees that it is broken */
    HAPPENS_HEARD,   /* shell, number: something about that master's channel */
    HAPPENS_STIR,    /* shell: a link can read or write more */
    HAPPENS_FAULT,
    HAPPENS_RESTART,   /* number: master */
    HAPPENS_FOREIGNER, /* number: which */
    HAPPENS_LOOK,      /* peace: look whether all is in order */
    HAPPENS_TOOL       /* see change.h */
};

struct happening {
    usec at;
    uint64_t order;
    void *subject;
    uint32_t kind, number;
};

/* ---- a master and the path to it ------------------------------------------------ */

struct clock {
    int64_t base;
    int64_t ppm;
};

static inline struct clock clock_drawn(struct chance *chance, int64_t low, int64_t high,
                                       int64_t bound)
{
    struct clock clock = {.base = chance_range(chance, low, high)};
    clock.ppm = chance_range(chance, -bound, bound);
    return clock;
}

struct server {
    struct model_master model;
    struct model_data snapshot;
    struct clock clock;
    usec stepped; /* sum of the steps of its wall clock */
    bool up;
    bool gone;          /* for good */
    uint32_t epoch;     /* of its process */
    int64_t last_id;    /* of a connection */
    usec stopped_until; /* SIGSTOP */
    usec slow_until;
    usec slowness;
    usec refuses_until;
    usec errors_until;
    const char *error;
    usec back_at; /* down: restarts then */
    const struct model_data *comes_back_with;
    usec abstains_until; /* must abstain, in true time, whatever it says itself */
    usec wrong_until;    /* it has forgotten; true time */
    usec jumped;         /* its wall clock is so far ahead */
    usec farthest;       /* and was */
    bool fails_over;     /* down: the process that comes has run for long */
    usec restarted_at;   /* true time; 0: never */
    usec highest_clock;  /* the logical clock as far as it has ever been */
};

struct path {
    usec out_blocked, in_blocked; /* until */
    bool cut;                     /* for good */
    usec slow_until;
    usec least_slowness, slowness;
    usec farther;           /* at all times, each way */
    bool slow_out, slow_in; /* which way */
};

/* ---- tokens: every value a key ever had -------------------------------------------- */

struct token {
    char text[TOKEN_TEXT + 1];
    bool foreign;                      /* of another library */
    uint32_t next;                     /* in its bucket */
    uint32_t round;                    /* of the acquire that brought it */
    const void *claim;                 /* likewise */
    const void *detached;              /* the claim of the client that let go of it, if any */
    struct user_lease *holder;         /* the lease of which it is the present token */
    unsigned client;                   /* whose it is; CLIENTS_MAX: of another library */
    bool excused;                      /* no client must release it: detached, process ended */
    bool passed_on;                    /* it was detached: several processes may have it */
    bool given_back;                   /* since then somebody has released it */
    bool settled;                      /* and heard that it is gone for good */
    usec latch_had;                    /* of a latch: when a quorum had it last */
    int64_t latch_ends_ms;             /* by the masters' wall clocks */
    usec backed[MASTERS_MAX];          /* true time: each master keeps it at least until then */
    usec alone[MASTERS_MAX];           /* likewise, and for nobody else */
    bool upgraded;                     /* a master has taken its names for it alone */
    usec farthest_end;                 /* by its client's clock: that any lease has had with it */
    uint16_t asked, refused, released; /* by whom it was acquired and released: masters */
    uint16_t stood;                    /* masters on which it has stood in the queue of a slot */
    usec
        unhealed[MASTERS_MAX]; /* true time: another process has given it back, and none heals it */
    uint16_t gone;             /* masters that have carried out a release of it */
    usec dead_since;           /* true time; 0: it lives */
    usec written_off; /* true time: nothing of it can be left then, and no release is owed */
    usec told_clock[MASTERS_MAX]; /* the clock that each master told: one of them is its ticket */
    usec place_since;             /* true time; when the lease that got this place first asked */
    usec first_sent;              /* true time; of a fenced acquire */
    usec confirmed;            /* likewise: it was prolonged from then on, before ACQUIRED came */
    usec granted[MASTERS_MAX]; /* the clock of each master, as it last gave this token what it had
                                  not, */
    usec stored[MASTERS_MAX];  /* and as it last moved it for it */
    usec last_set;             /* true time: what sets it later was on its way for too long */
    const struct list_kind *kind; /* its client's, if it was asked to move; NULL: it was not */
    uint16_t left_by;     /* a bit for each client that it has moved away from, or not moved to */
    uint16_t given_up_by; /* likewise: the move there was overtaken, */
    usec given_up_at;     /* at that time, which is a true one */
    usec lied_until;      /* likewise: somebody says until then that it was taken; 0: nobody did */
};

/* ---- the world ------------------------------------------------------------------------ */

struct violation {
    const char *rule; /* NULL: none */
    char text[240];
    usec at;
};

/* A detached lease, which any client may attach or release by its token. */
#define PARCELS 8
struct parcel {
    uint32_t token;
    uint8_t names[MODEL_NAMES], count;
    unsigned shared; /* a bit for each name */
};

/* The announcements of leaders. */
#define SAYINGS 512
struct saying_made {
    uint8_t name;
    uint32_t lease;
    usec term;
    usec said_until[MASTERS_MAX]; /* true time: each master has said so until then; 0: never */
    uint32_t said_by;             /* the client that has said it last, from 1 on; 0: none has */
};

/* Each barrier is met at by one generation of users. */
#define MEETINGS 24
struct meeting {
    uint8_t name;
    unsigned parties, begun;
    usec passed_at; /* true time, when the first one found it to be so; 0: none has */
};

/* The parties that arrived; a party that comes back is the same one. */
#define PARTIES 256
struct party_made {
    uint16_t meeting;
    usec began, gone_at; /* true time; gone: its user died or dropped it; 0: not */
    usec ttl;
    bool left; /* it heard that it did not pass */
};

/* Each creation of a latch, and its arrivals; true time. */
#define LATCHES     24
#define ARRIVALS_AT 10 /* a latch */
struct latch_made {
    uint8_t name;
    unsigned of;
    char id[TOKEN_TEXT + 1]; /* "": not known yet */
    usec opened_at;          /* somebody heard first that it is open; 0: nobody did */
    unsigned begun;          /* arrivals */
    uint32_t arrivals[ARRIVALS_AT];
    usec counted_at[ARRIVALS_AT]; /* somebody heard first that it is counted; 0: nobody did */
    uint32_t
        epochs[MASTERS_MAX]; /* when it was reported as made: the processes that had it; 0: not */
    int64_t ends_ms;         /* likewise: its end; 0: it was not reported as made */
};

/* Each wish is what one asker says. */
#define WISHES_MOST 200
struct wish_made {
    uint8_t name;
    uint32_t channel;         /* of the process that asks */
    usec id;                  /* 0: it was not sent yet */
    uint16_t held;            /* a bit for each master that answered so, at any time */
    usec absent[MASTERS_MAX]; /* likewise: counts from then on; true time; 0: it did not */
};

/* A master has this wish for this token, since then. */
struct wish_there {
    uint32_t wish, token;
    usec since; /* true time */
};

/* A wish was said to a token: a master carried it out, or a client took in the push. */
#define TELLINGS 4096
struct telling {
    uint32_t wish, token;
    unsigned master, client; /* CLIENTS_MAX: the master carried it out */
    usec at;                 /* true time */
};

/* The work of a name: its last record that was reported; true time. */
struct work_done {
    bool is_recorded; /* somebody has tried to record it, at any time */
    uint32_t id;      /* of its latch; 0: none was reported */
    int64_t ends_ms;  /* by the masters' wall clocks */
    uint16_t on;      /* a bit for each master that had it then, */
    uint32_t epochs[MASTERS_MAX];
};

/* The last fences that holders of one name got; true time. */
#define TOLD_FENCES 128
struct told_fences {
    unsigned count, next;
    usec at[TOLD_FENCES], fence[TOLD_FENCES];
    unsigned quorum[TOLD_FENCES]; /* of the holder */
    bool shared[TOLD_FENCES];     /* likewise */
};

/* The last leases that were released, and keep others out until then. */
#define PERIODS 64
struct period {
    uint8_t name;
    bool shared;
    uint32_t lease, token;
    unsigned client, quorum;
    usec until; /* true time, by the clock of its holder */
};

/* The last places: when each was first asked for; true time. */
#define PLACES 512
struct place {
    usec ticket, since;
};

/* The wish of a client of a crowd. */
struct wish {
    unsigned waiters; /* how many, always */
    usec hold;        /* no longer */
    unsigned hoard;   /* leases of its own */
};

/* A list of masters, and the numbers that go with it. */
#define KINDS     2     /* that are drawn in each run with lists, */
#define BETWEEN   KINDS /* and one that may meet both: see movers.h */
#define KINDS_ALL (KINDS + 1)
struct list_kind {
    unsigned masters, quorum, spare;
    uint8_t servers[MASTERS_MAX]; /* they ascend */
    uint16_t has, renamed;        /* a bit for each server */
    int64_t more_ttl_ms;          /* than others have for max_ttl */
    bool was_used;
};

/* Why two clients held one name whose lists may not meet. */
enum beside {
    BESIDE_APART,     /* no master is in both lists */
    BESIDE_LIAR,      /* it lies to a client without spare votes */
    BESIDE_PROTECTED, /* the lists would meet without a liar: they are shown, and not refused */
    BESIDE_FEW,       /* too few masters are in both lists for a liar among them */
    BESIDE_RESTART,   /* a master of both lists has restarted */
    BESIDE_UNHEARD,   /* a client had no word of a master of both lists */
    BESIDE_PROCESSES, /* only processes tell the lists apart, and these were not known yet */
    BESIDES
};

struct list_counts {
    uint64_t runs;     /* with lists that may not meet */
    uint64_t acquired; /* in those */
    uint64_t refused;  /* clients, each time */
    uint64_t beside[BESIDES];
};

/* The first list of masters is replaced by the second one; true time.  Bits and indices are those
 * of masters. */
enum change_stage { CHANGE_NONE, CHANGE_ENDS, CHANGE_TAKES_BACK, CHANGE_WAS_TAKEN_BACK };
struct change {
    struct chance chance;
    enum change_stage stage;
    unsigned least;     /* masters on which the list is over, and said by nobody */
    usec takes_back_at; /* 0: it does not */
    bool ends_again;    /* after that */
    uint16_t visited;   /* of the list, in this round */
    uint16_t counted;   /* likewise: it is over there, and nobody says it */
    uint16_t shaky;     /* likewise: that may be so because the master has forgotten */
    usec counted_at[MASTERS_MAX];
    usec lost_at[MASTERS_MAX];    /* its end, with all connections; 0: never */
    usec forgot_at[MASTERS_MAX];  /* who says it; 0: never */
    usec over_until[MASTERS_MAX]; /* it was over there; 0: no such time */
    usec opened_at;               /* the second list may be used; 0: not yet */
};

/* The last leases that were left behind under one of the lists. */
#define LEFT_BEHIND 64
struct left_behind {
    const struct list_kind *kind;
    uint8_t name;
    unsigned client;
    uint32_t lease;
    usec until; /* true time, by the clock of its client */
};

/* Why the change of the list promised nothing. */
enum unpromised {
    UNPROMISED_LOST,  /* masters have lost the end */
    UNPROMISED_CLOCK, /* a step of a clock made one forget who says the list */
    UNPROMISED
};

struct change_counts {
    uint64_t runs, opened;
    uint64_t taken_back, ended_again; /* runs */
    uint64_t refused;                 /* clients, as their list is over; each time */
    uint64_t acquired[KINDS_ALL], left_behind[KINDS_ALL];
    uint64_t late[UNPROMISED];    /* of the first list: held when the second one may be used */
    uint64_t at_once[UNPROMISED]; /* held with one of the second list */
};

struct move_counts {
    uint64_t runs, asked;
    uint64_t moved[KINDS_ALL][KINDS_ALL]; /* from a client with that list to one with this list */
    uint64_t again;                       /* moved before */
    uint64_t waited;                      /* went over before they were held */
    uint64_t not_moved;
    uint64_t lost, released; /* meanwhile */
    uint64_t dropped;        /* one of the clients, or the handle, was freed meanwhile */
};

struct world {
    struct options options;
    struct chance chance;
    struct chance modes;    /* of the names that are asked for */
    struct chance keeping;  /* of at_least */
    struct chance handing;  /* of leases that are handed on by their tokens */
    struct chance slots;    /* of permits */
    struct chance leading;  /* of what is announced and observed */
    struct chance meeting;  /* of barriers */
    struct chance latching; /* of latches */
    struct chance asking;   /* of wishes */
    struct chance working;  /* of work that is done once */
    struct chance turning;  /* of local_turn_ms */
    struct chance listing;  /* of lists */
    usec now;
    uint64_t order;
    struct happening *heap;
    unsigned heaped, heap_room;
    uint64_t hash;
    uint64_t events;
    uint64_t acquired, lost, renewals, heals; /* of all clients that there were */
    struct violation violation;

    unsigned masters, quorum, clients, names, foreigners;
    unsigned readers;      /* per mille of the names that are asked for are shared */
    unsigned at_least;     /* per mille of the leases: nobody else for a while after ACQUIRED */
    unsigned hands_on;     /* per mille: how often users hand a lease on by its token, or use one */
    unsigned permits;      /* per mille of the leases are permits, */
    unsigned most_permits; /* the most of a name */
    unsigned leaders;      /* per mille of the leases that can announce something */
    unsigned barriers;     /* per mille: how often users arrive at one */
    unsigned latches;      /* per mille: how often users do something about one */
    unsigned asks;         /* per mille: how often users ask a holder, or heed */
    unsigned breaks; /* per mille: how often users break the lease of another one, or say so */
    unsigned works;  /* per mille of the leases under which work is done once */
    unsigned deaf;   /* per mille of the pushes about wishes that get lost, whatever else */
    unsigned turns;  /* per mille of the processes set local_turn_ms */
    int64_t max_ttl_ms, skew_ms;
    const char *prefix; /* of all keys */
    uint32_t faults;
    uint32_t link_faults;   /* likewise, of links over bytes */
    bool patient;           /* ttls and timeouts of many seconds, and answers that take as long */
    int64_t longest_gap_ms; /* between two calls of one user */
    unsigned fault_pace;    /* ms between two faults, on average */
    unsigned fresh;         /* per mille of requests just before which a snapshot is taken */
    usec uneven_until;
    unsigned spare, wrong; /* votes; masters, at once */
    bool mixed;            /* clients with and without spare votes */
    uint16_t liars;        /* a bit for each master that lies */
    uint32_t lies;         /* a bit for each enum lie */
    unsigned lie_rate;
    usec peace_at;
    usec vote_taken_at; /* when a liar last was seen to take the vote of another master; 0: never */
    bool peace, ending;
    unsigned ops_left;
    unsigned phase, linger;

    struct server servers[MASTERS_MAX];
    struct path paths[CLIENTS_MAX][MASTERS_MAX];
    struct path push_paths[CLIENTS_MAX][MASTERS_MAX]; /* of the notification connections */
    struct shell *shells[CLIENTS_MAX];
    struct foreigner *foreign[FOREIGNERS_MAX];

    struct token *tokens;
    uint32_t token_count, token_room;
    uint32_t buckets[256];

    struct wish wishes[CLIENTS_MAX];
    struct told_fences told[MODEL_KEYS];
    struct period periods[PERIODS];
    unsigned periods_made;
    struct place places[PLACES];
    unsigned places_made;
    struct parcel parcels[PARCELS];
    unsigned parcel_count;
    struct saying_made sayings[SAYINGS]; /* from 1 on */
    uint32_t sayings_made;
    struct meeting meetings[MEETINGS];
    unsigned meetings_made;
    struct party_made parties[PARTIES];
    unsigned parties_made;
    struct latch_made latches_made[LATCHES];
    unsigned latch_count;
    struct wish_made wishes_made[WISHES_MOST]; /* from 1 on */
    uint32_t wish_count;
    struct wish_there wishes_there[MASTERS_MAX][MODEL_NAMES];
    struct telling tellings[TELLINGS];
    unsigned tellings_made;
    struct work_done works_done[MODEL_NAMES];
    uint8_t rush_name; /* many make a latch of it until then */
    usec rush_until;
    uint32_t arrivals_made;
    uint16_t ever_wrong; /* a bit for each master that was wrong at any time */
    uint32_t leases_made, processes;

    struct list_kind kinds[KINDS_ALL];
    bool is_replaced; /* one master, in the second list */
    struct list_counts lists;
    struct change change;
    struct change_counts changes;
    struct left_behind left_behind[LEFT_BEHIND];
    unsigned left_behind_made;
    bool moves; /* users move leases: see movers.h */
    struct chance moving;
    struct move_counts moved;
    unsigned sleepy; /* per mille of what users with lists do: the client sleeps for minutes */

    uint64_t streams; /* of bytes, made so far */
    struct message *spare_messages;
    struct conn *conns; /* all of this run */
};

struct result {
    struct violation violation;
    uint64_t hash;
    uint64_t events;
    usec lasted;
    uint64_t acquired, lost, renewals, heals;
    uint32_t faults, tokens;
    unsigned masters;
    struct list_counts lists;
    struct change_counts changes;
    struct move_counts moved;
};

void world_run(const struct options *options, struct result *result);

/* `subject` has something happen to it at `at`, or now. */
void world_plan(struct world *world, usec at, enum happening_kind kind, void *subject,
                unsigned number);
void world_violated(struct world *world, const char *rule, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Everything that matters goes through here: the trace hash. */
static inline void world_mark(struct world *world, uint64_t a, uint64_t b)
{
    world->hash = mix(world->hash ^ a) + b;
}

usec clock_read(const struct clock *clock, usec now);
/* The first true moment at which the clock says `reading`. */
usec clock_when(const struct clock *clock, usec reading);
usec server_wall(const struct world *world, unsigned master);

/* The number of a token's text; made if it is new. */
uint32_t world_token(struct world *world, const char *text, size_t length);

#endif
