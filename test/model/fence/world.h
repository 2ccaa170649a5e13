/*
 * The fence rule alone: a few masters, of which some may lie, and a few attempts to take one name.
 * The rule, and every step of such a world, are in steps.c.
 */
#ifndef FENCE_WORLD_H
#define FENCE_WORLD_H

#include <stdbool.h>
#include <stdint.h>

#include "../questions.h"

enum { MASTERS = 5, MOST_ATTEMPTS = 3 };

/* Those with a liar are about N = 4 and f = 1. */
#define QUESTION_TABLE(ASK) ASK(FREE) ASK(LEASED) ASK(FREE_LIAR) ASK(LEASED_LIAR)

/* Each rule that is broken, with a question that finds it. */
#define MUTANT_TABLE(BREAK, HARMLESS)                                                              \
    BREAK(SECOND_ROUND_SKIPPED, FREE, "the fence is shown, and raised nowhere")                    \
    BREAK(STORED_BY_FEWER, FREE, "one master less than a quorum is at the fence")                  \
    BREAK(SHOWN_BEFORE_STORED, FREE, "the fence is shown while raises are sent")                   \
    BREAK(FENCE_MINIMUM, FREE, "the fence is the smallest grant heard")                            \
    BREAK(FENCE_MAXIMUM, FREE, "the fence is the largest grant heard, raised nowhere")             \
    BREAK(FENCE_STORED_ALREADY, FREE,                                                              \
          "the fence is the largest that a quorum of those heard reaches")                         \
    BREAK(LARGEST_LEFT_OUT, LEASED_LIAR,                                                           \
          "as many of the largest grants as may be lies are left out")                             \
    BREAK(SMALLEST_LEFT_OUT, FREE_LIAR, "the fence is the smallest grant that cannot be a lie")    \
    BREAK(QUORUM_WITHOUT_SPARE, LEASED_LIAR, "a quorum is a plain majority")                       \
    BREAK(ONE_MORE_LIAR, FREE_LIAR, "one master more lies than two quorums tolerate")              \
    BREAK(NO_INCREMENT, LEASED, "a grant sets clock := max(clock, proposal)")                      \
    BREAK(NO_OWNER_CHECK, LEASED, "a raise does not ask who owns the name")                        \
    BREAK(GRANTED_THOUGH_TAKEN, LEASED, "a name that has an owner is granted")                     \
    BREAK(SEEDED_WHEN_ABSENT, FREE, "a clock rolled back by a restart is kept")                    \
    BREAK(RESTARTED_LOWER, FREE, "a restarted clock begins just below q + W")                      \
    BREAK(QUARANTINE_SHORT, LEASED, "a restarted master grants while an older lease may live")

MODEL_ENUMS(QUESTION_TABLE, MUTANT_TABLE);

struct rules {
    enum question question;
    enum mutant mutant;
    int masters;
    int spare; /* spare votes; this many of the masters lie, the last ones */
    int attempts;
    int restarts;
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

enum wrong { FINE, NOT_ABOVE };

struct step {
    enum act act;
    int attempt;
    int master;
    int heard; /* CHOOSE: a set of masters */
    enum wrong wrong;
};

static inline bool is_leased(const struct rules *rules)
{
    return rules->question == LEASED || rules->question == LEASED_LIAR;
}

/* The number of honest masters, which are the first ones. */
int fence_honest(const struct rules *rules);

#endif
