/*
 * model_master.h - a Redis master, as far as our requests need one: a few keys with a value and an
 * expiry, the hash redlock:clock, the scripts.
 *
 * Written from lib/wire/scripts and checked against a real server, reply for reply and key for key,
 * by test/sim/differential.c.  Names and values are small numbers here; the users of the model give
 * them their spelling: the simulator, and the test double, which has room for more (MODEL_LARGE).
 */
#ifndef TESTING_MODEL_MASTER_H
#define TESTING_MODEL_MASTER_H

#include "ground/event.h"

#ifdef MODEL_LARGE
#define MODEL_NAMES     64             /* of one request */
#define MODEL_SLOTS_AT  512            /* all names are below */
#define MODEL_OF_SLOTS  MODEL_SLOTS_AT /* those that may have permits, barriers, latches */
#define MODEL_PERMITS   32
#define MODEL_WAITERS   256
#define MODEL_READERS   256
#define MODEL_MARKS     256
#define MODEL_OBSERVERS 128
#define MODEL_BARRIERS  64
#define MODEL_PARTIES   256
#define MODEL_ARRIVALS  256
typedef uint16_t model_name;
typedef uint64_t model_modes;
#else
#define MODEL_NAMES     6
#define MODEL_SLOTS_AT  106
#define MODEL_OF_SLOTS  MODEL_NAMES
#define MODEL_PERMITS   8
#define MODEL_WAITERS   64
#define MODEL_READERS   96
#define MODEL_MARKS     64
#define MODEL_OBSERVERS 48
#define MODEL_BARRIERS  24
#define MODEL_PARTIES   12
#define MODEL_ARRIVALS  12
typedef uint8_t model_name;
typedef uint8_t model_modes;
#endif

#define MODEL_MARK      (UINT32_MAX - 1) /* the value of a name that is shared */
#define MODEL_SLOTS_OUT (UINT32_MAX - 2) /* told as that of a name with slots that are held */
#define MODEL_TAKEN     (UINT32_MAX - 3) /* said of a token that another process has released */

/* Slot j of a name is the name model_slot(name, j); of these there are no slots. */
#define MODEL_PUSHES (MODEL_WAITERS + MODEL_OBSERVERS)
#define MODEL_KEYS   (MODEL_SLOTS_AT + MODEL_OF_SLOTS * MODEL_PERMITS)
static inline unsigned model_slot(unsigned name, unsigned slot)
{
    return MODEL_SLOTS_AT + name * MODEL_PERMITS + slot;
}
static inline bool model_is_slot(unsigned name)
{
    return name >= MODEL_SLOTS_AT;
}
static inline unsigned model_slot_name(unsigned name)
{
    return (name - MODEL_SLOTS_AT) / MODEL_PERMITS;
}
static inline unsigned model_slot_number(unsigned name)
{
    return (name - MODEL_SLOTS_AT) % MODEL_PERMITS;
}

struct model_key {
    uint32_t value;     /* 0: absent */
    int64_t expires_ms; /* wall clock; 0: never */
};

/* redlock:clock; r and a are run ids, 0 when absent. */
struct model_clock {
    uint64_t r, a;
    int64_t s, q, m, h, w;
};

/* The queue; ordered by ticket, then by value. */
struct model_waiter {
    uint32_t value; /* the token; 0: none */
    uint32_t channel;
    uint32_t arrival; /* for a mutant */
    int64_t ticket;
    int64_t expires_ms;
    uint8_t count;
    model_name names[MODEL_NAMES];
    model_modes modes; /* a bit for each of its names: shared */
};

/* A reader of a name, and until when; only while the name has the marker. */
struct model_reader {
    uint32_t value; /* the token; 0: nobody */
    model_name name;
    int64_t expires_ms;
};

/* A token that was given back by another process than took it: no renewal heals it, and nobody
 * takes its lease over. */
struct model_mark {
    uint32_t value; /* 0: none */
    int64_t expires_ms;
};

/* An announcement about a name. */
struct model_said {
    uint32_t token; /* 0: nothing is said */
    uint32_t value;
    usec term;
    int64_t number;
    int64_t expires_ms;
};

/* Channels that hear when that changes. */
struct model_observer {
    uint32_t channel; /* 0: nobody */
    model_name name;
    int64_t expires_ms;
};

/* One generation of a name. */
struct model_party {
    uint32_t value; /* the token; 0: none */
    int64_t expires_ms;
};
struct model_barrier {
    model_name name;
    int64_t generation;
    unsigned of; /* parties; 0: there is no such barrier */
    bool open, passed;
    int64_t expires_ms;
    struct model_party parties[MODEL_PARTIES];
};

/* The latest generation of a name that was passed. */
struct model_passed {
    int64_t generation;
    unsigned of;        /* its parties */
    int64_t expires_ms; /* 0: none is known */
};

/* Of a name. */
struct model_latch {
    uint32_t id; /* 0: there is none */
    unsigned of; /* arrivals */
    bool open;
    int64_t ends_ms, put_ms;
    uint64_t run;                     /* the process that it is for */
    uint32_t arrived[MODEL_ARRIVALS]; /* 0: none, and none is further on */
};

/* The list that a client counts on; the addresses ascend. */
struct model_kind {
    uint8_t masters, quorum, spare;
    uint8_t addresses[MASTERS_MAX];
    int64_t max_ttl_ms;
};

/* It lived at both moments: in TIME, or in an answer that long ago. */
struct model_process {
    uint64_t run_id; /* 0: none was heard */
    usec since, until;
};

/* A kind of list that clients say they count on; as many as agree.lua keeps. */
#define MODEL_LISTS  8
#define MODEL_SAYERS 12
struct model_list {
    int64_t place; /* 0: there is no such list */
    usec first, last, kept;
    struct model_kind kind;
    struct model_process processes[MASTERS_MAX];
    struct model_sayer {
        uint32_t client; /* 0: nobody */
        usec at;
    } sayers[MODEL_SAYERS];
};

/* Masters on which nobody may count as a list any more. */
#define MODEL_ENDS 16
struct model_end {
    uint8_t masters; /* 0: there is none */
    uint8_t addresses[MASTERS_MAX];
    unsigned successor;
};

/* AGREE: what is said, and the answer. */
struct model_agree {
    enum list_saying says;
    unsigned successor; /* said with OVER; told: 0: the asker's list is not over */
    usec changes;       /* of ends: said with NOT_OVER; told to one that looks */
    uint32_t client;
    usec kept, told_time;
    struct model_kind kind;
    uint64_t run_ids[MASTERS_MAX]; /* 0: not heard */
    unsigned told_count;
    struct model_told {
        char place; /* as in struct told_list */
        usec first_ago, last_ago;
        unsigned clients;
        struct model_kind kind;
        struct model_process processes[MASTERS_MAX];
    } told[MODEL_LISTS];
};

/* How many slots a name is said to have. */
struct model_number {
    unsigned permits;
    int64_t expires_ms;
};

/* The data that a restart keeps or loses. */
struct model_data {
    struct model_key keys[MODEL_KEYS];
    struct model_waiter waiters[MODEL_WAITERS];
    unsigned waiters_used; /* none is further on */
    struct model_reader readers[MODEL_READERS];
    unsigned readers_used;
    struct model_mark marks[MODEL_MARKS];
    struct model_number permits[MODEL_OF_SLOTS];
    struct model_said said[MODEL_SLOTS_AT];
    struct model_observer observers[MODEL_OBSERVERS];
    struct model_barrier barriers[MODEL_BARRIERS];
    struct model_passed passed[MODEL_OF_SLOTS];
    struct model_latch latches[MODEL_OF_SLOTS];
    struct model_list lists[MODEL_LISTS];
    struct model_end ends[MODEL_ENDS];
    usec changes;   /* a number that each change of an end makes a greater one */
    int64_t places; /* that lists were given */
    bool is_full;   /* there was no room for one: the model is too small */
    uint32_t arrivals;
    struct model_clock clock;
};

struct model_master {
    struct model_data data;
    uint64_t run_id;
    int64_t started_s;   /* wall clock, whole seconds, as INFO counts uptime */
    uint64_t scripts;    /* that it knows by hash: see model_script() */
    bool refused_writes; /* since it began, as errorstats counts */
};

struct model_call {
    enum request_kind kind;
    bool whole, heal;
    bool converts; /* RENEW: a name that holds the token, and shall be shared, is shared */
    bool each;     /* one of several that share a command, and so a script */
    bool plain;    /* RELEASE by another library: it only deletes */
    uint8_t count;
    model_name names[MODEL_NAMES]; /* in the order of the request */
    model_modes modes;             /* a bit for each of these: shared */
    uint32_t value;                /* the token */
    unsigned permits;              /* GRANT, QUEUE of a slot: how many the name is said to have */
    int64_t ttl_ms;                /* RELEASE: how long no renewal heals; 0: it is not marked */
    model_name heard[2];           /* RELEASE: observers of these hear of a break; 0: none */
    usec not_after;
    usec proposal;               /* GRANT, UPGRADE */
    usec fence;                  /* RAISE; ANNOUNCE, UNSAY: the term; ASK: the id */
    int64_t number;              /* ANNOUNCE; ASK: how many wait at least */
    uint32_t said;               /* ANNOUNCE, ASK: the value */
    int64_t generation, kept_ms; /* ARRIVE, DEPART */
    unsigned parties;            /* MEND: for how many arrivals */
    unsigned tokens_told;        /* PEEK: most tokens of each list; 0: it was not said */
    bool passed;
    bool open;                        /* TALLY, MEND; not_after: when it ends */
    uint32_t arrived[MODEL_ARRIVALS]; /* TALLY: the first; 0: none, and none is further on */
    uint64_t run;                     /* MEND */
    usec ticket;                      /* QUEUE; ttl_ms: the life of the place */
    uint32_t channel;
    struct quarantine_terms terms;
    struct model_agree *agree; /* AGREE: takes the answer; NULL: it is not looked at */
};

/* A push on a waiter's channel. */
struct model_push {
    uint32_t channel, value;
    usec clock;
    uint8_t count;
    model_name names[MODEL_NAMES];
    int free_slot; /* -1: the names were given; else nothing was */
    bool says;     /* what is said of the name has changed, and nothing was given */
    struct model_said said;
    int64_t left_ms;
};

struct model_answer {
    enum answer answer;
    int64_t remaining_ms; /* HELD of PEEK, QUEUED: as PTTL says, -1 for a key without expiry, -2 for
                             none */
    uint32_t value;       /* HELD of PEEK, ASK; MODEL_MARK: it is shared */
    unsigned readers;     /* HELD of PEEK: how many share the name, or have one of its slots */
    unsigned permits;     /* HELD of PEEK: how many slots it is said to have */
    int free_slot, next_slot;      /* as in struct reply */
    uint32_t holders[MODEL_NAMES]; /* QUEUED: of each name that another token has; MODEL_MARK */
    unsigned holder_count;
    bool belies_holder; /* QUEUED: a liar's, of what library the holder is */
    usec time;          /* LATE, HELLO */
    usec abstains;
    usec age;                               /* HELLO */
    usec clock;                             /* GRANT, RAISE, QUEUE, UPGRADE, HELLO */
    unsigned position;                      /* ASK: waiters */
    struct model_said said;                 /* YES of OBSERVE */
    unsigned parties, counted;              /* ARRIVE, DEPART; ASK: those who heed */
    int64_t latest;                         /* OVER */
    uint32_t tokens[MODEL_PARTIES];         /* OPEN of ARRIVE, DEPART; 0: none */
    struct model_latch latch;               /* YES, OPEN of TALLY, MEND */
    struct model_push pushes[MODEL_PUSHES]; /* as many readers may be given one name */
    unsigned push_count;
    bool floods; /* a liar: each of them very often */
    int64_t max_ttl_ms, uptime_s;
    uint64_t run_id;
    const char *error;
};

/* `wall` is the master's TIME in microseconds. */
void model_execute(struct model_master *master, usec wall, const struct model_call *call,
                   struct model_answer *answer);
/* The bit of the script that carries out the call. */
uint64_t model_script(const struct model_call *call);
/* Those that come with a whole one. */
uint64_t model_scripts_with(const struct model_call *call);
/* Starts again, with `data` as read from disk, or with none. */
void model_restart(struct model_master *master, usec wall, uint64_t run_id,
                   const struct model_data *data);
/* The `rank`-th live waiter for a name, from 0; NULL: there is none. */
const struct model_waiter *model_waiter(const struct model_master *master, usec wall, unsigned name,
                                        unsigned rank);
/* Is this token a live waiter for the name? */
bool model_waits(const struct model_master *master, const struct model_waiter *waiter, usec wall,
                 unsigned name);
/* The value of a name now; 0: absent, MODEL_MARK: it is shared. */
uint32_t model_value(struct model_master *master, usec wall, unsigned name);
/* Has the token the name now, shared or not? */
bool model_has(struct model_master *master, usec wall, unsigned name, uint32_t value);
/* Did a client tell the master to heal this token no more? */
bool model_is_marked(const struct model_master *master, usec wall, uint32_t value);
/* Until when a token has the name that it has. */
int64_t model_expires_ms(struct model_master *master, unsigned name, uint32_t value);
/* How many share the name now. */
unsigned model_readers(struct model_master *master, usec wall, unsigned name);

/* Mutants of the model itself: rules that live in the scripts. */
struct model_flaws {
    bool ignores_run_id;       /* hello */
    bool silenced_again;       /* hello abstains at each word of the same change */
    bool seeds_if_absent;      /* hello sets the clock only where there is none */
    bool forgets_skew;         /* hello lets a clock begin as if no wall were wrong */
    bool starts_low;           /* hello takes the clock on from the wall */
    bool proposals_uncut;      /* a grant follows the proposal wherever it is */
    bool grants_keep_clock;    /* a grant does not move the clock on */
    bool orders_by_arrival;    /* queue */
    bool queue_keeps_clock;    /* queue does not move the clock on */
    bool keeps_dead;           /* a dead waiter stays in the queue */
    bool heals_marked;         /* a renewal heals a token that another process has given back */
    bool passes_marked_on;     /* who takes such a token over gets the names that it has again */
    bool lets_barge;           /* grant does not look at the line */
    bool raises_for_anyone;    /* raise does not look at the token */
    bool dead_readers_have;    /* a reader whose time is over still has the name */
    bool keeps_readers;        /* who makes the marker leaves the readers of an earlier one */
    bool marker_of_last;       /* the marker expires with the reader that came or renewed last */
    bool readers_barge;        /* a grant of shared names does not look at the line */
    bool always_converts;      /* each renewal of a reader converts */
    bool upgrades_beside;      /* upgrade does not look for other readers */
    bool passes_registry;      /* grant looks at the line of its own slot alone */
    bool new_places_pass;      /* a new place is given a free slot though somebody older waits */
    bool gives_no_hints;       /* a slot that nobody stands at is freed in silence */
    bool renewals_hide_slots;  /* a renewal does not store that there is its slot */
    bool announces_for_anyone; /* announce does not look at the token */
    bool tells_by_id;          /* ask publishes no wish again for another token */
    bool breaks_in_silence;    /* release publishes no "taken" */
    bool latch_of_any_process; /* what was given to a former process counts */
    bool drops_young;          /* drop does not look at how long the latch has been there */
    bool frees_for_readers; /* a reader's release deletes the marker, also beside other readers */
};
extern struct model_flaws model_flaws;

#endif
