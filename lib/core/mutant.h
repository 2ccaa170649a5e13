/*
 * mutant.h - what the core is without one of its safety rules.
 *
 * The simulator's build (REDLOCK_MUTANTS) can break one rule at a time and must
 * notice; everywhere else MUTANT() is the constant false.  Each seam is one
 * expression at the line that keeps the rule.
 */
#ifndef REDLOCK_CORE_MUTANT_H
#define REDLOCK_CORE_MUTANT_H

#define MUTANTS(X)                                                                                 \
    X(QUORUM_HALF, "a quorum is N/2 masters")                                                      \
    X(NO_DRIFT, "validity does not allow for clocks that run apart")                               \
    X(DATED_FROM_REPLY, "a promise is dated from its reply, not from its request")                 \
    X(VALIDITY_UNCHECKED, "ACQUIRED is told however little validity is left")                      \
    X(TELL_UNCHECKED, "validity is checked when the round is won, not just before it is told")     \
    X(LATE_GRANT, "a renewal granted after LOST was told brings the lease back")                   \
    X(RESURRECT, "a renewal answered after the end, before anybody noticed it, counts")            \
    X(RENEWED_BY_MINORITY, "validity follows one master less than a quorum")                       \
    X(OTHER_TTL, "a promise is counted with the lease's present ttl, not with that asked for")     \
    X(OLD_ROUND, "a reply to an earlier renewal counts for the present one")                       \
    X(MARGIN_IGNORED, "LOST is told when validity ends, without the margin")                       \
    X(LOST_LATE, "LOST is told after validity has ended")                                          \
    X(RELEASED_TOO_SOON, "a lost lease is released while its holder may be winding down")          \
    X(NO_ROLLBACK, "a lost round is not rolled back")                                              \
    X(RETRY_HOLDING, "a lost round is rolled back only after the next try")                        \
    X(RELEASE_OVERTAKES, "a release goes by a connection of its own, past the acquire")            \
    X(UNKNOWN_IS_REFUSED, "an acquire without an answer counts as refused")                        \
    X(OWED_DROPPED, "a release whose answer was lost is not repeated")                             \
    X(NO_KILL, "former connections are not killed on the master")                                  \
    X(CLOSED_EARLY, "the client says it is closed while releases are owed")                        \
    X(TOKEN_REUSED, "every round of every acquire has the same token")                             \
    X(HEAL_LATE, "a renewal heals without a limit in the master's time")                           \
    X(HEAL_QUARANTINED, "a renewal heals on a master that abstains")                               \
    X(RESTART_IGNORED, "a restarted master's abstention is ignored")                               \
    X(QUARANTINE_SHORT, "a restarted master abstains for half the time")                           \
    X(SHORT_TERMS, "a master's quarantine was worked out with a shorter ttl than is in use")       \
    X(LONGEST_OF_ONE, "one master's word of a long ttl is believed")                               \
    X(RUN_ID_UNCHECKED, "hello does not notice that the run id has changed")                       \
    X(TOLD_TWICE, "an outcome is told twice")                                                      \
    X(WAIT_FOREVER, "an acquire goes on trying after its wait is over")                            \
    X(FENCE_UNSTORED, "a fence is shown without a second round")                                   \
    X(FENCE_EARLY, "a fence is shown when the second round is sent")                               \
    X(FENCE_BARE, "a fence is shown when one master less than a quorum has stored it")             \
    X(FENCE_MINIMUM, "the fence is the smallest grant")                                            \
    X(FENCE_QUANTILE, "the fence is the grant below the quorum-th smallest")                       \
    X(FENCE_UNFOUNDED, "a fence is shown though its grants are gone, for later ones")              \
    X(GRANT_STANDS, "a grant does not move the master's clock on")                                 \
    X(RAISE_UNOWNED, "a master stores a fence for a token that it does not hold")                  \
    X(CLOCK_IF_ABSENT, "a restarted master's clock is seeded only where there is none")            \
    X(CLOCK_LOW, "a restarted master's clock goes on from its time")                               \
    X(PROPOSAL_UNCUT, "a proposal counts however far ahead it is")                                 \
    X(CLOCKS_CARRY, "a clock is believed by how far it is ahead of those believed before")         \
    X(TICKET_OF_ONE, "a ticket is what one master said")                                           \
    X(TICKET_MINIMUM, "a ticket is the smallest clock that was told")                              \
    X(NO_YIELD, "a waiter with a minority keeps it, whoever is ahead or has the rest")             \
    X(YIELD_UNPAUSED, "who is made to yield again and again asks again at once")                   \
    X(CUT_OFF_STAYS, "who reaches no quorum stands in line, and keeps what it is given")           \
    X(UNHEARD_GOES_ON, "a place in line is prolonged on masters that are not heard of")            \
    X(HANDED_ON_AND_ON, "a client hands on its leases in memory however long they are held")       \
    X(PLACE_FOR_EVER, "a place in line is used by all who come later in the same client")          \
    X(YIELD_SAME_TOKEN, "who yields stands in line again with the same token")                     \
    X(DATED_FROM_PUSH, "what was given is dated from the push's arrival")                          \
    X(OLD_PUSH, "a push counts though it is older than what the master said since")                \
    X(PUSH_OF_ANOTHER, "a push counts whichever process of the master it comes from")              \
    X(ARRIVAL_ORDER, "masters keep the order of arrival, not of tickets")                          \
    X(ENQUEUE_STANDS, "standing in line does not move the master's clock on")                      \
    X(DEAD_KEPT, "waiters that are not heard of are never passed over")                            \
    X(BARGING, "an acquire takes what is free, whoever stands in line")                            \
    X(ASKING_DOES_NOT_DATE, "what was asked and not answered cannot last")                         \
    X(TICKET_RENEWED, "who fails with a ticket takes a new one")

enum mutant {
    MUTANT_NONE,
#define MUTANT_ENUM(name, text) MUTANT_##name,
    MUTANTS(MUTANT_ENUM)
#undef MUTANT_ENUM
        MUTANT_COUNT
};

#ifdef REDLOCK_MUTANTS
extern enum mutant mutant_present;
#define MUTANT(name) (mutant_present == MUTANT_##name)
#else
#define MUTANT(name) 0
#endif

#endif
