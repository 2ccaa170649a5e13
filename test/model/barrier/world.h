/*
 * One barrier alone: a few masters that count parties and open, and parties that arrive, pass,
 * leave, die and come back.  master.c has the scripts of a master, party.c what follows from what
 * a party was told, steps.c what can happen, and rules.c the questions.
 */
#ifndef BARRIER_WORLD_H
#define BARRIER_WORLD_H

#include <stdbool.h>
#include <stdint.h>

#include "../questions.h"

enum { MASTERS = 3, PARTIES = 3, LONGEST = 3 };

enum mutant {
    NONE,
    OPEN_ON_ONE,
    OF_OTHERS,
    EXPIRED_COUNTS,
    LEFT_UNASKED,
    LEFT_BY_FEWER,
    OPEN_TAKES_OFF,
    GONE_WHEN_EXPIRED,
    ARRIVES_BEHIND,
    BARRED_WHILE_ASKING,
    OPEN_IGNORED,
    KEPT_FOR_EVER,
    QUARANTINE_SHORT,
    QUARANTINED_COUNTS,
    COMES_BACK_NOT_PASSED,
    UNHEARD_WAITS_ON,
    OPEN_KEPT_SHORT,
    PASSED_NOT_STORED,
    RECORD_NOT_KEPT,
    RECORD_WHEN_OPEN,
    OVER_STAYS_OVER,
    OVER_OF_ANY,
    MUTANTS
};

enum question {
    TOGETHER,
    BARRED,
    EXPIRY,
    RESTARTS,
    FORGOTTEN,
    PROGRESS,
    SLEEPER,
    OTHERS,
    QUESTIONS
};

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

/* What a master said.  Sets are of parties, a bit for each. */
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
    bool has_counted; /* the party was told so, or that it is open */
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

static inline bool broken(const struct rules *rules, enum mutant mutant)
{
    return rules->mutant == mutant;
}

static inline int quorum(const struct rules *rules)
{
    return rules->masters / 2 + 1;
}

/* ---- master.c ------------------------------------------------------------------- */

uint8_t master_counts(const struct rules *rules, const struct master *master); /* a set */
struct word master_carry_out(const struct rules *rules, struct master *master, int c,
                             enum errand errand);
/* Those who wait for another number are told to have passed. */
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
/* What follows at once from what it was told. */
void party_settle(const struct rules *rules, struct world *world, int c);
void party_judge(const struct rules *rules, struct world *world);

/* ---- what a model has to do: steps.c, pack.c ------------------------------------- */

void barrier_begin(const void *rules, model_visit *visit, void *visitor);
void barrier_steps(const void *rules, const void *world, model_visit *visit, void *visitor);
bool barrier_is_goal(const void *rules, const void *world);
void barrier_pack(const void *rules, const void *world, uint64_t *words);
void barrier_unpack(const void *rules, const uint64_t *words, void *world);

/* ---- rules.c, story.c -------------------------------------------------------------- */

extern const struct mutant_text mutant_texts[MUTANTS];
extern const char *const question_names[QUESTIONS];
struct rules rules_for(enum question question, enum mutant mutant);
void story_print(const struct search *search);

#endif
