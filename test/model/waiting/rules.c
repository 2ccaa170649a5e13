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
        {.masters = 3, .waiters = 2, .life = 2, .ttl = 3, .restarts = 1, .late = 2, .rounds = true},
    [PROGRESS] = {.masters = 3, .waiters = 3, .life = 2, .ttl = 2, .cuts = 4, .rounds = true},
    [ORDER] =
        {.masters = 3, .waiters = 2, .life = 1, .ttl = 1, .late = 2, .clocks = 6, .rounds = true},
    [FENCES] =
        {.masters = 3, .waiters = 2, .life = 2, .ttl = 2, .late = 3, .clocks = 5, .rounds = true},
};

const struct mutant_text mutant_texts[MUTANTS] = {
    [NONE] = {"none", "the rules as they are", QUESTIONS},
    [PUSH_OF_ANOTHER_PROCESS] = {"push-of-another-process",
                                 "a push counts, whichever process of the master it is from",
                                 EXCLUSION},
    [PUSH_DATED_FROM_ARRIVAL] = {"push-dated-from-arrival",
                                 "what a push gives is dated from its arrival", EXCLUSION},
    [OLD_PUSH_COUNTS] = {"old-push-counts", "a push counts though the master has said more since",
                         EXCLUSION},
    [ANSWER_DATED_FROM_ARRIVAL] = {"answer-dated-from-arrival",
                                   "a promise is dated from the answer, not from its request",
                                   EXCLUSION},
    [EXPIRED_COUNTS] = {"expired-counts", "what is over counts until it is taken back", EXCLUSION},
    [QUARANTINE_IGNORED] = {"quarantine-ignored", "what a master that abstains gives counts",
                            EXCLUSION},
    [QUARANTINE_SHORT] = {"quarantine-short", "a master abstains for a tick less than a ttl",
                          EXCLUSION},
    [YIELD_SAME_TOKEN] = {"yield-same-token", "who yields stands in line with the same token",
                          EXCLUSION},
    [MINORITY_COUNTS] = {"minority-counts", "one master less than a quorum is enough", EXCLUSION},
    [HANDED_OVER_SHORTER] = {"handed-over-shorter",
                             "what is handed over is kept for a tick less than the waiter lives",
                             EXCLUSION},
    [HANDED_OVER_THOUGH_TAKEN] = {"handed-over-though-taken",
                                  "a release gives away what somebody else has", EXCLUSION},
    [NO_YIELD] = {"no-yield", "a minority is kept though somebody is ahead", PROGRESS},
    [MINORITY_KEPT_WHEN_CUT] = {"minority-kept-when-cut",
                                "who can reach a minority only stands in line there, and keeps it",
                                PROGRESS},
    [ARRIVAL_ORDER] = {"arrival-order", "masters keep the order of arrival, not of tickets", ORDER},
    [TICKET_OF_ONE] = {"ticket-of-one", "a ticket is what one master said", ORDER},
    [TICKET_MINIMUM] = {"ticket-minimum", "a ticket is the smallest clock that was told", ORDER},
    [STANDING_MOVES_NO_CLOCK] = {"standing-moves-no-clock",
                                 "standing in line does not move the clock on", ORDER},
    [BARGING] = {"barging", "who asks first takes what is free, whoever stands in line", ORDER},
    [FENCE_ON_LATER_GRANT] = {"fence-on-later-grant",
                              "any quorum of grants completes the lease, also later ones", FENCES},
    [FENCE_UNSTORED] = {"fence-unstored", "the fence is told before it is stored", FENCES},
    [FENCE_MINIMUM] = {"fence-minimum", "the fence is the smallest grant", FENCES},
};

struct rules rules_for(enum question question, enum mutant mutant)
{
    struct rules rules = worlds[question];
    rules.question = question;
    rules.mutant = mutant;
    if (mutant == NO_YIELD) {
        rules.waiters = 2;
        rules.down = 1;
        rules.rounds = false;
    }
    return rules;
}
