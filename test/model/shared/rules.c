/*
 * The questions, with what is looked at for each, and the rules broken one at a time.
 */
#include "world.h"

const char *const question_names[QUESTIONS] = {[BACKING] = "backing",
                                               [CRASH] = "crash",
                                               [EXCLUSION] = "exclusion",
                                               [ORDER] = "order",
                                               [PROGRESS] = "progress"};

static const struct rules worlds[QUESTIONS] = {
    [BACKING] = {.masters = 1, .clients = 2, .ttl = 2, .late = 2, .changes = 2},
    [CRASH] = {.masters = 1, .clients = 2, .ttl = 2, .restarts = 1, .late = 1, .changes = 2},
    [EXCLUSION] = {.masters = 3, .clients = 2, .ttl = 2, .late = 2, .changes = 2},
    [ORDER] = {.masters = 3, .clients = 3, .ttl = 1, .late = 3, .clocks = 6},
    [PROGRESS] = {.masters = 3, .clients = 3, .ttl = 1, .late = 2, .changes = 2},
};

const struct mutant_text mutant_texts[MUTANTS] = {
    [NONE] = {"none", "the rules as they are", QUESTIONS, false},
    [EXPIRED_READER_COUNTS] = {"expired-reader-counts",
                               "R1: a reader is there though its score is over", CRASH, false},
    [SET_NOT_DELETED] = {"set-not-deleted",
                         "R2: who makes the marker keeps the readers of an earlier one", BACKING,
                         false},
    [READERS_OWN_TTL] = {"readers-own-ttl", "R3: the marker gets the ttl of the last who asked",
                         BACKING, false},
    [MARKER_DELETED] = {"marker-deleted", "R3: a release deletes the marker beside other readers",
                        BACKING, false},
    [MARKER_LEFT] = {"marker-left", "R3: the release of the last reader leaves the marker",
                     PROGRESS, false},
    [READER_ON_FEWER] = {"reader-on-fewer", "R4: a reader needs one master less than a quorum",
                         EXCLUSION, false},
    [JOINS_WRITER] = {"joins-writer", "R5: a reader is let in where a writer is", BACKING, false},
    [TAKES_FROM_READERS] = {"takes-from-readers", "R5: a writer is let in where readers are",
                            BACKING, false},
    [RENEWAL_CONVERTS] = {"renewal-converts", "R6: each renewal of a reader converts", BACKING,
                          false},
    [HEALS_OVER] = {"heals-over", "R6: a renewal takes the name from somebody else", BACKING,
                    false},
    [TAKEN_IN_QUARANTINE] = {"taken-in-quarantine", "R7: a master that abstains lets in", CRASH,
                             false},
    [HEALED_IN_QUARANTINE] = {"healed-in-quarantine", "R7: a master that abstains heals", CRASH,
                              false},
    [JOINED_IN_QUARANTINE] = {"joined-in-quarantine",
                              "R7: a reader joins a marker on a master that abstains", CRASH,
                              false},
    [UPGRADED_IN_QUARANTINE] = {"upgraded-in-quarantine",
                                "R7: a master that abstains upgrades its only reader", CRASH,
                                false},
    [TOKEN_UPGRADED_IN_QUARANTINE] = {"token-upgraded-in-quarantine",
                                      "R7: a master that abstains says yes to an upgrade where "
                                      "the name has the token",
                                      CRASH, false},
    [QUARANTINE_SHORT] = {"quarantine-short", "R7: a master abstains for a tick less than a ttl",
                          CRASH, false},
    [RELEASED_BY_MODE] = {"released-by-mode",
                          "R8: a release takes away only what the mode stands for", BACKING, false},
    [BARGING] = {"barging", "R9: who asks first takes what it can have, whoever is enqueued", ORDER,
                 false},
    [WRITER_SKIPPED] = {"writer-skipped", "handing over to readers passes over writers", ORDER,
                        false},
    [DATED_FROM_ANSWER] = {"dated-from-answer",
                           "a promise is dated from the answer, not from its request", BACKING,
                           false},
    [DOWNGRADE_LATE] = {"downgrade-late",
                        "the mode changes when a quorum has answered that it has converted",
                        BACKING, false},
    [UPGRADED_BESIDE] = {"upgraded-beside", "an upgrade is let in beside other readers", BACKING,
                         false},
    [UPGRADED_ON_FEWER] = {"upgraded-on-fewer", "one master less than a quorum upgrades", EXCLUSION,
                           false},
    [UPGRADE_WHILE_CONVERTING] = {"upgrade-while-converting",
                                  "an upgrade asks where a converting request is unanswered, on "
                                  "the same connection",
                                  BACKING, true},
    [UPGRADE_AFTER_LOST_CONVERT] = {"upgrade-after-lost-convert",
                                    "an upgrade asks where a converting request was lost", BACKING,
                                    false},
    [RENEWAL_AFTER_LOST_CONVERT] = {"renewal-after-lost-convert",
                                    "who was upgraded renews where a converting request was lost",
                                    BACKING, false},
    [RENEWAL_AFTER_ROLLBACK] = {"renewal-after-rollback",
                                "who was upgraded renews as a writer on a master that abstains",
                                CRASH, false},
    [CONVERTS_WHILE_UPGRADING] = {"converts-while-upgrading",
                                  "a converting request goes out while the upgrade is under way",
                                  BACKING, false},
    [ROUNDS_MIXED] = {"rounds-mixed", "an upgrade counts answers of an earlier round", BACKING,
                      false},
    [SHARED_COUNTS_AS_ALONE] = {"shared-counts-as-alone",
                                "who was upgraded counts what it has as a reader", BACKING, false},
    [TICKET_OF_ONE] = {"ticket-of-one", "a ticket is what one master said", ORDER, false},
    [NO_YIELD] = {"no-yield", "a minority is kept though somebody is ahead", PROGRESS, false},
};

static void set_world(struct rules *rules, enum mutant mutant)
{
    switch (mutant) {
    case EXPIRED_READER_COUNTS:
        rules->clients = 3;
        rules->shorter = 1;
        rules->changes = 0;
        break;
    case READERS_OWN_TTL:
        rules->clients = 3;
        rules->shorter = 1;
        break;
    case MARKER_DELETED:
    case JOINED_IN_QUARANTINE:
        rules->clients = 3;
        break;
    case ROUNDS_MIXED:
        rules->changes = 3;
        break;
    case NO_YIELD:
        rules->masters = 2;
        break;
    default:
        break;
    }
}

struct rules rules_for(enum question question, enum mutant mutant)
{
    struct rules rules = worlds[question];
    rules.question = question;
    rules.mutant = mutant;
    set_world(&rules, mutant);
    return rules;
}
