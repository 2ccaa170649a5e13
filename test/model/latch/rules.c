/*
 * The questions, with what is looked at for each, and the rules broken one at a time.
 */
#include "world.h"

const char *const question_names[QUESTIONS] = {
    [OPENING] = "opening",   [COUNTING] = "counting", [GONE] = "gone",   [CREATION] = "creation",
    [STRAY] = "stray",       [PROGRESS] = "progress", [SPARE] = "spare", [FULL] = "full",
    [CLEARING] = "clearing", [BESIDE] = "beside",
};

static const struct rules worlds[QUESTIONS] = {
    [OPENING] = {.masters = 3,
                 .of = 1,
                 .arrivers = 1,
                 .readers = 1,
                 .late = 1,
                 .restarts = 1,
                 .quarantine = 2},
    [COUNTING] = {.masters = 3, .of = 2, .arrivers = 2, .readers = 1, .quarantine = 2},
    [GONE] = {.masters = 3, .of = 1, .readers = 2, .restarts = 2, .quarantine = 2},
    [CREATION] = {.masters = 3, .of = 1, .creators = 2, .late = 1, .restarts = 1, .quarantine = 3},
    [STRAY] = {.masters = 3, .of = 1, .arrivers = 1, .readers = 1, .restarts = 1, .quarantine = 2},
    [PROGRESS] =
        {.masters = 3, .of = 1, .arrivers = 1, .readers = 1, .restarts = 1, .quarantine = 2},
    [SPARE] = {.masters = 5,
               .spare = 1,
               .liars = 1,
               .of = 1,
               .arrivers = 1,
               .readers = 1,
               .quarantine = 2},
    [FULL] = {.masters = 4,
              .spare = 1,
              .down = 1,
              .of = 1,
              .arrivers = 3,
              .readers = 1,
              .quarantine = 2},
    [CLEARING] = {.masters = 3, .of = 1, .creators = 3, .late = 1, .quarantine = 1},
    [BESIDE] = {.masters = 3, .of = 2, .creators = 2, .arrivers = 1, .readers = 1, .quarantine = 1},
};

const struct mutant_text mutant_texts[MUTANTS] = {
    [NONE] = {"none", "the rules as they are", QUESTIONS, false},
    [RECORD_OF_ANY_RUN] = {"record-of-any-run", "a record of a former process counts", OPENING,
                           false},
    [NO_RECORD_COUNTS_EMPTY] = {"no-record-counts-empty",
                                "a master without a record says that nobody has arrived", OPENING,
                                false},
    [QUARANTINED_COUNTS] = {"quarantined-counts", "a master that abstains counts, and is mended",
                            OPENING, false},
    [OPEN_UNSTORED] = {"open-unstored", "open is told before it is stored", OPENING, false},
    [OPEN_ON_ONE] = {"open-on-one", "open is told when one master knows it", OPENING, false},
    [ARRIVED_ON_FEWER] = {"arrived-on-fewer", "one master less than a quorum counts an arrival",
                          OPENING, false},
    [SHUT_ON_FEWER] = {"shut-on-fewer", "one master less than a quorum is read", OPENING, false},
    [ACKS_FOR_EVER] = {"acks-for-ever", "what a master has stored counts without limit", OPENING,
                       false},
    [MENDED_FROM_FEWER] = {"mended-from-fewer", "one master less than a quorum is read to mend",
                           OPENING, false},
    [MENDED_IN_QUARANTINE] = {"mended-in-quarantine", "a master that abstains is mended", OPENING,
                              false},
    [READS_NOT_AGAIN] = {"reads-not-again",
                         "a master is mended by what was read before it said that it has none",
                         OPENING, false},
    [MEND_REPLACES] = {"mend-replaces", "mending takes away what is there", STRAY, false},
    [MEND_UNNAMED] = {"mend-unnamed", "a mend is for any process", STRAY, false},
    [MENDED_UNOPENED] = {"mended-unopened", "a mend does not say that it is open", OPENING, false},
    [NEVER_MENDED] = {"never-mended", "nobody mends", PROGRESS, false},
    [GONE_TOLD_ONCE] = {"gone-told-once", "gone is told when each has said once that it has none",
                        GONE, false},
    [GONE_BY_FEWER] = {"gone-by-fewer", "gone is told though one more may have it", GONE, false},
    [GONE_OF_OTHERS] =
        {"gone-of-others",
         "of those that say again that they have none, some say so for the first time", GONE,
         false},
    [CREATE_UNNAMED] = {"create-unnamed", "a creation is for any process", STRAY, false},
    [MADE_FOR_YOUNGER] = {"made-for-younger", "a younger process is asked to make it", CREATION,
                          true},
    [MADE_FOR_EVER] = {"made-for-ever", "making has no end", CREATION, false},
    [MADE_ON_FEWER] = {"made-on-fewer", "one master less than a quorum makes a latch", CREATION,
                       false},
    [DROPPED_ANYHOW] = {"dropped-anyhow", "a latch is dropped at which somebody has arrived", STRAY,
                        false},
    [OPENED_BY_A_LIAR] = {"opened-by-a-liar", "one master's word opens", SPARE, false},
    [MENDS_LIES] = {"mends-lies", "one master's word is put on others", SPARE, false},
    [FULL_OF_OTHERS] = {"full-of-others",
                        "a master that has enough others does not speak for an arrival", FULL,
                        false},
    [CLEARS_YOUNG] = {"clears-young",
                      "a latch that others left is taken away however short it has been there",
                      CLEARING, false},
    [CLEARS_WHAT_GREW] = {"clears-what-grew",
                          "the master alone looks at how long it has been there", CLEARING, false},
    [CLEARS_SOON] = {"clears-soon", "it is taken away as soon as its maker has given up", CLEARING,
                     false},
    [CLEARS_LATE] = {"clears-late", "who should have given up takes away what others left",
                     CLEARING, false},
    [CLEARS_BESIDE_UNUSED] = {"clears-beside-unused",
                              "what is young is taken away though nobody has arrived at the other",
                              BESIDE, false},
    [CLEARS_BESIDE_FEWER] = {"clears-beside-fewer",
                             "what is young is taken away by less than a quorum of arrivals",
                             BESIDE, false},
};

/* The smallest world in which it goes wrong. */
static void set_world(struct rules *rules, enum mutant mutant)
{
    switch (mutant) {
    case QUARANTINED_COUNTS:
    case ACKS_FOR_EVER:
    case MENDED_FROM_FEWER:
    case MENDED_IN_QUARANTINE:
    case READS_NOT_AGAIN:
    case MENDED_UNOPENED:
        rules->late = 0;
        break;
    case CLEARS_SOON:
        rules->late = 0;
        rules->quarantine = 2;
        break;
    case CREATE_UNNAMED:
        rules->creators = 1;
        break;
    case DROPPED_ANYHOW:
        rules->creators = 1;
        rules->restarts = 0;
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
