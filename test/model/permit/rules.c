/*
 * The questions, with what is looked at for each, and the rules broken one at a time.
 */
#include "world.h"

const char *const question_names[QUESTIONS] = {
    [EXCLUSION] = "exclusion", [PROGRESS] = "progress", [REST] = "rest", [ORDER] = "order"};

static const struct rules worlds[QUESTIONS] = {
    [EXCLUSION] = {.masters = 3, .slots = 2, .clients = 3, .style = BOTH, .late = 1, .restarts = 1},
    [PROGRESS] = {.masters = 3, .slots = 2, .clients = 3, .down = 1, .style = BOTH, .late = 2},
    [REST] = {.masters = 3, .slots = 2, .clients = 3, .down = 1, .style = BOTH, .late = 2},
    [ORDER] = {.masters = 3, .slots = 2, .clients = 3, .style = BOTH},
};

const struct mutant_text mutant_texts[MUTANTS] = {
    [NONE] = {"none", "the rules as they are", QUESTIONS, false},
    [SLOT_HINT_COUNTS] = {"slot-hint-counts", "a hint is taken for a grant", EXCLUSION, false},
    [ANOTHER_SLOT_COUNTS] = {"another-slot-counts", "grants of any slot count together", EXCLUSION,
                             false},
    [MINORITY_COUNTS] = {"minority-counts", "one master less than a quorum is enough", EXCLUSION,
                         false},
    [REBIND_SAME_TOKEN] = {"rebind-same-token", "who moves goes on with the same token", EXCLUSION,
                           false},
    [QUARANTINE_IGNORED] = {"quarantine-ignored", "a grant of a master that abstains counts",
                            EXCLUSION, false},
    [KEEPS_BOTH] = {"keeps-both", "who has a slot gives nothing else back", EXCLUSION, false},
    [FREE_NOT_TOLD] = {"free-not-told", "a refresh does not tell of free slots", PROGRESS, false},
    [OLD_PLACE_KEPT] = {"old-place-kept", "who got a slot stays in the other lines", EXCLUSION,
                        false},
    [NO_YIELD] = {"no-yield", "a minority is kept though somebody is ahead", PROGRESS, false},
    [REBIND_BACK] = {"rebind-back", "who moved may move back", REST, false},
    [FREE_ON_ONE] = {"free-on-one", "a slot that one master says is free is moved to", REST, false},
    [REBIND_WHILE_GRANTED] = {"rebind-while-granted", "who has a minority moves", REST, false},
    [HINT_TRIES] = {"hint-tries", "who follows a hint tries, and does not stand there", ORDER,
                    false},
    [REBIND_NEW_TICKET] = {"rebind-new-ticket", "who moves draws a new ticket", REST, false},
    [ONE_PLACE] = {"one-place", "who moves gives up its old place", ORDER, false},
    [REGISTRY_PASSED] = {"registry-passed", "a try looks at the slot's own line only", ORDER,
                         false},
    [HINT_LEAVES_EARLY] = {"hint-leaves-early", "who follows a hint leaves its line at once", ORDER,
                           false},
    [ENQUEUED_PASSES] = {"enqueued-passes",
                         "a new place gets a free slot though somebody older waits elsewhere",
                         ORDER, false},
};

static void set_world(struct rules *rules, enum mutant mutant)
{
    switch (mutant) {
    case QUARANTINE_IGNORED:
    case KEEPS_BOTH:
        rules->clients = 2;
        break;
    case REBIND_SAME_TOKEN:
        rules->late = 3;
        rules->restarts = 0;
        break;
    case REBIND_BACK:
        rules->style = ONCE;
        break;
    case FREE_ON_ONE:
    case REBIND_WHILE_GRANTED:
    case REBIND_NEW_TICKET:
        rules->style = ONCE;
        rules->down = 0;
        rules->late = rules->restarts = 1;
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
