/*
 * observer-model - every order of events among a few masters, two terms of leaders and an observer.
 * The rules of announcing and observing are tried, and each of them broken.
 *
 * Here are the questions, with the world that is looked at for each.
 */
#include "world.h"

static const struct rules worlds[QUESTIONS] = {
    [TOLD] = {.masters = 3, .values = 1, .ends = 1, .kills = 1, .subscribed = 1, .late = 1},
    [CRASH] = {.masters = 3, .values = 1, .ends = 1, .kills = 1, .subscribed = 1, .restarts = 1},
    [PROGRESS] = {.masters = 3, .values = 1, .ends = 1, .kills = 1, .subscribed = 1, .late = 1},
    [HANDED] =
        {.masters = 3, .values = 1, .ends = 1, .handed = 1, .kills = 1, .subscribed = 1, .late = 1},
    [TIME] = {.masters = 1, .values = 2, .ends = 2, .kills = 1, .late = 3, .ttl = 2},
};

/* Where the mutant is looked for. */
static void set_world(struct rules *rules, enum mutant mutant)
{
    switch (mutant) {
    case FORMER_NOT_ENDED:
    case MASTER_TAKES_OLDER:
        rules->masters = 1;
        rules->values = 2;
        rules->kills = 0;
        break;
    case UNSAY_TOUCHES_EARLIER_TERM:
        rules->masters = 1;
        rules->values = rules->ends = rules->late = 2;
        break;
    case UNSAY_TOUCHES_LATER_TERM:
        rules->kills = 0;
        break;
    case RENEWAL_PROLONGS:
        rules->handed = 1;
        break;
    case TERM_BACK:
        rules->looks = 1;
        break;
    case PUSH_FROM_OTHER_PROCESS:
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
    case OVERTAKEN_ANSWER:
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

static struct model model_of(const struct rules *rules)
{
    struct model model = MODEL(rules, rules->question == PROGRESS);
    model.stuck_words = "the observer does not hear what stands";
    return model;
}

static const struct rules_number numbers[] = {
    NUMBER(masters, 1, MASTERS, ""),
    NUMBER(values, 1, VALUES, " are announced in each term"),
    NUMBER(ends, 1, TERMS, " terms end"),
    NUMBER(handed, 0, 1, ": 1: the second term has the first one's token, 0: another"),
    NUMBER(kills, 0, 1, ": 1: a former connection is ended before a new one is used, 0: it is not"),
    NUMBER(subscribed, 0, 1, ": 1: pushes are heard from the start"),
    NUMBER(late, 0, 6, " messages are late"),
    NUMBER(breaks, 0, 3, " connections of the observer end"),
    NUMBER(looks, 0, 3, " questions that nothing has called for"),
    NUMBER(restarts, 0, MASTERS, " masters restart"),
};

MODEL_MAIN
