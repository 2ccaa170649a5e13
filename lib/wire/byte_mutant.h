/*
 * byte_mutant.h - a connection without one of the rules by which it turns requests into bytes, and
 * bytes into answers.
 *
 * Like lib/core/ground/mutant.h: the simulator over bytes (REDLOCK_MUTANTS) can break one rule at a
 * time, and must notice; everywhere else BYTE_MUTANT() is the constant false.
 */
#ifndef REDLOCK_WIRE_BYTE_MUTANT_H
#define REDLOCK_WIRE_BYTE_MUTANT_H

#define BYTE_MUTANTS(X)                                                                            \
    X(NAME_CUT, "a name is written a byte short, and announced so")                                \
    X(HEAL_UNSAID, "a renewal that may heal is written as one that may not")                       \
    X(MARK_UNSAID, "a release that keeps renewals from healing is written as any other")           \
    X(EACH_BY_FIRST, "renewals that share a command are all written with the first token")         \
    X(ANSWERS_REVERSED, "the last answer of a batch is that of its first request")                 \
    X(REFUSAL_BELIEVED, "an error that refuses a batch is the answer of each of its requests")     \
    X(REFUSED_ALONE, "a batch that is refused answers its first request only")                     \
    X(BATCH_OF_KINDS, "requests of another kind go in the same batch")                             \
    X(SENT_AGAIN, "what was written in part is written again from its start")                      \
    X(REST_UNWATCHED, "the loop is not asked when the rest can be written")                        \
    X(PASSED_OVER, "a reply that the request cannot have is passed over")                          \
    X(UNWRITTEN_ANSWERED, "a reply answers a request that is not written yet")                     \
    X(LEFT_IN_BUFFER, "what a connection could not write goes on the next one")                    \
    X(LOGIN_FORGOTTEN, "the error of a hello is told, not that of the login before it")            \
    X(ANY_CHANNEL, "a push counts whatever channel it is on")

enum byte_mutant {
    BYTE_MUTANT_NONE,
#define BYTE_MUTANT_ENUM(name, text) BYTE_MUTANT_##name,
    BYTE_MUTANTS(BYTE_MUTANT_ENUM)
#undef BYTE_MUTANT_ENUM
        BYTE_MUTANT_COUNT
};

#ifdef REDLOCK_MUTANTS
extern enum byte_mutant byte_mutant_present;
#define BYTE_MUTANT(name) (byte_mutant_present == BYTE_MUTANT_##name)
#else
#define BYTE_MUTANT(name) 0
#endif

#endif
