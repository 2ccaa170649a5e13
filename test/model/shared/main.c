/*
 * shared-model - every order of events among a few masters and clients, tried against the
 * rules of shared and exclusive leases, and against each of them broken.
 */
#include <assert.h>

#include "../questions.h"
#include "story.h"
#include "world.h"

static const char usage[] =
    "usage: shared-model [OPTION]...\n"
    "  --ask QUESTION   backing, crash, exclusion, order or progress (default: each)\n"
    "  --masters N      1 to 3\n"
    "  --clients N      1 to 3\n"
    "  --ttl N          1 to 3 ticks; order and progress have no time\n"
    "  --shorter N      0 to 2: the second client's ttl is as much shorter\n"
    "  --restarts N     0 to 3 masters restart (not with a queue)\n"
    "  --late N         0 to 6 messages are late or lost, 7: any number\n"
    "  --changes N      0 to 6 downgrades and upgrades\n"
    "  --clocks N       2 to 14: no logical clock goes further (order)\n"
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
    return (struct model){.name = "shared-model",
                          .rules = rules,
                          .words = shared_words(rules),
                          .begin = shared_begin,
                          .steps = shared_steps,
                          .pack = shared_pack,
                          .unpack = shared_unpack,
                          .world_size = sizeof(struct world),
                          .is_wrong = is_wrong,
                          .is_honest = is_honest,
                          .is_goal = rules->question == PROGRESS ? shared_is_goal : NULL};
}

static const struct rules_number numbers[] = {
    {"--masters", offsetof(struct rules, masters), 1, MASTERS},
    {"--clients", offsetof(struct rules, clients), 1, CLIENTS},
    {"--ttl", offsetof(struct rules, ttl), 1, 3},
    {"--shorter", offsetof(struct rules, shorter), 0, 2},
    {"--restarts", offsetof(struct rules, restarts), 0, MASTERS},
    {"--late", offsetof(struct rules, late), 0, ANY_NUMBER},
    {"--changes", offsetof(struct rules, changes), 0, 6},
    {"--clocks", offsetof(struct rules, clocks), 2, HIGHEST_CLOCK - 1},
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
    (void)argc;
    return questions_ask(&questions, argv);
}
