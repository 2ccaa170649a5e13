/*
 * The questions, with what is looked at for each, and the rules broken one at a time.
 */
#include "world.h"

const char *const question_names[QUESTIONS] = {[BACKING] = "backing",
                                               [EXCLUSION] = "exclusion",
                                               [PROGRESS] = "progress",
                                               [ORDER] = "order",
                                               [FENCES] = "fences"};

static const struct rules worlds[QUESTIONS] = {
    [BACKING] =
        {.masters = 1, .waiters = 2, .life = 2, .ttl = 2, .restarts = 1, .late = ANY_NUMBER},
    [EXCLUSION] =
        {.masters = 3, .waiters = 2, .life = 2, .ttl = 2, .restarts = 1, .late = 2, .rounds = true},
    [PROGRESS] = {.masters = 3, .waiters = 3, .life = 2, .ttl = 2, .cuts = 2, .rounds = true},
    [ORDER] =
        {.masters = 3, .waiters = 2, .life = 1, .ttl = 1, .late = 1, .clocks = 6, .rounds = true},
    [FENCES] =
        {.masters = 3, .waiters = 2, .life = 2, .ttl = 2, .late = 3, .clocks = 5, .rounds = true},
};

const struct mutant_text mutant_texts[MUTANTS] = {
    [NONE] = {"none", "the rules as they are", QUESTIONS, false},
    [PUSH_OF_ANOTHER_PROCESS] = {"push-of-another-process",
                                 "a push counts, whichever process of the master it is from",
                                 EXCLUSION, false},
    [PUSH_DATED_FROM_ARRIVAL] = {"push-dated-from-arrival",
                                 "what a push gives is dated from its arrival", EXCLUSION, false},
    [PUSH_DATED_FROM_LAST_REQUEST] =
        {"push-dated-from-request",
         "what a push gives is dated from the last refresh, answered or not", EXCLUSION, false},
    [OLD_PUSH_COUNTS] = {"old-push-counts", "a push counts though the master has said more since",
                         EXCLUSION, false},
    [ANSWER_DATED_FROM_ARRIVAL] = {"answer-dated-from-arrival",
                                   "a promise is dated from the answer, not from its request",
                                   EXCLUSION, false},
    [EXPIRED_COUNTS] = {"expired-counts", "an expired grant counts until it is taken back",
                        EXCLUSION, false},
    [QUARANTINE_IGNORED] = {"quarantine-ignored", "a grant of a master that abstains counts",
                            EXCLUSION, false},
    [QUARANTINE_SHORT] = {"quarantine-short", "a master abstains for a tick less than a ttl",
                          EXCLUSION, false},
    [YIELD_SAME_TOKEN] = {"yield-same-token",
                          "a waiter that yields is enqueued with the same token", EXCLUSION, false},
    [MINORITY_COUNTS] = {"minority-counts", "one master less than a quorum is enough", EXCLUSION,
                         false},
    [HANDED_OVER_SHORTER] =
        {"handed-over-shorter",
         "a name that is handed over is kept for a tick less than the waiter lives", EXCLUSION,
         false},
    [HANDED_OVER_THOUGH_TAKEN] = {"handed-over-though-taken",
                                  "a release gives away a name that another token has", EXCLUSION,
                                  false},
    [NO_YIELD] = {"no-yield", "a minority is kept though another waiter is ahead", PROGRESS, false},
    [MINORITY_KEPT_WHEN_CUT] =
        {"minority-kept-when-cut",
         "a waiter that reaches only a minority is enqueued there, and keeps it", PROGRESS, false},
    [ARRIVAL_ORDER] = {"arrival-order", "masters keep the order of arrival, not of tickets", ORDER,
                       false},
    [TICKET_OF_ONE] = {"ticket-of-one", "a ticket is the clock of one master", ORDER, false},
    [TICKET_MINIMUM] = {"ticket-minimum", "a ticket is the smallest clock that was told", ORDER,
                        false},
    [ENQUEUING_MOVES_NO_CLOCK] = {"enqueuing-moves-no-clock",
                                  "enqueuing does not advance the clock", ORDER, false},
    [BARGING] = {"barging", "a free name goes to the first that asks, past all waiters", ORDER,
                 false},
    [FENCE_ON_LATER_GRANT] = {"fence-on-later-grant",
                              "any quorum of grants completes the lease, also later ones", FENCES,
                              false},
    [FENCE_UNSTORED] = {"fence-unstored", "the fence is told before it is stored", FENCES, false},
    [FENCE_MINIMUM] = {"fence-minimum", "the fence is the smallest grant", FENCES, false},
    [KEPT_THOUGH_QUEUED] = {"kept-though-queued",
                            "a promise stays though the master says that the name is not ours",
                            BACKING, true},
    [REFRESH_OF_ANOTHER_PROCESS] = {"refresh-of-another-process",
                                    "a push is dated from a refresh of the process before", BACKING,
                                    true},
};

/* A waiter that keeps a minority blocks others where the rest is no quorum. */
struct rules rules_for(enum question question, enum mutant mutant)
{
    struct rules rules = worlds[question];
    rules.question = question;
    rules.mutant = mutant;
    if (mutant == NO_YIELD || mutant == MINORITY_KEPT_WHEN_CUT) {
        rules.waiters = 2;
        rules.down = 1;
        rules.cuts = mutant == MINORITY_KEPT_WHEN_CUT;
        rules.rounds = mutant == MINORITY_KEPT_WHEN_CUT;
    }
    return rules;
}
