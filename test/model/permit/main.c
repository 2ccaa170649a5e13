/*
 * permit-model - every order of events among a few masters, slots and clients, tried against
 * the rules by which clients get from one slot's line to another, and against each of them broken.
 */
#include <assert.h>

#include "world.h"

static const char usage[] =
    "usage: permit-model [OPTION]...\n"
    "  --ask QUESTION   exclusion, progress, rest or order (default: each)\n"
    "  --masters N      1 to 3\n"
    "  --slots N        1 to 3\n"
    "  --clients N      1 to 4\n"
    "  --down N         0 or 1 masters that nobody reaches\n"
    "  --style N        0: moves as first written, 1: to each slot once, 2: keeps the old place\n"
    "  --late N         0 to 6 messages are late or lost\n"
    "  --restarts N     0 to 3 masters restart without data\n"
    "  --crashes N      0 to 3 clients die\n"
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

static bool is_idle(const void *step)
{
    return ((const struct step *)step)->idle;
}

static struct model model_of(const void *of)
{
    const struct rules *rules = of;
    return (struct model){.name = "permit-model",
                          .rules = rules,
                          .words = 2 * MASTERS + 2,
                          .begin = permit_begin,
                          .steps = permit_steps,
                          .pack = permit_pack,
                          .unpack = permit_unpack,
                          .world_size = sizeof(struct world),
                          .is_wrong = is_wrong,
                          .is_honest = is_honest,
                          .is_idle = rules->question == REST ? is_idle : NULL,
                          .is_goal = rules->question == PROGRESS ? permit_is_goal : NULL};
}

static const struct rules_number numbers[] = {
    {"--masters", offsetof(struct rules, masters), 1, MASTERS},
    {"--slots", offsetof(struct rules, slots), 1, SLOTS},
    {"--clients", offsetof(struct rules, clients), 1, CLIENTS},
    {"--down", offsetof(struct rules, down), 0, 1},
    {"--style", offsetof(struct rules, style), AS_WRITTEN, BOTH},
    {"--late", offsetof(struct rules, late), 0, 6},
    {"--restarts", offsetof(struct rules, restarts), 0, MASTERS},
    {"--crashes", offsetof(struct rules, crashes), 0, CLIENTS},
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
