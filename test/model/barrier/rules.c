/*
 * The questions, with what is looked at for each, and the rules broken one at a time.
 */
#include "world.h"

const char *const question_names[QUESTIONS] = {
    [TOGETHER] = "together", [BARRED] = "barred",       [EXPIRY] = "expiry",
    [RESTARTS] = "restarts", [FORGOTTEN] = "forgotten", [PROGRESS] = "progress",
    [SLEEPER] = "sleeper",   [OTHERS] = "others"};

static const struct rules worlds[QUESTIONS] = {
    [TOGETHER] = {.parties = 3, .wanted = 2, .expiries = 1},
    [EXPIRY] = {.parties = 2, .wanted = 2, .lasts = 1, .ttl = 1, .deaths = 1},
    [BARRED] = {.parties = 2, .wanted = 2, .late = 1, .others = 2},
    [RESTARTS] = {.parties = 2,
                  .wanted = 2,
                  .lasts = 1,
                  .late = 0,
                  .restarts = 1,
                  .saves = 1,
                  .deaths = 1,
                  .returns = 1},
    [FORGOTTEN] = {.parties = 2, .wanted = 2, .lasts = 1, .ttl = 2, .late = 0, .kept = 5},
    [PROGRESS] = {.parties = 2, .wanted = 2, .lasts = 1, .ttl = 1, .late = 1},
    [SLEEPER] =
        {.parties = 2, .wanted = 2, .lasts = 1, .ttl = 1, .kept = 4, .deaths = 1, .returns = 1},
    [OTHERS] = {.parties = 2, .wanted = 2, .lasts = 1, .ttl = 1, .returns = 1, .others = 1},
};

const struct mutant_text mutant_texts[MUTANTS] = {
    [NONE] = {"none", "the rules as they are", QUESTIONS, false},
    [OPEN_ON_ONE] = {"open-on-one", "who is on one open master counts", TOGETHER, false},
    [OF_OTHERS] = {"of-others", "a quorum of open masters is enough, whomever they count", TOGETHER,
                   false},
    [EXPIRED_COUNTS] = {"expired-counts", "a party is counted though its ttl is over", EXPIRY,
                        false},
    [LEFT_UNASKED] = {"left-unasked", "who leaves has not passed, whatever masters say", TOGETHER,
                      false},
    [LEFT_BY_FEWER] = {"left-by-fewer", "one master less than a quorum is enough to have left",
                       TOGETHER, false},
    [OPEN_TAKES_OFF] = {"open-takes-off", "an open master takes off who leaves", TOGETHER, false},
    [GONE_WHEN_EXPIRED] = {"gone-when-expired",
                           "an open master says that who has expired is not there", TOGETHER,
                           false},
    [ARRIVES_BEHIND] = {"arrives-behind",
                        "what was sent on a former connection may be carried out later", TOGETHER,
                        false},
    [BARRED_WHILE_ASKING] = {"barred-while-asking",
                             "a master that was asked again since has barred who leaves", BARRED,
                             false},
    [OPEN_IGNORED] = {"not-passed-though-open",
                      "who was told that a master is open may not have passed", RESTARTS, false},
    [KEPT_FOR_EVER] = {"answers-kept-for-ever", "what a master said counts for ever", RESTARTS,
                       false},
    [QUARANTINE_SHORT] = {"quarantine-short", "a master abstains for a tick less", RESTARTS, false},
    [QUARANTINED_COUNTS] = {"quarantined-counts", "what a master that abstains says counts",
                            RESTARTS, false},
    [COMES_BACK_NOT_PASSED] = {"comes-back-not-passed", "who comes back may not have passed",
                               RESTARTS, false},
    [UNHEARD_WAITS_ON] = {"unheard-waits-on", "who has heard of no quorum for too long waits on",
                          RESTARTS, false},
    [OPEN_KEPT_SHORT] = {"open-kept-short", "an open barrier is forgotten two ticks early",
                         FORGOTTEN, false},
    [PASSED_NOT_STORED] = {"passed-not-stored", "a party passes before a quorum has stored that",
                           PROGRESS, false},
    [RECORD_NOT_KEPT] = {"record-not-kept", "that it was passed is forgotten with the barrier",
                         SLEEPER, false},
    [RECORD_WHEN_OPEN] = {"record-when-open", "a master that is open keeps that it was passed",
                          FORGOTTEN, false},
    [OVER_STAYS_OVER] = {"over-stays-over", "who was there is told that it is over", SLEEPER,
                         false},
    [OVER_OF_ANY] = {"over-of-any", "who was there passes, whatever number has passed", OTHERS,
                     false},
};

static void set_world(struct rules *rules, enum mutant mutant)
{
    switch (mutant) {
    case ARRIVES_BEHIND:
        rules->parties = 2;
        rules->late = 2;
        break;
    case QUARANTINE_SHORT:
        rules->abstain--;
        break;
    case OPEN_KEPT_SHORT:
        rules->kept = 3;
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
    rules.masters = 3;
    rules.abstain = 3;
    set_world(&rules, mutant);
    return rules;
}
