/*
 * The questions, with what is looked at for each, and the rules broken one at a time.
 */
#include "world.h"

const char *const question_names[QUESTIONS] = {[TOLD] = "told",
                                               [CRASH] = "crash",
                                               [PROGRESS] = "progress",
                                               [HANDED] = "handed",
                                               [TIME] = "time"};

static const struct rules worlds[QUESTIONS] = {
    [TOLD] = {.masters = 3, .values = 1, .ends = 1, .kills = 1, .subscribed = 1, .late = 1},
    [CRASH] = {.masters = 3, .values = 1, .ends = 1, .kills = 1, .subscribed = 1, .restarts = 1},
    [PROGRESS] = {.masters = 3, .values = 1, .ends = 1, .kills = 1, .subscribed = 1, .late = 1},
    [HANDED] =
        {.masters = 3, .values = 1, .ends = 1, .handed = 1, .kills = 1, .subscribed = 1, .late = 1},
    [TIME] = {.masters = 1, .values = 2, .ends = 2, .kills = 1, .late = 3, .ttl = 2},
};

const struct mutant_text mutant_texts[MUTANTS] = {
    [NONE] = {"none", "the rules as they are", QUESTIONS, false},
    [ANNOUNCE_UNOWNED] = {"announce-unowned",
                          "a master says what a token announces that does not have the name", TOLD,
                          false},
    [FORMER_NOT_ENDED] = {"former-not-ended",
                          "a new connection is used while the former one is not ended", TOLD,
                          false},
    [TAKES_OLDER] = {"master-takes-older", "an announcement replaces what is later", TOLD, false},
    [UNSAY_LATER] = {"unsay-touches-later-term", "a token takes back what it said in a later term",
                     HANDED, false},
    [UNSAY_EARLIER] = {"unsay-touches-earlier-term",
                       "a token takes back what it said in an earlier term", HANDED, true},
    [RENEWAL_PROLONGS] = {"renewal-prolongs", "a renewal prolongs what the token has said", TIME,
                          false},
    [ANNOUNCED_PAST] = {"announced-past", "a lease announces after its validity has ended", TIME,
                        false},
    [OBSERVE_MINORITY] = {"observe-minority", "what one master less than a quorum says is told",
                          TOLD, false},
    [TERM_BACK] = {"term-back", "what was said before what was told last is told", TOLD, false},
    [QUARANTINED_COUNTS] = {"quarantined-counts", "what a master says that abstains counts", CRASH,
                            false},
    [STALE_ANSWERS] = {"nobody-from-stale-answers",
                       "that nothing is said is concluded from what was asked before", TOLD, false},
    [NOTHING_OF_FEW] = {"nobody-of-few", "that nothing is said is concluded from any number", TOLD,
                        false},
    [PUSH_IS_ANSWER] = {"push-is-answer", "what a push says counts as a fresh answer", TOLD, false},
    [ANSWERED_BEFORE] = {"answered-before",
                         "a master that took something back is not waited for if it had answered",
                         TOLD, false},
    [UNKNOWN_AT_ONCE] = {"unknown-at-once", "that it is not known is told before all have answered",
                         TOLD, false},
    [OTHER_PROCESS] = {"push-from-other-process", "a push from any process counts", CRASH, true},
    [KEPT_OVER_END] = {"kept-over-end",
                       "what a master said is kept when its connection ends, until it is asked",
                       CRASH, true},
    [OVERTAKEN] = {"overtaken-answer", "an answer is taken that a push has overtaken", PROGRESS,
                   false},
    [OLDER_PUSH] = {"older-push", "a push counts though something later is known", PROGRESS, true},
    [TAKEN_BACK_KEPT] = {"taken-back-kept", "a push that takes something back is not heard",
                         PROGRESS, false},
    [NOT_ASKED_AGAIN] = {"not-asked-again", "a master that took something back is not asked",
                         PROGRESS, false},
    [UNHEARD_BEFORE] = {"unheard-before", "a master is not asked once it is subscribed", PROGRESS,
                        false},
    [EXPIRED_KEPT] = {"expired-kept", "what a master said is known for ever", PROGRESS, false},
};

/* Where the mutant is looked for. */
static void set_world(struct rules *rules, enum mutant mutant)
{
    switch (mutant) {
    case FORMER_NOT_ENDED:
    case TAKES_OLDER:
        rules->masters = 1;
        rules->values = 2;
        rules->kills = 0;
        break;
    case UNSAY_EARLIER:
        rules->masters = 1;
        rules->values = rules->ends = rules->late = 2;
        break;
    case UNSAY_LATER:
        rules->kills = 0;
        break;
    case RENEWAL_PROLONGS:
        rules->handed = 1;
        break;
    case TERM_BACK:
        rules->looks = 1;
        break;
    case OTHER_PROCESS:
    case KEPT_OVER_END:
        rules->masters = 2;
        rules->late = 1;
        break;
    case NOT_ASKED_AGAIN:
    case UNHEARD_BEFORE:
        rules->masters = 2;
        rules->subscribed = 0;
        rules->restarts = 1;
        rules->late = 0;
        break;
    case OVERTAKEN:
    case OLDER_PUSH:
    case TAKEN_BACK_KEPT:
    case EXPIRED_KEPT:
        rules->masters = 2;
        rules->late = 2;
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
