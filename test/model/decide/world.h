/*
 * Which list of masters follows the present one: decided once, whoever asks.  A tool takes a lease
 * on the masters of the present list, reads what they keep, and writes it anew.  Each try of a tool
 * has a lease, and so a token and a fence, of its own, and prefers a list of its own.
 *
 *   master.c  has the lease, and obeys its owner alone
 *   tool.c    what a try reads, and what follows
 */
#ifndef DECIDE_WORLD_H
#define DECIDE_WORLD_H

#include <stdbool.h>
#include <stdint.h>

#include "../questions.h"

enum { MASTERS = 5, TRIES = 4 };

/* No master restarts; one does, without data; one does, and none knows anything. */
#define QUESTION_TABLE(ASK) ASK(DECIDED) ASK(FORGOTTEN) ASK(FOUNDED)

/* Each rule that is broken, with the question that finds it.  HARMLESS: another rule keeps it from
 * doing harm. */
#define MUTANT_TABLE(BREAK, HARMLESS)                                                              \
    BREAK(READ_FEWER, DECIDED, "one master less than a quorum is read")                            \
    BREAK(READ_UNOWNED, DECIDED, "a master is read without the lease")                             \
    BREAK(WRITTEN_UNOWNED, DECIDED, "a master is written to without the lease")                    \
    BREAK(WRITES_ITS_OWN, DECIDED, "a try writes its own list, whatever it has read")              \
    BREAK(WRITES_THE_FIRST, DECIDED, "it writes what it read first, and not the largest fence's")  \
    BREAK(FOLLOWED_ONE, DECIDED, "a client follows the word of one master")                        \
    BREAK(FOLLOWED_ANY_FENCE, DECIDED, "a client follows what several tries wrote to a quorum")    \
    BREAK(FORGETFUL_COUNT, FORGOTTEN,                                                              \
          "a master that has forgotten counts like one that knows nothing")                        \
    BREAK(FOUNDED_BY_QUORUM, FOUNDED, "a quorum that knows nothing is enough to begin")

MODEL_ENUMS(QUESTION_TABLE, MUTANT_TABLE);

struct rules {
    enum question question;
    enum mutant mutant;
    int masters;
    int tries;
    int restarts; /* of masters, without data */
};

/* The answer of a master to a try. */
enum said { UNREAD, FORGOT, KNEW };

enum wrong { FINE, TWO_FOLLOWED };

struct world {
    struct master {
        uint8_t owner; /* 1 + the try; 0: none */
        bool knows;    /* it has not forgotten */
        uint8_t fence; /* by which its list was written; 0: it has none */
        uint8_t list;
        uint8_t said[TRIES]; /* enum said */
        uint8_t written;     /* by these fences, in its life or before: a set */
    } master[MASTERS];
    struct
    try {
        uint8_t fence; /* 0: it has no quorum yet */
        uint8_t list;  /* of the largest fence that it read, or its own */
        uint8_t of;    /* that fence */
        bool writes;   /* it reads no more */
    }
    try[TRIES];
    uint8_t list_of[TRIES + 1]; /* by the fence of its try */
    uint8_t fences;
    uint8_t restarts;
};

enum act { TAKE, GIVE_UP, WIN, READ, DECIDE, WRITE, RESTART };

struct step {
    enum act act;
    int try, master;
    enum wrong wrong;
};

/* ---- master.c ------------------------------------------------------------------------------- */

bool master_is_of(const struct world *world, int i, int t);
void master_write(struct world *world, int i, int t);
void master_restart(struct world *world, int i);

/* ---- tool.c --------------------------------------------------------------------------------- */

bool tool_may_win(const struct rules *rules, const struct world *world, int t);
void tool_win(struct world *world, int t);
void tool_read(const struct rules *rules, struct world *world, int t, int i);
bool tool_may_decide(const struct rules *rules, const struct world *world, int t);
void tool_decide(const struct rules *rules, struct world *world, int t);
/* Clients may follow two lists. */
bool two_are_followed(const struct rules *rules, const struct world *world);

#endif
