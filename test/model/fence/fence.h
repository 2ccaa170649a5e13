/*
 * The fence rule alone, as a world of a few masters, of which some may lie, and a few attempts to
 * take one name, and every step that such a world can take.  fence.c says what the rule is.
 */
#ifndef MODEL_FENCE_H
#define MODEL_FENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "../search.h"

enum { MASTERS = 5, MOST_ATTEMPTS = 3 };

enum mutant {
    NONE,
    SECOND_ROUND_SKIPPED,
    STORED_BY_FEWER,
    SHOWN_BEFORE_STORED,
    FENCE_MINIMUM,
    FENCE_MAXIMUM,
    FENCE_STORED_ALREADY,
    LARGEST_LEFT_OUT,
    SMALLEST_LEFT_OUT,
    QUORUM_WITHOUT_SPARE,
    ONE_MORE_LIAR,
    NO_INCREMENT,
    NO_OWNER_CHECK,
    GRANTED_THOUGH_TAKEN,
    SEEDED_WHEN_ABSENT,
    RESTARTED_LOWER,
    QUARANTINE_SHORT,
    MUTANTS
};

struct rules {
    int masters;
    int spare; /* spare votes; this many of the masters lie, the last ones */
    int attempts;
    int restarts;
    bool leased;
    enum mutant mutant;
};

/* A message between an attempt and a master, or its result. */
enum link {
    SETTLED, /* nothing on its way, nothing to count on */
    ASKED,   /* the grant is on its way; once there is a fence, the raise is behind it */
    RAISING, /* the raise is on its way */
    STORED,  /* the master answered that its clock is at the fence, or above */
    GRANTED  /* + the clock that it granted with */
};

enum phase { UNSENT, OPEN, SHOWN, OVER };

/* A liar has no clock and no owner: it answers anything. */
struct world {
    struct master {
        uint8_t clock;
        uint8_t owner;  /* 0: the name is free; else 1 + the attempt */
        uint8_t awaits; /* restarted: abstains while any of these attempts is open */
        uint8_t link[MOST_ATTEMPTS];
    } master[MASTERS];
    struct attempt {
        uint8_t phase;
        uint8_t fence; /* 0: none chosen */
        uint8_t floor; /* the highest fence shown before the first request */
    } attempt[MOST_ATTEMPTS];
    uint8_t top; /* the highest fence shown */
    uint8_t restarts;
};

/* Steps of attempts, then steps of masters. */
enum act {
    ASK,
    CHOOSE,
    SHOW,
    END,
    LAST_OF_ATTEMPT = END,
    GRANT,
    REFUSE,
    RAISE,
    REFUSE_RAISE,
    LIE,
    VANISH,
    RESTART
};

struct step {
    enum act act;
    int attempt;
    int master;
    int heard;  /* CHOOSE: a set of masters */
    bool wrong; /* the fence shown is not above those before it */
};

enum { FENCE_WORDS = 3 };

/* The number of honest masters, which are the first ones. */
int fence_honest(const struct rules *rules);

const char *fence_mutant_name(enum mutant mutant);
const char *fence_mutant_text(enum mutant mutant);
/* How many masters it takes to matter, and spare votes. */
void fence_mutant_setting(enum mutant mutant, int *masters, int *spare);

#endif
