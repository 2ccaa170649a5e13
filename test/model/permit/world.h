/*
 * Permits alone: a few slots, each with an owner and a line on every master, and clients that
 * try, stand in line, follow hints and move from line to line.  master.c has the rules of a
 * master, client.c those of a client, steps.c what can happen, and rules.c the questions.
 */
#ifndef PERMIT_WORLD_H
#define PERMIT_WORLD_H

#include <stdbool.h>
#include <stdint.h>

#include "../questions.h"

enum { MASTERS = 3, SLOTS = 3, CLIENTS = 4 };

enum mutant {
    NONE,
    SLOT_HINT_COUNTS,
    ANOTHER_SLOT_COUNTS,
    MINORITY_COUNTS,
    REBIND_SAME_TOKEN,
    QUARANTINE_IGNORED,
    KEEPS_BOTH,
    FREE_NOT_TOLD,
    OLD_PLACE_KEPT,
    NO_YIELD,
    REBIND_BACK,
    FREE_ON_ONE,
    REBIND_WHILE_GRANTED,
    HINT_TRIES,
    REBIND_NEW_TICKET,
    ONE_PLACE,
    REGISTRY_PASSED,
    HINT_LEAVES_EARLY,
    ENQUEUED_PASSES,
    MUTANTS
};

enum question { EXCLUSION, PROGRESS, REST, ORDER, QUESTIONS };

/* How a first in line gets to another slot. */
enum style { AS_WRITTEN, ONCE, BOTH };

struct rules {
    enum question question;
    enum mutant mutant;
    int masters;
    int slots;
    int clients;
    int down;     /* masters that nobody reaches */
    int style;    /* enum style */
    int late;     /* requests, releases and hints that are late or lost */
    int restarts; /* masters that lose their data */
    int crashes;  /* clients that die */
};

enum owner { FREE, TOKEN /* + a client */, GIVEN_BACK = TOKEN + CLIENTS /* + a client */ };

/* In a world with fewer clients than there may be. */
enum { STRANGER = GIVEN_BACK + CLIENTS - 1 };

enum phase { NEW, TRYING, WAITING, HOLDING, DONE, DEAD };

enum wrong { FINE, TWO_HOLD, TOO_MANY, TWO_SLOTS, PASSED };

/* Sets are of clients, a bit for each. */
struct slot {
    uint8_t owner;
    uint8_t line;    /* who stands there */
    uint8_t ghosts;  /* tokens there that were given back */
    uint8_t giving;  /* releases on their way */
    uint8_t asked;   /* tries and places on their way */
    uint8_t told;    /* who was told that it has the slot here */
    uint8_t refused; /* whose try was refused */
    uint8_t hinted;  /* who has a hint of this slot */
};

struct world {
    struct master {
        struct slot slot[SLOTS];
        bool restarted, abstains;
    } master[MASTERS];
    struct client {
        uint8_t phase;
        uint8_t stands; /* set of slots in whose lines it is */
        uint8_t tries;  /* set of slots that it tries with a token of their own */
        uint8_t left;   /* set of slots whose lines it has left for another */
        uint8_t ticket; /* the rank of it among those who wait */
        uint8_t holds;  /* the slot */
    } client[CLIENTS];
    uint8_t late, restarts, crashes;
    uint8_t wrong; /* what the last step has broken; not packed */
};

enum act {
    TRY,
    STAND,
    REFRESH,
    MOVE,
    FOLLOW,
    END_TRY,
    YIELD,
    RELEASE,
    CARRY_OUT,
    CARRY_OUT_RELEASE,
    HEAR,
    COME_AGAIN,
    CRASH,
    EXPIRE,
    RESTART,
    END_QUARANTINE
};

struct step {
    enum act act;
    int client, master, slot;
    int late; /* set of masters */
    enum wrong wrong;
    bool honest, idle;
};

static inline bool broken(const struct rules *rules, enum mutant mutant)
{
    return rules->mutant == mutant;
}

static inline int quorum(const struct rules *rules)
{
    return rules->masters / 2 + 1;
}

/* The last ones may be down: then they are in no step. */
static inline int up(const struct rules *rules)
{
    return rules->masters - rules->down;
}

/* ---- master.c ------------------------------------------------------------------- */

int master_first(const struct world *world, int i, int j); /* as an owner */
/* A quorum of masters has given the client one slot. */
bool master_has_slot(const struct rules *rules, const struct world *world, int c);
bool master_is_ahead(const struct world *world, int c, int i, int j);
void master_try(const struct rules *rules, struct world *world, int c, int i, int j);
void master_stand(const struct rules *rules, struct world *world, int c, int i, int j);
/* With a hint that may be lost. */
void master_release(const struct rules *rules, struct world *world, int c, int i, int j,
                    bool hints);

/* ---- client.c ------------------------------------------------------------------- */

bool client_counts(const struct rules *rules, const struct world *world, int i);
int client_told(const struct rules *rules, const struct world *world, int c, int j);
void client_give_back(const struct rules *rules, struct world *world, int c, int j, bool moves);
void client_settle(const struct rules *rules, struct world *world);
bool client_has_anything(const struct rules *rules, const struct world *world, int c);
bool client_may_move(const struct rules *rules, const struct world *world, int c, int from, int to);
bool client_has_to_yield(const struct rules *rules, const struct world *world, int c, int j);
bool client_has_failed(const struct rules *rules, const struct world *world, int c, int j);
void client_queue_up(const struct rules *rules, struct world *world, int c);
void client_leave_order(const struct rules *rules, struct world *world, int c);
void client_judge(const struct rules *rules, struct world *world);

/* ---- what a model has to do: steps.c, pack.c ------------------------------------- */

void permit_begin(const void *rules, model_visit *visit, void *visitor);
void permit_steps(const void *rules, const void *world, model_visit *visit, void *visitor);
bool permit_is_goal(const void *rules, const void *world);
void permit_pack(const void *rules, const void *world, uint64_t *words);
void permit_unpack(const void *rules, const uint64_t *words, void *world);

/* ---- rules.c, story.c -------------------------------------------------------------- */

extern const struct mutant_text mutant_texts[MUTANTS];
extern const char *const question_names[QUESTIONS];
struct rules rules_for(enum question question, enum mutant mutant);
void story_print(const struct search *search);

#endif
