/*
 * Latches alone: masters that have a record each, and clients that make a latch, arrive at it, or
 * read how it stands.  Each of these puts the record where it is missing.  Masters are in master.c,
 * a client's knowledge in known.c, its words in client.c, events in steps.c, and the questions in
 * rules.c.
 */
#ifndef LATCH_WORLD_H
#define LATCH_WORLD_H

#include <stdbool.h>
#include <stdint.h>

#include "../questions.h"

enum { MASTERS = 5, CLIENTS = 4, ARRIVERS = 3, CREATORS = 3, RANKS = 3 };

#define QUESTION_TABLE(ASK)                                                                        \
    ASK(OPENING)                                                                                   \
    ASK(COUNTING)                                                                                  \
    ASK(GONE)                                                                                      \
    ASK(CREATION)                                                                                  \
    ASK(STRAY)                                                                                     \
    ASK(PROGRESS)                                                                                  \
    ASK(SPARE)                                                                                     \
    ASK(FULL)                                                                                      \
    ASK(CLEARING)                                                                                  \
    ASK(BESIDE)

/* Each rule that is broken, with the question that finds it.  HARMLESS: another rule keeps it from
 * doing harm.
 *
 * - made-for-younger, in creation and in stray with a maker: such a process abstains until the
 * maker has given up, so this rule is a second defence.
 * - create-unnamed, mend-unnamed: they do harm only if a request reaches a later process.  A direct
 *   connection does not allow that.
 */
#define MUTANT_TABLE(BREAK, HARMLESS)                                                              \
    BREAK(RECORD_OF_ANY_RUN, OPENING, "a record of a former process counts")                       \
    BREAK(NO_RECORD_COUNTS_EMPTY, OPENING,                                                         \
          "a master without a record says that nobody has arrived")                                \
    BREAK(QUARANTINED_COUNTS, OPENING, "a master that abstains counts, and is mended")             \
    BREAK(OPEN_UNSTORED, OPENING, "open is reported before it is stored")                          \
    BREAK(OPEN_ON_ONE, OPENING, "open is reported when one master knows it")                       \
    BREAK(ARRIVED_ON_FEWER, OPENING, "one master less than a quorum counts an arrival")            \
    BREAK(SHUT_ON_FEWER, OPENING, "one master less than a quorum is read")                         \
    BREAK(ACKS_FOR_EVER, OPENING, "what a master has stored counts without limit")                 \
    BREAK(MENDED_FROM_FEWER, OPENING, "one master less than a quorum is read to mend")             \
    BREAK(MENDED_IN_QUARANTINE, OPENING, "a master that abstains is mended")                       \
    BREAK(READS_NOT_AGAIN, OPENING,                                                                \
          "a master is mended by what was read before it said that it has none")                   \
    BREAK(MEND_REPLACES, STRAY, "mending takes away what is there")                                \
    BREAK(MEND_UNNAMED, STRAY, "a mend is for any process")                                        \
    BREAK(MENDED_UNOPENED, OPENING, "a mend does not say that it is open")                         \
    BREAK(NEVER_MENDED, PROGRESS, "nobody mends")                                                  \
    BREAK(GONE_TOLD_ONCE, GONE, "gone is reported when each has said once that it has none")       \
    BREAK(GONE_BY_FEWER, GONE, "gone is reported though one more may have it")                     \
    BREAK(GONE_OF_OTHERS, GONE,                                                                    \
          "of those that say again that they have none, some say so for the first time")           \
    BREAK(CREATE_UNNAMED, STRAY, "a creation is for any process")                                  \
    HARMLESS(MADE_FOR_YOUNGER, CREATION, "a younger process is asked to make it")                  \
    BREAK(MADE_FOR_EVER, CREATION, "making has no end")                                            \
    BREAK(MADE_ON_FEWER, CREATION, "one master less than a quorum makes a latch")                  \
    BREAK(DROPPED_ANYHOW, STRAY, "a latch is dropped at which somebody has arrived")               \
    BREAK(OPENED_BY_A_LIAR, SPARE, "one master's word opens")                                      \
    BREAK(MENDS_LIES, SPARE, "one master's word is put on others")                                 \
    BREAK(FULL_OF_OTHERS, FULL, "a master that has enough others does not speak for an arrival")   \
    BREAK(CLEARS_YOUNG, CLEARING,                                                                  \
          "a latch that others left is taken away however short it has been there")                \
    BREAK(CLEARS_WHAT_GREW, CLEARING, "the master alone looks at how long it has been there")      \
    BREAK(CLEARS_SOON, CLEARING, "it is taken away as soon as its maker has given up")             \
    BREAK(CLEARS_LATE, CLEARING, "who should have given up takes away what others left")           \
    BREAK(CLEARS_BESIDE_UNUSED, BESIDE,                                                            \
          "what is young is taken away though nobody has arrived at the other")                    \
    BREAK(CLEARS_BESIDE_FEWER, BESIDE,                                                             \
          "what is young is taken away by less than a quorum of arrivals")

MODEL_ENUMS(QUESTION_TABLE, MUTANT_TABLE);

struct rules {
    enum question question;
    enum mutant mutant;
    int masters;
    int spare; /* that may be wrong without doing harm */
    int liars; /* 1: the last master says what it likes */
    int down;  /* 1: nobody reaches the last master */
    int of;    /* this number of arrivals opens a latch */
    int creators, arrivers, readers;
    int any;        /* who reads does not know the id */
    int late;       /* requests that are late, or whose answers are lost */
    int restarts;   /* of all masters */
    int quarantine; /* ticks; a process's record counts for half of it after its end */
};

enum { NOBODYS, X, Y, Z }; /* ids of latches; 0: there is none */

/* A master's record.  Sets are of arrivals, a bit for each. */
struct record {
    uint8_t id;
    bool of_run; /* this process was given it */
    uint8_t arrived;
    bool open;
    uint8_t age; /* clears(): ticks, up to what is old enough */
};

enum kind { NOTHING, TALLY, PUT, DROP };

/* DEAD: it may still be carried out, but nobody hears the answer.  FORMER: likewise, and the
 * process that it was sent to is no more. */
enum stage { SENT, DEAD, FORMER };

struct message {
    uint8_t kind, stage;
    uint8_t id;
    uint8_t arrived; /* of an arriver: its own; of a PUT: others, too */
    bool open;
    uint8_t rank; /* see struct link */
    bool verified;
    bool of_other; /* DROP: of a latch that somebody else has left */
};

enum stands { UNKNOWN, ABSENT, SHUT, OPEN };

/* A client's knowledge of a master, from its last answer. */
struct link {
    uint8_t stands;
    uint8_t id, arrived;
    bool missing; /* it has none, and may be given one */
    /* Of the n-th that was found to be missing: n.  Else: how many had been found when this was
     * asked. */
    uint8_t rank;
    bool old;            /* it has had this for long enough to be without a maker */
    bool verified;       /* it was asked since no quorum was seen to have the latch */
    bool stale;          /* what it knows is of the process before the restart */
    uint8_t left;        /* ticks for which that counts */
    bool touched, other; /* CREATOR: it has asked; another process than this one */
    struct message message;
};

enum phase { NEW, ASKING, TOLD, FAILED };

struct world {
    struct master {
        struct record record;
        uint8_t quarantine; /* ticks that are left */
        uint8_t forgot;     /* clears(): a set of ids, of which a process had a record at its end */
        bool lies;
        struct link link[CLIENTS];
    } master[MASTERS];
    struct client {
        uint8_t phase;
        uint8_t id;
        bool bound; /* a quorum has said the same, or it is to */
        bool decided, open;
        bool verifies; /* no quorum can have the latch, as was heard */
        uint8_t left;  /* CREATOR: ticks until it gives up */
        /* for what it may tell */
        bool after_open; /* it was open before this began */
        uint8_t after;   /* these were counted before */
        bool was_none;   /* there was a moment since at which no quorum had the latch */
    } client[CLIENTS];
    /* the report, of the latch `told` */
    bool told_open;
    uint8_t told_counted, told;
    uint8_t made, lost; /* sets of ids: told to be made; no quorum has had it since */
    uint8_t late, restarts;
    uint8_t wrong; /* what the last step has broken; not packed */
};

enum act { ASK, CARRY_OUT, CUT, LOSE, NOTICE, TELL, GIVE_UP, START_OVER, RESTART, TICK };

enum fate { PROMPT, LATE, UNHEARD };

enum end { PENDING, MADE, HELD, COUNTED, IS_OPEN, IS_SHUT, IS_GONE };

enum wrong { FINE, OPEN_EARLY, SHUT_AFTER_OPEN, UNCOUNTED, NOT_GONE, TWO_MADE, TAKEN_AWAY };

struct step {
    enum act act;
    int client, master;
    enum kind kind; /* ASK, CARRY_OUT */
    enum fate fate;
    enum end end;
    enum wrong wrong;
    bool honest;
};

static inline int quorum_of(const struct rules *rules)
{
    return (rules->masters + 2 + rules->spare) / 2;
}

static inline int clients(const struct rules *rules)
{
    return rules->creators + rules->arrivers + rules->readers;
}

static inline bool is_creator(const struct rules *rules, int c)
{
    return c < rules->creators;
}

static inline bool is_reader(const struct rules *rules, int c)
{
    return c >= rules->creators + rules->arrivers;
}

/* The client's own arrival; none of others. */
static inline uint8_t arrival_of(const struct rules *rules, int c)
{
    return is_creator(rules, c) || is_reader(rules, c) ? 0 : 1 << (c - rules->creators);
}

static inline int count_bits(unsigned set)
{
    return __builtin_popcount(set);
}

static inline bool is_arriver(const struct rules *rules, int c)
{
    return arrival_of(rules, c);
}

/* Whether clients report that the latch is gone, and the model looks at that. */
static inline bool has_gone(const struct rules *rules)
{
    return rules->question == GONE || rules->question == CREATION || rules->question == PROGRESS ||
           rules->question == SPARE;
}

/* Clients take away what others have left; the model sees that they take nothing else. */
static inline bool clears(const struct rules *rules)
{
    return rules->question == CLEARING || rules->question == BESIDE;
}

/* One tick more than it lasts: at its end it still counts. */
static inline uint8_t lasts(const struct rules *rules)
{
    return rules->quarantine / 2 + 1;
}

/* A maker has given up by then, and so has whoever began to make one before that. */
static inline uint8_t old_age(const struct rules *rules)
{
    return !clears(rules) ? 0 : rules->quarantine * (broken(rules, CLEARS_SOON) ? 1 : 2);
}

/* ---- master.c ------------------------------------------------------------------- */

struct answer {
    uint8_t stands, id, arrived;
    bool old;
};

bool master_has(const struct rules *rules, const struct record *record);
/* Is what any quorum of masters has, of this id, by their present processes. */
bool master_quorum_has(const struct rules *rules, const struct world *world, int id);
struct answer master_carry_out(const struct rules *rules, struct world *world, int c, int i);

/* ---- known.c: what follows from what masters have said ---------------------------- */

bool known_counts_as_stored(const struct rules *rules, const struct world *world, int c, int i);
bool known_counts(const struct rules *rules, const struct world *world, int c, int i);
bool known_has(const struct rules *rules, const struct world *world, int c, int i);
/* Of those asked since the n-th was found to be missing. */
int known_readers(const struct rules *rules, const struct world *world, int c, int rank);
uint8_t known_arrived(const struct rules *rules, const struct world *world, int c, int least);
bool known_is_open(const struct rules *rules, const struct world *world, int c);
bool known_is_shut(const struct rules *rules, const struct world *world, int c);
bool known_is_gone(const struct rules *rules, const struct world *world, int c, bool verified);
int known_found(const struct rules *rules, const struct world *world, int c); /* an id, or 0 */
bool known_can_mend(const struct rules *rules, const struct world *world, int c, int i);
/* Each has too few masters for a quorum to have any. */
bool known_is_split(const struct rules *rules, const struct world *world, int c);
bool known_is_held(const struct rules *rules, const struct world *world, int c);
void known_hear(const struct rules *rules, struct world *world, int c, int i,
                const struct answer *answer);
void known_forget(const struct rules *rules, struct world *world, int c, int i);

/* ---- client.c ------------------------------------------------------------------- */

void client_begin(const struct rules *rules, struct world *world, int c);
bool client_may_ask(const struct rules *rules, const struct world *world, int c, int i);
void client_send(const struct rules *rules, struct world *world, int c, int i);
/* Draws the conclusions of all clients. */
void client_settle(const struct rules *rules, struct world *world);
enum end client_end(const struct rules *rules, const struct world *world, int c);
void client_tell(const struct rules *rules, struct world *world, int c, enum end end);
void client_start_over(const struct rules *rules, struct world *world, int c);
void client_give_up(const struct rules *rules, struct world *world, int c);

#endif
