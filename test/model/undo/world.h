/*
 * Lists of masters A, B and C.  A tool leads from A to B and on to C, others take back the end of
 * A by what they saw.  A and C need not meet.
 */
#ifndef UNDO_WORLD_H
#define UNDO_WORLD_H

#include <stdbool.h>
#include <stdint.h>

#include "../questions.h"

enum { MASTERS = 7 };

/* B has a master more than A, or one less; one lies. */
#define QUESTION_TABLE(ASK) ASK(ADDED) ASK(REMOVED) ASK(LIED)

/* Each rule that is broken, with the question that finds it.  HARMLESS: another rule keeps it from
 * doing harm. */
#define MUTANT_TABLE(BREAK, HARMLESS)                                                              \
    BREAK(UNCOMPARED, ADDED, "a master takes the end of A back though an end there has changed")   \
    BREAK(B_LOOKED_AT_FIRST, ADDED, "an undo looks at the masters of B before those of A")         \
    BREAK(SENT_TO_TAKEN, LIED, "an undo asks a master, too, that told it that B is over for C")    \
    BREAK(SENT_TO_UNHEARD, ADDED, "an undo asks a master of B, too, that has not told it of B")    \
    HARMLESS(FREE_UNCOUNTED, LIED, "an undo goes on however many tell that B is over for C")       \
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
    BREAK(LIES_UNCOUNTED, LIED, "a quorum is a majority, whatever liars tell")

MODEL_ENUMS(QUESTION_TABLE, MUTANT_TABLE);

struct rules {
    enum question question;
    enum mutant mutant;
    int both, former, later; /* masters of A and B, of A alone, of B alone */
    int spare;               /* votes; as many masters lie */
    int others;              /* tools that lead to another list D, from A or from B */
};

enum wrong { FINE, BOTH_USED };

enum { UNHEARD, HEARD_FREE, HEARD_TAKEN };

enum { LIST_A = 1, LIST_B, LIST_C, LIST_D };

struct world {
    struct master {
        bool in_a, in_b, lies;
        uint8_t next_of_a, next_of_b; /* the list is over, and that one follows; 0: it is not */
        bool told_a, told_b;          /* the tool has heard that it is over */
        bool told_a_after_b;          /* in a look that began after it told B */
        bool says_a;                  /* a client has its word for A */
        bool seen;                    /* the undo knows its number, which is still the same */
        bool pending;  /* and so does a request of an undo to take the end of A back */
        uint8_t heard; /* by the undo, in a look that began when it had the numbers */
    } master[MASTERS];
    bool c_is_used;
};

enum act {
    END_A,
    END_B,
    LOOK_A,
    LOOK_B,
    TAKE_BACK_A,
    TAKE_BACK_B,
    SAY_A,
    UNSAY_A,
    USE_C,
    SEND,
    ANEW
};

struct step {
    enum act act;
    int master, next;
    enum wrong wrong;
};

#endif
