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
static const struct change changes[] = {
    {FORMER_NOT_ENDED, {WITH(masters, 1), WITH(values, 2), WITH(kills, 0)}},
    {MASTER_TAKES_OLDER, {WITH(masters, 1), WITH(values, 2), WITH(kills, 0)}},
    {UNSAY_TOUCHES_EARLIER_TERM, {WITH(masters, 1), WITH(values, 2), WITH(ends, 2), WITH(late, 2)}},
    {UNSAY_TOUCHES_LATER_TERM, {WITH(kills, 0)}},
    {RENEWAL_PROLONGS, {WITH(handed, 1)}},
    {TERM_BACK, {WITH(looks, 1)}},
    {PUSH_FROM_OTHER_PROCESS, {WITH(masters, 2), WITH(late, 1)}},
    {KEPT_OVER_END, {WITH(masters, 2), WITH(late, 1)}},
    {NOT_ASKED_AGAIN, {WITH(masters, 2), WITH(subscribed, 0), WITH(restarts, 1), WITH(late, 0)}},
    {UNHEARD_BEFORE, {WITH(masters, 2), WITH(subscribed, 0), WITH(restarts, 1), WITH(late, 0)}},
    {OVERTAKEN_ANSWER, {WITH(masters, 2), WITH(late, 2)}},
    {OLDER_PUSH, {WITH(masters, 2), WITH(late, 2)}},
    {TAKEN_BACK_KEPT, {WITH(masters, 2), WITH(late, 2)}},
    {EXPIRED_KEPT, {WITH(masters, 2), WITH(late, 2)}},
};

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
