/*
 * The questions, with what is looked at for each, and the rules broken one at a time.
 */
#include "world.h"

const char *const question_names[QUESTIONS] = {[GIVEN] = "given", [TAKEN] = "taken"};

static const struct rules worlds[QUESTIONS] = {
    [GIVEN] = {.masters = 3, .renewals = 1, .ttl = 3},
    [TAKEN] = {.masters = 3, .renewals = 1, .ttl = 1},
};

const struct mutant_text mutant_texts[MUTANTS] = {
    [NONE] = {"none", "the rules as they are", QUESTIONS, false},
    [LEFT_UNWRITTEN] = {"left-unwritten", "a detach does not write what waits in the links", GIVEN,
                        false},
    [REPEATED_WHEN_LEFT] = {"repeated-when-left",
                            "a renewal that met a forgotten script is repeated after the detach",
                            GIVEN, false},
    [UNMARKED] = {"unmarked", "a release leaves no mark", GIVEN, false},
    [HEALS_MARKED] = {"heals-marked", "a renewal that heals does not look for the mark", GIVEN,
                      false},
    [MARKS_WHAT_IT_HAD] = {"marks-what-it-had",
                           "a release leaves no mark where it finds nothing to delete", GIVEN,
                           false},
    [MARK_OF_OWN_TTL] = {"mark-of-own-ttl", "the mark lasts for the ttl of the one that releases",
                         GIVEN, false},
    [MARK_WITHOUT_SLACK] = {"mark-without-slack", "the mark lasts for max_ttl, and no longer",
                            GIVEN, false},
    [LATE_HEALS] = {"late-heals", "a renewal heals however late it is", GIVEN, false},
    [RESTART_KEEPS_REQUESTS] = {"restart-keeps-requests",
                                "a request reaches the process behind the one that it was sent to",
                                GIVEN, false},
    [WALL_SET_BACK] = {"wall-set-back",
                       "a master's clock was set back, by a tick, since the holder connected",
                       GIVEN, false},
    [ABSENT_NOT_OWED] = {"absent-not-owed",
                         "a master that said it has nothing of the token is not asked to release",
                         TAKEN, false},
    [ABSENT_PAID] = {"absent-paid",
                     "a master that says so while its release is under way is owed no other", TAKEN,
                     false},
    [RELEASE_NOT_REPEATED] = {"release-not-repeated",
                              "a release that is lost, or met a forgotten script, is not repeated",
                              GIVEN, false},
};

struct rules rules_for(enum question question, enum mutant mutant)
{
    struct rules rules = worlds[question];
    rules.question = question;
    rules.mutant = mutant;
    return rules;
}
