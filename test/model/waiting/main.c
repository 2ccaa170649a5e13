/*
 * waiting-model - every order of events among a few masters, waiters and a holder, tried
 * against the rules of waiting and handing over, and against each of them broken.
 */
#include <assert.h>

#include "../questions.h"
#include "story.h"
#include "world.h"

static const char usage[] =
    "usage: waiting-model [OPTION]...\n"
    "  --ask QUESTION   backing, exclusion, progress, order or fences (default: each)\n"
    "  --masters N      1 to 3\n"
    "  --waiters N      1 to 3\n"
    "  --life N         1 to 3 ticks that a place, and a grant to it, lasts\n"
    "  --ttl N          1 to 7 ticks, of the holder and of a quarantine\n"
    "  --restarts N     0 to 3 masters restart\n"
    "  --late N         0 to 6 messages are late or lost, 7: any number\n"
    "  --cuts N         0 to 6 links of waiters to masters are cut\n"
    "  --down N         0 to 3 masters that nobody reaches\n"
    "  --rounds 0|1     1: all masters are asked in one step, 0: one after the other\n"
    "  --clocks N       2 to 15: no logical clock goes further (order, fences)\n"
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
    return (struct model){.name = "waiting-model",
                          .rules = rules,
                          .words = waiting_words(rules),
                          .begin = waiting_begin,
                          .steps = waiting_steps,
                          .pack = waiting_pack,
                          .unpack = waiting_unpack,
                          .world_size = sizeof(struct world),
                          .is_wrong = is_wrong,
                          .is_honest = is_honest,
                          .is_goal = rules->question == PROGRESS ? waiting_is_goal : NULL};
}

static const struct rules_number numbers[] = {
    {"--masters", offsetof(struct rules, masters), 1, MASTERS},
    {"--waiters", offsetof(struct rules, waiters), 1, WAITERS},
    {"--life", offsetof(struct rules, life), 1, 3},
    {"--ttl", offsetof(struct rules, ttl), 1, 7},
    {"--restarts", offsetof(struct rules, restarts), 0, MASTERS},
    {"--late", offsetof(struct rules, late), 0, ANY_NUMBER},
    {"--cuts", offsetof(struct rules, cuts), 0, 6},
    {"--down", offsetof(struct rules, down), 0, MASTERS},
    {"--rounds", offsetof(struct rules, rounds), 0, 1},
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
