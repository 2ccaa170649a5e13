/*
 * Lists of masters A, B and C.  A tool leads from A to B and on to C, others take back the end of
 * A.  A and C need not meet.
 */
#ifndef UNDO_WORLD_H
#define UNDO_WORLD_H

#include <stdbool.h>
#include <stdint.h>

#include "../questions.h"

enum { MASTERS = 7 };

/* B has a master more than A, or one less; one lies; there is a way on to A or C. */
#define QUESTION_TABLE(ASK) ASK(ADDED) ASK(REMOVED) ASK(LIED) ASK(PROGRESS)

/* Each rule that is broken, with the question that finds it.  HARMLESS: another rule keeps it from
 * doing harm. */
#define MUTANT_TABLE(BREAK, HARMLESS)                                                              \
    BREAK(CHAIN_TAKEN_BACK, ADDED, "a master takes back the end of A though B is over for C")      \
    BREAK(MIDDLE_TAKEN_BACK, ADDED, "a tool takes the end of B for C back")                        \
    BREAK(NO_LOOK_BACK, ADDED, "C is used once B is over")                                         \
    BREAK(LOOKED_BACK_BEFORE, ADDED, "a master may tell that A is over before it tells that B is") \
    BREAK(LOOKED_BACK_APART, ADDED, "some masters tell that B is over, and others that A is")      \
    BREAK(SAID_UNHEEDED, ADDED, "a master counts to which a client says A")                        \
    BREAK(ANY_END_OF_A, ADDED, "an end of A for another list than B counts")                       \
    BREAK(ANY_END_OF_B, ADDED, "an end of B for another list than C counts")                       \
    BREAK(LAST_END_STAYS, ADDED, "a master takes a later end in place of the first one")           \
    HARMLESS(ENOUGH_OF_HALF, ADDED, "B is over once more masters tell it than it can do without")  \
    BREAK(BOTH_BY_ONE_LESS, ADDED, "one master less of A counts than is in each of its quorums")   \
    BREAK(LIES_UNCOUNTED, LIED, "a quorum is a majority, whatever liars tell")                     \
    BREAK(UNDO_REFUSED, PROGRESS, "a master keeps the end of A whatever list follows B")

MODEL_ENUMS(QUESTION_TABLE, MUTANT_TABLE);

struct rules {
    enum question question;
    enum mutant mutant;
    int both, former, later; /* masters of A and B, of A alone, of B alone */
    int spare;               /* votes; as many masters lie */
    int others;              /* tools that lead to another list D, from A or from B */
};

enum wrong { FINE, BOTH_USED };

enum { LIST_A = 1, LIST_B, LIST_C, LIST_D };

struct world {
    struct master {
        bool in_a, in_b, lies;
        uint8_t next_of_a, next_of_b; /* the list is over, and that one follows; 0: it is not */
        bool told_a, told_b;          /* the tool has heard that it is over */
        bool told_a_after_b;          /* in a look that began after it told B */
        bool says_a;                  /* a client has its word for A */
    } master[MASTERS];
    bool c_is_used;
};

enum act { END_A, END_B, TAKE_BACK_A, TAKE_BACK_B, SAY_A, UNSAY_A, USE_C };

struct step {
    enum act act;
    int master, next;
    bool honest;
    enum wrong wrong;
};

#endif
