/*
 * Permits alone: a few slots, each with an owner and a line on every master, and clients that
 * try, stand in line, follow hints and move from line to line.  The rules of a master are in
 * master.c, those of a client in client.c, events in steps.c, and the questions in rules.c.
 */
#ifndef PERMIT_WORLD_H
#define PERMIT_WORLD_H

#include <stdbool.h>
#include <stdint.h>

#include "../questions.h"

enum { MASTERS = 3, SLOTS = 3, CLIENTS = 4 };

#define QUESTION_TABLE(ASK) ASK(EXCLUSION) ASK(PROGRESS) ASK(REST) ASK(ORDER)

/* Each rule that is broken, with the question that finds it.  HARMLESS: another rule keeps it from
 * doing harm. */
#define MUTANT_TABLE(BREAK, HARMLESS)                                                              \
    BREAK(SLOT_HINT_COUNTS, EXCLUSION, "a hint is taken for a grant")                              \
    BREAK(ANOTHER_SLOT_COUNTS, EXCLUSION, "grants of any slot count together")                     \
    BREAK(MINORITY_COUNTS, EXCLUSION, "one master less than a quorum is enough")                   \
    BREAK(REBIND_SAME_TOKEN, EXCLUSION, "who moves goes on with the same token")                   \
    BREAK(QUARANTINE_IGNORED, EXCLUSION, "a grant of a master that abstains counts")               \
    BREAK(KEEPS_BOTH, EXCLUSION, "who has a slot gives nothing else back")                         \
    BREAK(FREE_NOT_TOLD, PROGRESS, "a refresh does not tell of free slots")                        \
    BREAK(OLD_PLACE_KEPT, EXCLUSION, "who got a slot stays in the other lines")                    \
    BREAK(NO_YIELD, PROGRESS, "a minority is kept though somebody is ahead")                       \
    BREAK(REBIND_BACK, REST, "who moved may move back")                                            \
    BREAK(FREE_ON_ONE, REST, "a slot that one master says is free is moved to")                    \
    BREAK(REBIND_WHILE_GRANTED, REST, "who has a minority moves")                                  \
    BREAK(HINT_TRIES, ORDER, "who follows a hint tries, and does not stand there")                 \
    BREAK(REBIND_NEW_TICKET, REST, "who moves draws a new ticket")                                 \
    BREAK(ONE_PLACE, ORDER, "who moves gives up its old place")                                    \
    BREAK(REGISTRY_PASSED, ORDER, "a try looks at the slot's own line only")                       \
    BREAK(HINT_LEAVES_EARLY, ORDER, "who follows a hint leaves its line at once")                  \
    BREAK(ENQUEUED_PASSES, ORDER,                                                                  \
          "a new place gets a free slot though somebody older waits elsewhere")

MODEL_ENUMS(QUESTION_TABLE, MUTANT_TABLE);

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
    uint8_t told;    /* the clients that heard that they have the slot here */
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

#endif
