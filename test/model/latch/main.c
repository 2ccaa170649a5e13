/*
 * latch-model - every order of events among a few masters, and clients that make a latch, arrive
 * at it and read it, tried against the rules of latches and against each of them broken.
 */
#include <assert.h>

#include "world.h"

static const char usage[] =
    "usage: latch-model [OPTION]...\n"
    "  --ask QUESTION   opening, counting, gone, creation, stray, progress, spare, full, "
    "clearing or beside (default: each)\n"
    "  --masters N      1 to 5\n"
    "  --spare N        0 or 1 masters that may be wrong\n"
    "  --liars N        0 or 1 that says what it likes\n"
    "  --down N         0 or 1 that nobody reaches\n"
    "  --of N           1 to 3 arrivals open it\n"
    "  --creators N     0 to 3 (with 0 the latch is there)\n"
    "  --arrivers N     0 to 3\n"
    "  --readers N      0 to 3; 4 clients altogether\n"
    "  --any N          1: those who arrive and read do not know the id\n"
    "  --late N         0 to 6 requests are late, or their answers lost\n"
    "  --restarts N     0 to 3 masters restart\n"
    "  --quarantine N   1 to 4 ticks\n"
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

static bool has_goal(const struct rules *rules)
{
    return rules->question == PROGRESS || rules->question == FULL;
}

static struct model model_of(const void *of)
{
    const struct rules *rules = of;
    return (struct model){.name = "latch-model",
                          .rules = rules,
                          .words = 2 * rules->masters + 2,
                          .begin = latch_begin,
                          .steps = latch_steps,
                          .pack = latch_pack,
                          .unpack = latch_unpack,
                          .world_size = sizeof(struct world),
                          .is_wrong = is_wrong,
                          .is_honest = is_honest,
                          .is_goal = has_goal(rules) ? latch_is_goal : NULL};
}

static const struct rules_number numbers[] = {
    {"--masters", offsetof(struct rules, masters), 1, MASTERS},
    {"--spare", offsetof(struct rules, spare), 0, 1},
    {"--liars", offsetof(struct rules, liars), 0, 1},
    {"--down", offsetof(struct rules, down), 0, 1},
    {"--of", offsetof(struct rules, of), 1, 3},
    {"--creators", offsetof(struct rules, creators), 0, CREATORS},
    {"--arrivers", offsetof(struct rules, arrivers), 0, ARRIVERS},
    {"--readers", offsetof(struct rules, readers), 0, 3},
    {"--any", offsetof(struct rules, any), 0, 1},
    {"--late", offsetof(struct rules, late), 0, 6},
    {"--restarts", offsetof(struct rules, restarts), 0, 3},
    {"--quarantine", offsetof(struct rules, quarantine), 1, 4},
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
