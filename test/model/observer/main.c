/*
 * observer-model - every order of events among a few masters, two terms of leaders and an
 * observer, tried against the rules by which leaders announce and observers are told, and
 * against each of them broken.
 */
#include <assert.h>

#include "world.h"

static const char usage[] =
    "usage: observer-model [OPTION]...\n"
    "  --ask QUESTION   told, crash, progress, handed or time (default: each)\n"
    "  --masters N      1 to 3\n"
    "  --values N       1 or 2 are announced in each term\n"
    "  --ends N         1 or 2 terms end\n"
    "  --handed N       1: the second term has the first one's token, 0: another\n"
    "  --kills N        1: a former connection is ended before a new one is used, 0: it is not\n"
    "  --subscribed N   1: pushes are heard from the start\n"
    "  --late N         0 to 6 messages are late\n"
    "  --breaks N       0 to 3 connections of the observer end\n"
    "  --looks N        0 to 3 questions that nothing has called for\n"
    "  --restarts N     0 to 3 masters restart\n"
    "  --most N         gives up after as many states\n"
    "  --mutant NAME    with this rule broken\n"
    "  --mutants        breaks one rule after the other\n"
    "  --list           says which there are\n"
    "  --quiet          tells no stories\n"
    "The status is 0 if nothing went wrong (--mutants: if each went wrong that should), 1 if not,\n"
    "64 for usage.\n";

static bool is_wrong(const void *step)
{
    return ((const struct step *)step)->wrong;
}

static bool is_honest(const void *step)
{
    return ((const struct step *)step)->honest;
}

static struct model model_of(const void *of)
{
    const struct rules *rules = of;
    return (struct model){.name = "observer-model",
                          .rules = rules,
                          .words = OBSERVED_WORDS,
                          .begin = observed_begin,
                          .steps = observed_steps,
                          .pack = observed_pack,
                          .unpack = observed_unpack,
                          .world_size = sizeof(struct world),
                          .is_wrong = is_wrong,
                          .is_honest = is_honest,
                          .is_goal = rules->question == PROGRESS ? observed_is_goal : NULL};
}

static const struct rules_number numbers[] = {
    {"--masters", offsetof(struct rules, masters), 1, MASTERS},
    {"--values", offsetof(struct rules, values), 1, VALUES},
    {"--ends", offsetof(struct rules, ends), 1, TERMS},
    {"--handed", offsetof(struct rules, handed), 0, 1},
    {"--kills", offsetof(struct rules, kills), 0, 1},
    {"--subscribed", offsetof(struct rules, subscribed), 0, 1},
    {"--late", offsetof(struct rules, late), 0, 6},
    {"--breaks", offsetof(struct rules, breaks), 0, 3},
    {"--looks", offsetof(struct rules, looks), 0, 3},
    {"--restarts", offsetof(struct rules, restarts), 0, MASTERS},
};

static void fill_rules(int question, int mutant, void *rules)
{
    *(struct rules *)rules = rules_for(question, mutant);
}

int main(int argc, char **argv)
{
    static const struct questions questions = {.usage = usage,
                                               .names = question_names,
                                               .count = QUESTIONS,
                                               .mutants = mutant_texts,
                                               .mutants_count = MUTANTS,
                                               .numbers = numbers,
                                               .numbers_count = sizeof numbers / sizeof *numbers,
                                               .rules_for = fill_rules,
                                               .model_of = model_of,
                                               .print_story = story_print};
    static_assert(sizeof(struct rules) <= RULES_SIZE, "room for the rules");
    static_assert(sizeof(struct world) <= MODEL_WORLD_SIZE, "room for a world");
    (void)argc;
    return questions_ask(&questions, argv);
}
