/*
 * mutant.h - what the core is without one of its safety rules.
 *
 * The simulator's build (REDLOCK_MUTANTS) can break one rule at a time, and the
 * simulator must notice; in other builds MUTANT() is the constant 0.  Each mutant is
 * one expression at the line that keeps the rule.
 */
#ifndef REDLOCK_CORE_MUTANT_H
#define REDLOCK_CORE_MUTANT_H

#define MUTANTS(X)                                                                                 \
    X(QUORUM_HALF, "a quorum is N/2 masters")                                                      \
    X(QUORUM_WITHOUT_SPARE, "a quorum is a majority, even with spare votes")                       \
    X(NO_DRIFT, "validity does not allow for clocks that run apart")                               \
    X(DATED_FROM_REPLY, "a promise is dated from its reply, not from its request")                 \
    X(VALIDITY_UNCHECKED, "ACQUIRED is told however little validity is left")                      \
    X(TELL_UNCHECKED, "validity is checked when the round is won, not just before it is told")     \
    X(LATE_GRANT, "a renewal granted after LOST was told brings the lease back")                   \
    X(RESURRECT, "a renewal answered after the end counts, if the end was not noticed before")     \
    X(RENEWED_BY_MINORITY, "validity follows one master less than a quorum")                       \
    X(OTHER_TTL, "a promise counts with the lease's present ttl, not with that of the request")    \
    X(OLD_ROUND, "a reply to an earlier renewal counts for the present one")                       \
    X(MARGIN_IGNORED, "LOST is told when validity ends, without the margin")                       \
    X(LOST_LATE, "LOST is told after validity has ended")                                          \
    X(END_UNKNOWN, "LOST does not say since when the lease is over")                               \
    X(RELEASED_TOO_SOON, "a lost lease is released while its holder may be winding down")          \
    X(NO_ROLLBACK, "a lost round is not rolled back")                                              \
    X(RETRY_HOLDING, "a lost round is rolled back only after the next try")                        \
    X(RELEASE_OVERTAKES, "a release has a connection of its own, and overtakes the acquire")       \
    X(UNKNOWN_IS_REFUSED, "an acquire without an answer counts as refused")                        \
    X(OWED_DROPPED, "a release whose answer was lost is not repeated")                             \
    X(FORGOTTEN_OWED, "a detached lease is released if a renewal of it is answered late")          \
    X(NO_KILL, "former connections are not killed on the master")                                  \
    X(CLOSED_EARLY, "the client says it is closed while releases are owed")                        \
    X(TOKEN_REUSED, "every round of every acquire has the same token")                             \
    X(HEAL_LATE, "a renewal heals without a limit in the master's time")                           \
    X(HEAL_QUARANTINED, "a renewal heals on a master that abstains")                               \
    X(RESTART_IGNORED, "a restarted master's abstention is ignored")                               \
    X(QUARANTINE_SHORT, "a restarted master abstains for half the time")                           \
    X(SHORT_TERMS, "a master's quarantine was worked out with a shorter ttl than is in use")       \
    X(LONGEST_OF_ONE, "the longest ttl is taken from the word of one master")                      \
    X(RUN_ID_UNCHECKED, "hello does not notice that the run id has changed")                       \
    X(TOLD_TWICE, "an outcome is told twice")                                                      \
    X(WAIT_FOREVER, "an acquire goes on trying after its wait is over")                            \
    X(FENCE_UNSTORED, "a fence is shown without a second round")                                   \
    X(FENCE_EARLY, "a fence is shown when the second round is sent")                               \
    X(FENCE_BARE, "a fence is shown when one master less than a quorum has stored it")             \
    X(FENCE_UNFOUNDED, "a fence is shown though too few masters of its basis are left")            \
    X(GRANT_KEEPS_CLOCK, "a grant does not advance the master's clock")                            \
    X(RAISE_UNOWNED, "a master stores a fence for a token that it does not hold")                  \
    X(CLOCK_IF_ABSENT, "a restarted master's clock is seeded only where there is none")            \
    X(CLOCK_LOW, "a restarted master's clock goes on from its time")                               \
    X(PROPOSAL_UNCUT, "a proposal counts however far ahead it is")                                 \
    X(CLOCKS_CARRY, "a clock is believed if it is near the clocks that were believed before")      \
    X(TICKET_OF_ONE, "a ticket is the clock of one master")                                        \
    X(TICKET_MINIMUM, "a ticket is the smallest clock that was told")                              \
    X(NO_YIELD, "a waiter keeps a minority though another is ahead, or a holder has the rest")     \
    X(YIELD_UNPAUSED, "a waiter that must yield again and again asks again at once")               \
    X(CUT_OFF_STAYS, "a waiter that reaches no quorum stays enqueued, and keeps what it is given") \
    X(UNHEARD_GOES_ON, "a place is refreshed on masters that are not heard of")                    \
    X(PERIOD_CUT, "a lease is given back though nobody else is to have the names yet")             \
    X(PERIOD_UNDRIFTED, "the rest of at_least does not allow for clocks that run apart")           \
    X(PERIOD_FROM_ASKING, "at_least counts from when the lease was asked for")                     \
    X(SLOT_HINT_COUNTS, "a hint of a free slot counts as a grant")                                 \
    X(SLOT_BEYOND, "a lease is handed a slot beyond the permits that it knows of")                 \
    X(REGISTRY_PASSED, "a try takes a free slot past those that wait for other slots")             \
    X(ENQUEUED_PASSES, "a new place takes a free slot past those that have waited longer")         \
    X(REBIND_NEW_TICKET, "a further place draws a ticket of its own")                              \
    X(REBIND_SAME_TOKEN, "a further place has the token of the first one")                         \
    X(ONE_PLACE, "a waiter for a permit stands in no further queue")                               \
    X(PLACES_KEPT, "who has a slot stays in the queues of the others")                             \
    X(HANDED_ON_AND_ON, "a client hands its leases on in memory however long they are held")       \
    X(HANDED_WHOLE, "a claim that is handed on in memory is valid for longer than was asked for")  \
    X(PLACE_FOR_EVER, "a place is inherited by every later waiter of the same client")             \
    X(YIELD_SAME_TOKEN, "a waiter that yields is enqueued again with the same token")              \
    X(DATED_FROM_PUSH, "a handover is dated from the arrival of its push")                         \
    X(OLD_PUSH, "a push counts though the master has said something newer since")                  \
    X(PUSH_OF_ANOTHER, "a push counts from any process at the master's address")                   \
    X(ARRIVAL_ORDER, "masters order waiters by arrival, not by ticket")                            \
    X(ENQUEUE_KEEPS_CLOCK, "enqueuing a waiter does not advance the master's clock")               \
    X(DEAD_KEPT, "waiters that are not heard of are never passed over")                            \
    X(BARGING, "an acquire takes a free name past its waiters")                                    \
    X(READERS_BARGE, "readers take a name past its waiters")                                       \
    X(MARKER_OF_LAST, "the marker expires with the reader that came or renewed last")              \
    X(MARKER_FREED, "a release by a reader frees the name beside other readers")                   \
    X(SHARED_IN_MEMORY, "a shared claim is handed over in memory")                                 \
    X(UPGRADE_BESIDE, "an upgrade is granted beside other readers")                                \
    X(UPGRADE_QUARANTINED, "a master that abstains is asked for an upgrade")                       \
    X(UPGRADE_KEEPS_FENCE, "an upgraded lease keeps the fence that it had as a reader")            \
    X(UNMARKED, "a release by a token from elsewhere lets later renewals heal it")                 \
    X(HEALS_MARKED, "a renewal heals a token that another process has given back")                 \
    X(ASKING_DOES_NOT_DATE, "a request without an answer does not prolong what may be owed")       \
    X(TICKET_RENEWED, "a waiter that fails with a ticket draws a new one")                         \
    X(ANNOUNCE_UNOWNED, "a master says what a token announces that does not have the name")        \
    X(ANNOUNCED_PAST, "a lease announces after its validity has ended")                            \
    X(OBSERVE_MINORITY, "an observer is told what one master less than a quorum says")             \
    X(OBSERVE_QUARANTINED, "an observer counts what a master says that abstains")                  \
    X(BARRIER_OPEN_ON_ONE, "a party passes when one master says that the barrier is open")         \
    X(BARRIER_OF_OTHERS, "parties count for one that passes though masters count other ones")      \
    X(DEPARTED_UNASKED, "a party that leaves is told that it did not pass, before masters answer") \
    X(DEPARTED_FROM_FEWER, "one master less than a quorum is asked by a party that leaves")        \
    X(PARTY_QUARANTINED, "what a master that abstains says of a barrier or a latch counts")        \
    X(LATCH_OPEN_ON_ONE, "a latch is told to be open when one master knows that")                  \
    X(LATCH_OF_ONE, "what one master says of a latch counts")                                      \
    X(LATCH_CLEARS_YOUNG, "a latch is taken away that its maker may yet make")

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
