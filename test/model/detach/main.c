/*
 * detach-model - every order of events among a few masters, a holder that detaches and an heir that
 * gives the token back, tried against the rules by which nothing heals it then, and against each of
 * them broken.
 */
#include <assert.h>

#include "world.h"

static const char usage[] =
    "usage: detach-model [OPTION]...\n"
    "  --ask QUESTION   given or taken (default: each)\n"
    "  --masters N      1 to 3\n"
    "  --renewals N     1 or 2 of the holder that a master may still carry out at once\n"
    "  --ttl N          1 to 4 ticks: the holder's, and the longest\n"
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

static struct model model_of(const void *rules)
{
    return (struct model){.name = "detach-model",
                          .rules = rules,
                          .words = MASTERS + 1,
                          .begin = detach_begin,
                          .steps = detach_steps,
                          .pack = detach_pack,
                          .unpack = detach_unpack,
                          .world_size = sizeof(struct world),
                          .is_wrong = is_wrong};
}

static const struct rules_number numbers[] = {
    {"--masters", offsetof(struct rules, masters), 1, MASTERS},
    {"--renewals", offsetof(struct rules, renewals), 1, RENEWALS},
    {"--ttl", offsetof(struct rules, ttl), 1, 4},
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
