/*
 * One barrier alone: a few masters that count parties and open, and parties that arrive, pass,
 * leave, die and come back.  A master's scripts are in master.c, a party's conclusions in party.c,
 * events in steps.c, and the questions in rules.c.
 */
#ifndef BARRIER_WORLD_H
#define BARRIER_WORLD_H

#include <stdbool.h>
#include <stdint.h>

#include "../questions.h"

enum { MASTERS = 3, PARTIES = 3, LONGEST = 3 };

#define QUESTION_TABLE(ASK)                                                                        \
    ASK(TOGETHER)                                                                                  \
    ASK(BARRED)                                                                                    \
    ASK(EXPIRY)                                                                                    \
    ASK(RESTARTS)                                                                                  \
    ASK(FORGOTTEN)                                                                                 \
    ASK(PROGRESS)                                                                                  \
    ASK(SLEEPER)                                                                                   \
    ASK(OTHERS)

/* Each rule that is broken, with the question that finds it.  HARMLESS: another rule keeps it from
 * doing harm.
 *
 * - of-others needs three masters and n = 2.  A arrives at master 1 alone and leaves, B at 2 alone,
 * and neither has asked a quorum.  C finds both open, and passes alone.
 * - passed-not-stored misleads nobody: a counted party never hears that it has not passed.  But it
 *   waits for ever.
 */
#define MUTANT_TABLE(BREAK, HARMLESS)                                                              \
    BREAK(OPEN_ON_ONE, TOGETHER, "who is on one open master counts")                               \
    BREAK(OF_OTHERS, TOGETHER, "a quorum of open masters is enough, whomever they count")          \
    BREAK(EXPIRED_COUNTS, EXPIRY, "a party is counted though its ttl is over")                     \
    BREAK(LEFT_UNASKED, TOGETHER, "who leaves has not passed, whatever masters say")               \
    BREAK(LEFT_BY_FEWER, TOGETHER, "one master less than a quorum is enough to have left")         \
    BREAK(OPEN_TAKES_OFF, TOGETHER, "an open master takes off who leaves")                         \
    BREAK(GONE_WHEN_EXPIRED, TOGETHER, "an open master says that who has expired is not there")    \
    BREAK(ARRIVES_BEHIND, TOGETHER,                                                                \
          "what was sent on a former connection may be carried out later")                         \
    BREAK(BARRED_WHILE_ASKING, BARRED,                                                             \
          "a master that was asked again since has barred who leaves")                             \
    BREAK(NOT_PASSED_THOUGH_OPEN, RESTARTS,                                                        \
          "a party that heard that a master is open may not have passed")                          \
    BREAK(ANSWERS_KEPT_FOR_EVER, RESTARTS, "what a master said counts for ever")                   \
    BREAK(QUARANTINE_SHORT, RESTARTS, "a master abstains for a tick less")                         \
    BREAK(QUARANTINED_COUNTS, RESTARTS, "what a master that abstains says counts")                 \
    BREAK(COMES_BACK_NOT_PASSED, RESTARTS, "who comes back may not have passed")                   \
    BREAK(UNHEARD_WAITS_ON, RESTARTS, "who has heard of no quorum for too long waits on")          \
    BREAK(OPEN_KEPT_SHORT, FORGOTTEN, "an open barrier is forgotten two ticks early")              \
    BREAK(PASSED_NOT_STORED, PROGRESS, "a party passes before a quorum has stored that")           \
    BREAK(RECORD_NOT_KEPT, SLEEPER, "that it was passed is forgotten with the barrier")            \
    BREAK(RECORD_WHEN_OPEN, FORGOTTEN, "a master that is open keeps that it was passed")           \
    BREAK(OVER_STAYS_OVER, SLEEPER, "a party that was there hears that it is over")                \
    BREAK(OVER_OF_ANY, OTHERS, "who was there passes, whatever number has passed")

MODEL_ENUMS(QUESTION_TABLE, MUTANT_TABLE);

struct rules {
    enum question question;
    enum mutant mutant;
    int masters;
    int parties; /* that there are */
    int wanted;  /* that the barrier is for */
    int lasts;   /* ticks for which what a master said counts; 0: there is no time */
    int ttl;     /* ticks; 0: a party's count expires at any time */
    int abstain; /* ticks that a restarted master abstains for */
    int kept;    /* ticks that an open barrier is kept for; 0: for ever */
    int restarts;
    int saves;
    int late; /* requests and answers that are late, and connections that end */
    int deaths;
    int returns;  /* with the token of an earlier call */
    int expiries; /* counts that end */
    int others;   /* how often others come who wait for another number */
};

/* SHUT stands for nothing known as well: either is no reason for anything. */
enum stand { SHUT, OPEN, PASSED, GONE, OTHER, OVER, OVER_OF_OTHERS };

enum errand { ARRIVE, TELL_PASSED, DEPART };

enum stage { IDLE, SENT, ANSWERED };

/* A master's word.  Sets are of parties, a bit for each. */
struct word {
    uint8_t stand;
    uint8_t tokens; /* OPEN: the set of whom it counts */
    uint8_t age;    /* ticks since it was asked for; lasts + 1: too old, or none */
};

struct link {
    uint8_t stage, errand;
    struct word flight; /* the answer that is on its way */
    struct word known;
    bool touched;
    bool stale;       /* the connection is to the process before the restart */
    bool has_counted; /* the party heard so, or that it is open */
    bool orphan;      /* an ARRIVE is on its way on a connection that nobody uses any more */
};

struct data {
    bool open, passed;
    bool record;           /* it is kept for days that it was passed */
    bool of_others;        /* by another number of parties */
    uint8_t there;         /* set of entries, counted still or not */
    uint8_t live[PARTIES]; /* ticks + 1 for which it is counted; 0: not */
};

struct world {
    struct master {
        struct data data;
        bool barred; /* others wait there for another number */
        bool has_saved;
        uint8_t abstains, kept; /* ticks that are left */
        uint8_t saved_there;    /* what was saved; all of them were counted then */
        bool saved_open, saved_passed, saved_record, saved_of_others;
        struct link link[PARTIES];
    } master[MASTERS];
    struct party {
        uint8_t phase;
        bool uncertain; /* nobody will tell it that it has not passed */
        bool decided;
        uint8_t heard; /* ticks + 1 for which the last hearing of a quorum counts; 0: no matter */
        uint8_t gone;  /* ticks + 1 for which it may be counted still, when it has ended */
    } party[PARTIES];
    uint8_t with; /* set of parties with which somebody has passed */
    uint8_t may;  /* set of parties that could be counted when the first one passed */
    bool any_decided, any_told;
    uint8_t restarts, saves, late, deaths, returns, expiries, others;
    uint8_t wrong; /* what the last step has broken; not packed */
};

enum phase { AWAY, WAITS, LEAVES, HAS_PASSED, HAS_NOT, UNDECIDED, DEAD };

enum wrong { FINE, TOO_FEW, LEFT_AND_COUNTED };

enum act {
    ASK,
    CARRY_OUT,
    CARRY_OUT_ORPHAN,
    HEAR,
    RECONNECT,
    LEAVE,
    GIVE_UP,
    DIE,
    COME_BACK,
    EXPIRE,
    OTHERS_COME,
    OTHERS_GO,
    OTHERS_PASS,
    SAVE,
    RESTART,
    TICK
};

enum fate { PROMPT, REQUEST_LATE, ANSWER_LATE, FATES };

enum memory { EMPTY, AS_IT_WAS, AS_SAVED };

struct step {
    enum act act;
    int party, master;
    enum fate fate;     /* ASK */
    enum errand errand; /* ASK */
    enum memory memory; /* RESTART */
    enum wrong wrong;
    bool honest;
};

/* ---- master.c ------------------------------------------------------------------- */

uint8_t master_counts(const struct rules *rules, const struct master *master); /* a set */
struct word master_carry_out(const struct rules *rules, struct master *master, int c,
                             enum errand errand);
/* Those who wait for another number hear that they have passed. */
void master_others_pass(struct master *master);
bool master_lets_others_in(const struct rules *rules, const struct master *master);
void master_save(const struct rules *rules, struct master *master);
void master_restart(const struct rules *rules, struct master *master, enum memory memory);
void master_tick(const struct rules *rules, struct master *master);

/* ---- party.c -------------------------------------------------------------------- */

/* It may ask the master, and what that says counts. */
bool party_counts(const struct rules *rules, const struct world *world, int c, int i);
enum errand party_errand(const struct party *party);
void party_asks(const struct rules *rules, struct world *world, int c, int i);
void party_hears(const struct rules *rules, struct world *world, int c, int i, struct word word);
void party_ends(const struct rules *rules, struct world *world, int c, enum phase phase);
void party_comes_back(const struct rules *rules, struct world *world, int c);
void party_tick(const struct rules *rules, struct world *world, int c);
/* Conclusions at once from what it heard. */
void party_settle(const struct rules *rules, struct world *world, int c);
void party_judge(const struct rules *rules, struct world *world);

#endif
