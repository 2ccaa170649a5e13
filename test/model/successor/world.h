/*
 * Which list of masters clients follow, where two commands end the present one at the same time.
 * Each of them has a next list of its own, and these need not meet.
 */
#ifndef SUCCESSOR_WORLD_H
#define SUCCESSOR_WORLD_H

#include <stdbool.h>
#include <stdint.h>

#include "../questions.h"

enum { MASTERS = 7, COMMANDS = 3 };

/* Masters keep their ends; one loses its own; another one lies, too. */
#define QUESTION_TABLE(ASK) ASK(LED) ASK(LOST) ASK(LIED)

/* Each rule that is broken, with the question that finds it.  HARMLESS: another rule keeps it from
 * doing harm. */
#define MUTANT_TABLE(BREAK, HARMLESS)                                                              \
    BREAK(FOLLOWED_BY_HALF, LED, "a client follows what more masters tell than it can do without") \
    BREAK(FOLLOWED_UNLIKE, LED, "a quorum tells that the list is over, and one of them the next")  \
    BREAK(LAST_END_STAYS, LED, "a master takes a later end in place of the first one")             \
    BREAK(LOSSES_UNCOUNTED, LOST, "as many masters lose an end as a quorum can do without")        \
    BREAK(LIES_UNCOUNTED, LIED, "a quorum is a majority, whatever liars tell")

MODEL_ENUMS(QUESTION_TABLE, MUTANT_TABLE);

struct rules {
    enum question question;
    enum mutant mutant;
    int masters;
    int spare; /* votes; the first masters lie */
    int commands;
    int losses; /* of an end: a restart without data, or an end that was taken back */
};

enum wrong { FINE, TWO_FOLLOWED };

/* Sets of lists, by the command that has it. */
struct world {
    struct master {
        uint8_t end;  /* at most one */
        uint8_t told; /* at any time: a client may have heard it then */
    } master[MASTERS];
    uint8_t losses;
};

enum act { END, LOSE };

struct step {
    enum act act;
    int command, master;
    enum wrong wrong;
};

#endif
