/*
 * client_mutant.h - the client room without one of the rules that it keeps.
 *
 * Like lib/core/ground/mutant.h: the simulator's build (REDLOCK_MUTANTS) can break one rule at a
 * time, and the simulator must notice; everywhere else CLIENT_MUTANT() is the constant false.
 */
#ifndef REDLOCK_CLIENT_MUTANT_H
#define REDLOCK_CLIENT_MUTANT_H

#define CLIENT_MUTANTS(X)                                                                          \
    X(CLOSED_FIRST, "the client is told that it is closed before the outcomes that are left")      \
    X(WRITTEN_LATE, "what was sent is written when the pump begins, not when it ends")             \
    X(FREED_IS_TOLD, "a lease that was freed in a callback is told what is left")                  \
    X(CANCELLED_IS_TOLD, "a lease is told that it is acquired after its release was asked for")    \
    X(FREED_GOES_ON, "a client that was freed in a callback goes on with its callbacks")           \
    X(MARGIN_LEFT_OUT, "a margin that is left to the library is none")                             \
    X(REASONS_LEFT_OUT, "an outcome's text does not say why masters did not vote")                 \
    X(REASONS_EMPTY, "a master that is not connected, for no reason that is known, has none")      \
    X(TEXT_OF_THE_LAST, "an outcome has the text of the one before")                               \
    X(CALLS_IN_ORDER, "calls are carried out as they came: releases do not go together")           \
    X(WRITTEN_AT_ONCE, "each request is written by itself")                                        \
    X(JUDGED_BY_AN_OLD_LOOK, "replies are judged by the clock as it was before they were read")    \
    X(HEARD_BY_AN_OLD_LOOK, "the same for what comes on a notification connection")                \
    X(TOLD_BY_AN_OLD_LOOK, "an outcome is told without a look at the clock")                       \
    X(END_UNTOLD, "the core is not told that a notification connection has ended")                 \
    X(FLOOD_HEARD, "a master may send as many notifications as it likes")                          \
    X(LEFT_UNWRITTEN, "renewals of a lease are written after it was detached")                     \
    X(DOWNGRADE_LATE, "a lease says that it is shared only when a quorum has heard of it")

enum client_mutant {
    CLIENT_MUTANT_NONE,
#define CLIENT_MUTANT_ENUM(name, text) CLIENT_MUTANT_##name,
    CLIENT_MUTANTS(CLIENT_MUTANT_ENUM)
#undef CLIENT_MUTANT_ENUM
        CLIENT_MUTANT_COUNT
};

#ifdef REDLOCK_MUTANTS
extern enum client_mutant client_mutant_present;
#define CLIENT_MUTANT(name) (client_mutant_present == CLIENT_MUTANT_##name)
/* Leases with calls that the pump carries out in a turn: the simulator's users make few calls. */
extern unsigned client_calls_a_turn; /* 0: as many as elsewhere */
#define CLIENT_CALLS_A_TURN(most) (client_calls_a_turn ? client_calls_a_turn : (most))
#else
#define CLIENT_MUTANT(name)       0
#define CLIENT_CALLS_A_TURN(most) (most)
#endif

#endif
